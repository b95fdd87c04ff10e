//! The lock as a word: three states, and everything that ever happens to them. No data, no waiting.
//!
//! |                | `FREE` (0)             | `LOCKED` (1)               | `CONTENDED` (2)                   |
//! |----------------|------------------------|----------------------------|-----------------------------------|
//! | means          | nobody holds it        | held                       | held, and somebody may be in line |
//! | `take`         | → `LOCKED`: taken      | –                          | –                                 |
//! | `take_or_mark` | → `CONTENDED`: taken   | → `CONTENDED`: get in line | get in line                       |
//! | `release`      | error                  | → `FREE`                   | → `FREE`, call the first in line  |
//! | `forward`      | call the first in line | → `CONTENDED`              | –                                 |
//!
//! So a release that nobody waits for is one exchange, and touches no queue.
//!
//! Whoever has once failed takes the lock as `CONTENDED`, not as `LOCKED`: it cannot know whether others wait behind
//! it. At worst that costs one notify that finds nobody; `LOCKED` would cost somebody their wake.
//!
//! A zeroed word is a free lock. A script that keeps to the same table shares it. A word with any other value in it
//! counts as `CONTENDED`, and becomes that when somebody gets in line.

use waitword_core::{Location, notify_one};

use crate::acquire::{Acquire, Attempt};
use crate::error::NotLocked;
use crate::stall_timeout::Patience;
use crate::sync::atomic::{AtomicI32, Ordering};

/// Nobody holds it.
pub(crate) const FREE: i32 = 0;
/// Held, and nobody waits.
pub(crate) const LOCKED: i32 = 1;
/// Held, and somebody may wait.
pub(crate) const CONTENDED: i32 = 2;

/// A named state word, here or elsewhere.
pub(crate) struct RawLock<L> {
    at: L,
}

impl<L> RawLock<L> {
    pub(crate) const fn on(at: L) -> Self {
        Self { at }
    }
}

impl<L: Location<Word = AtomicI32>> RawLock<L> {
    #[inline]
    pub(crate) fn state(&self) -> i32 {
        self.at.word().load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn release(&self) -> Result<(), NotLocked> {
        match self.at.word().swap(FREE, Ordering::Release) {
            FREE => Err(NotLocked),
            LOCKED => Ok(()),
            _ => {
                self.offer();
                Ok(())
            }
        }
    }

    /// Calls the first in line. The lock stays free until somebody takes it.
    #[cold]
    fn offer(&self) {
        notify_one(&self.at);
    }
}

impl<L: Location<Word = AtomicI32>> Acquire for RawLock<L> {
    type At = L;
    type Ask = ();
    type End = ();
    // Scripts share the word and the line, and their waits cannot be called.
    type Looks = Patience;

    const TAKEN: () = ();

    fn at(&self, (): ()) -> &L {
        &self.at
    }

    #[inline]
    fn take(&self, (): ()) -> bool {
        self.at.word().compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn take_signalled(&self, (): ()) -> bool {
        self.take_or_mark((), Attempt::Queued).is_ok()
    }

    /// Whoever spins here keeps those from the lock who were called and have lost their place.
    fn spin(&self, (): (), _attempt: Attempt) -> bool {
        false
    }

    fn take_or_mark(&self, (): (), _attempt: Attempt) -> Result<(), i32> {
        match self.at.word().swap(CONTENDED, Ordering::Acquire) {
            FREE => Ok(()),
            _ => Err(CONTENDED),
        }
    }

    fn give_back(&self, (): ()) {
        // It is held, whatever a script may have written there since.
        let _ = self.release();
    }

    fn forward(&self, (): (), was_signalled: bool) {
        if !was_signalled {
            return;
        }
        // Relaxed: nothing is protected by this, and a value that is out of date does no harm. `FREE` was there when
        // we were called; if somebody barged in since, whoever is called now marks the word. And a `CONTENDED` that
        // came after we were called belongs to a holder who calls somebody as well.
        match self.at.word().compare_exchange(LOCKED, CONTENDED, Ordering::Relaxed, Ordering::Relaxed) {
            // Whoever barged in will now call the next, who keeps its place until then.
            Ok(_) => {}
            Err(FREE) => self.offer(),
            // The holder will do it anyway.
            Err(_) => {}
        }
    }
}
