//! How a future reaches what it acquires: borrowed, or through an `Arc` of its own.
//!
//! A waiter is queued under the address of a word, so the word has to stay where it is until the waiter has left the queue. A
//! borrow ensures that, and so does an `Arc` that the wait holds. One loop serves both.

use std::sync::Arc;

use waitword_core::observe::{LockType, note_lock_type};
use waitword_core::{Location, Table};

use crate::acquire::raw::Acquire;
use crate::stall_timeout::StallTimeout;

/// A way to reach something that can be acquired.
pub(crate) trait Handle {
    /// What is acquired.
    type Raw: Acquire;

    /// Where waiters are queued. The location keeps its word in place.
    type At: Location<Word = WordOf<Self::Raw>>;

    fn raw(&self) -> &Self::Raw;

    fn at(&self, ask: Ask<Self>) -> Self::At;

    /// For reports: the acquirer is about to enqueue. Says what the lock is, where the handle knows its type.
    fn will_wait(&self) {}

    /// When a queued waiter rechecks without a signal. `None`: never, because the core's watchdog signals it.
    fn rechecks(&mut self) -> Option<&mut StallTimeout> {
        None
    }
}

type WordOf<R> = <<R as Acquire>::At as Location>::Word;

/// See [`Acquire::Ask`].
pub(crate) type Ask<H> = <<H as Handle>::Raw as Acquire>::Ask;

/// See [`Acquire::Closed`].
pub(super) type Closed<H> = <<H as Handle>::Raw as Acquire>::Closed;

/// How an acquisition without a deadline ends.
pub(crate) type Acquired<H> = Result<H, Closed<H>>;

impl<'a, R: Acquire> Handle for &'a R {
    type Raw = R;
    type At = &'a R::At;

    #[inline]
    fn raw(&self) -> &R {
        self
    }

    fn at(&self, ask: R::Ask) -> &'a R::At {
        R::at(self, ask)
    }
}

impl<L: HasRaw + ?Sized> Handle for Arc<L> {
    type Raw = L::Raw;
    type At = OwnedAt<L>;

    #[inline]
    fn raw(&self) -> &L::Raw {
        L::raw(self)
    }

    fn at(&self, ask: Ask<Self>) -> OwnedAt<L> {
        OwnedAt { lock: Arc::clone(self), ask }
    }

    fn will_wait(&self) {
        waits_for(&**self);
    }
}

/// A lock with its raw part.
///
/// # Safety
/// 1. For as long as the lock stays where it is, `raw` returns the same reference, and [`Acquire::at`] of that reference
///    returns the same location for the same ask. Neither panics.
pub(crate) unsafe trait HasRaw {
    type Raw: Acquire;

    /// For reports. `None`: the kind of the lock says all.
    const TYPE: Option<&'static LockType>;

    fn raw(&self) -> &Self::Raw;
}

/// For reports: the caller is about to wait for the lock. Of the type nothing is left without the feature `observe`.
#[inline(always)]
pub(crate) fn waits_for<L: HasRaw + ?Sized>(lock: &L) {
    if let Some(lock_type) = L::TYPE {
        note_lock_type(lock.raw().held_at(), lock_type);
    }
}

/// Where the waiters of a lock are queued, with a share in the lock.
pub(crate) struct OwnedAt<L: HasRaw + ?Sized> {
    lock: Arc<L>,
    ask: <L::Raw as Acquire>::Ask,
}

// SAFETY: the contents of an `Arc` stay where they are while the `Arc` lives. So both methods return the same while `self` lives:
// the location is the same by invariant 1 of `HasRaw`, and that location returns the same by its own contract as a `Location`.
unsafe impl<L: HasRaw + ?Sized> Location for OwnedAt<L> {
    type Word = WordOf<L::Raw>;

    fn word(&self) -> &Self::Word {
        self.lock.raw().at(self.ask).word()
    }

    fn table(&self) -> &Table {
        self.lock.raw().at(self.ask).table()
    }
}
