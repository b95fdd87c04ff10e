//! The lock as a word: three states, and all their transitions. No data, no waiting.
//!
//! |                | `FREE` (0)             | `LOCKED` (1)               | `CONTENDED` (2)                   |
//! |----------------|------------------------|----------------------------|-----------------------------------|
//! | means          | not held               | held                       | held, and there may be waiters    |
//! | `take`         | → `LOCKED`: taken      | –                          | –                                 |
//! | `take_or_mark` | → `CONTENDED`: taken   | → `CONTENDED`: enqueue     | enqueue                           |
//! | `release`      | error                  | → `FREE`                   | → `FREE`, wake the head waiter    |
//! | `left`, woken  | wake the head waiter   | → `CONTENDED`              | –                                 |
//!
//! So a release without waiters is one exchange, and touches no queue.
//!
//! An acquirer that has failed once takes the lock as `CONTENDED`, not as `LOCKED`: it cannot know whether there are waiters
//! behind it. At worst that costs one notify that finds none; `LOCKED` would lose the wakeup of a waiter.
//!
//! A zeroed word is a free lock. A script that follows the same table can share the word. A word with any other value
//! counts as `CONTENDED`, and becomes that when a waiter enqueues.

use std::convert::Infallible;

use waitword_core::observe::WaitsFor;
use waitword_core::{Location, charge_release, notify_one};

use crate::acquire::{Acquire, Attempt, Behind, Left, NotTaken, TakenOrMarked};
use crate::error::NotLocked;
use crate::handle::{Handle, Waited};
use crate::holders::{Hold, not_kept, released};
use crate::spins::Pauses;
use crate::stall_timeout::StallTimeout;
use crate::sync::atomic::{AtomicI32, Ordering};

/// Not held.
pub(crate) const FREE: i32 = 0;
/// Held, without waiters.
pub(crate) const LOCKED: i32 = 1;
/// Held, and there may be waiters.
pub(crate) const CONTENDED: i32 = 2;

/// The state word, inline or elsewhere.
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
        released(self.held_at(), Hold::AsyncLock, not_kept());
        match self.at.word().swap(FREE, Ordering::Release) {
            FREE => Err(NotLocked),
            LOCKED => Ok(()),
            _ => {
                charge_release(&self.at, std::ptr::from_ref(self.at.word()).addr());
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

impl<L: Location<Word = AtomicI32>> Waited for RawLock<L> {
    type At = L;
    type Ask = ();

    fn at(&self, (): ()) -> &L {
        &self.at
    }
}

impl<L: Location<Word = AtomicI32>> Acquire for RawLock<L> {
    type Closed = Infallible;

    fn waits_for((): ()) -> WaitsFor {
        WaitsFor::AsyncLock
    }

    /// Scripts release the lock, too, and erase no record, so reports say "acquired by". The next acquisition by Rust erases a stale
    /// record.
    fn hold((): ()) -> Option<Hold> {
        Some(Hold::AsyncLock)
    }

    fn held_at(&self) -> usize {
        std::ptr::from_ref(self.at.word()).addr()
    }

    #[inline]
    fn take_once(&self, (): ()) -> bool {
        self.at.word().compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn take_signalled(&self, (): ()) -> bool {
        self.take_or_mark((), Attempt::Queued).is_ok()
    }

    /// A spinning thread would keep the lock from woken waiters, which have lost their position.
    fn spin(&self, (): (), _attempt: Attempt, _pauses: &mut Pauses) -> bool {
        false
    }

    fn take_or_mark(&self, (): (), _attempt: Attempt) -> TakenOrMarked<Self> {
        match self.at.word().swap(CONTENDED, Ordering::Acquire) {
            FREE => Ok(()),
            _ => Err(NotTaken::Marked { value: CONTENDED, behind: Behind::Wait }),
        }
    }

    /// Never: the lock is free or held.
    fn is_reserved(&self, (): ()) -> bool {
        false
    }

    fn give_back(&self, (): ()) {
        // The lock is held, whatever a script may have written to the word since.
        let _ = self.release();
    }

    fn left(&self, (): (), left: Left) {
        // A holder that came from the queue wakes the next waiter when it releases.
        if left.holds || !left.was_signalled {
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

/// How an acquirer reaches the lock. Scripts share the word and the queue, and their waits cannot be signalled, so the core's
/// watchdog does not help against an unresponsive waiter: each waiter rechecks on its own.
pub(crate) struct Rechecking<'a, L> {
    raw: &'a RawLock<L>,
    rechecks: StallTimeout,
}

impl<'a, L> Rechecking<'a, L> {
    pub(crate) fn new(raw: &'a RawLock<L>) -> Self {
        Self { raw, rechecks: StallTimeout::new() }
    }
}

impl<'a, L: Location<Word = AtomicI32>> Handle for Rechecking<'a, L> {
    type Raw = RawLock<L>;
    type At = &'a L;

    fn raw(&self) -> &RawLock<L> {
        self.raw
    }

    fn at(&self, (): ()) -> &'a L {
        &self.raw.at
    }

    fn rechecks(&mut self) -> Option<&mut StallTimeout> {
        Some(&mut self.rechecks)
    }
}
