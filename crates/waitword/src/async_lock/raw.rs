//! The lock as a word: three states, and all their transitions. No data, no waiting.
//!
//! |                | `FREE` (0)             | `LOCKED` (1)               | `CONTENDED` (2)                   |
//! |----------------|------------------------|----------------------------|-----------------------------------|
//! | means          | not held               | held                       | held, and there may be waiters    |
//! | `take`         | → `LOCKED`: taken      | –                          | –                                 |
//! | `take_or_mark` | → `CONTENDED`: taken   | → `CONTENDED`: enqueue     | enqueue                           |
//! | `release`      | error                  | → `FREE`                   | → `FREE`, wake the head waiter    |
//! | `forward`      | wake the head waiter   | → `CONTENDED`              | –                                 |
//!
//! So a release without waiters is one exchange, and touches no queue.
//!
//! An acquirer that has failed once takes the lock as `CONTENDED`, not as `LOCKED`: it cannot know whether there are waiters
//! behind it. At worst that costs one notify that finds none; `LOCKED` would lose the wakeup of a waiter.
//!
//! A zeroed word is a free lock. A script that follows the same table can share the word. A word with any other value
//! counts as `CONTENDED`, and becomes that when a waiter enqueues.

use waitword_core::{Location, notify_one};

use crate::acquire::{Acquire, Attempt};
use crate::error::NotLocked;
use crate::stall_timeout::StallTimeout;
use crate::sync::atomic::{AtomicI32, Ordering};

/// Not held.
pub(crate) const FREE: i32 = 0;
/// Held, without waiters.
pub(crate) const LOCKED: i32 = 1;
/// Held, and there may be waiters.
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

    /// Wakes the head waiter. The lock stays free until an acquirer takes it.
    #[cold]
    fn offer(&self) {
        notify_one(&self.at);
    }
}

impl<L: Location<Word = AtomicI32>> Acquire for RawLock<L> {
    type At = L;
    type Ask = ();
    type End = ();
    // Scripts share the word and the queue, and their waits cannot be signalled.
    type Rechecks = StallTimeout;

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

    /// A spinning thread would keep the lock from woken waiters, which have lost their position.
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
        // The lock is held, whatever a script may have written to the word since.
        let _ = self.release();
    }

    fn forward(&self, (): (), was_signalled: bool) {
        if !was_signalled {
            return;
        }
        // Relaxed: this protects nothing, and an outdated value does no harm. The word was `FREE` when this waiter was
        // woken; if an acquirer barged since, the next woken waiter marks the word. And a `CONTENDED` that came after the
        // wakeup belongs to a holder that wakes a waiter as well.
        match self.at.word().compare_exchange(LOCKED, CONTENDED, Ordering::Relaxed, Ordering::Relaxed) {
            // The barging holder now wakes the next waiter at its release. That waiter keeps its position until then.
            Ok(_) => {}
            Err(FREE) => self.offer(),
            // The holder wakes a waiter anyway.
            Err(_) => {}
        }
    }
}
