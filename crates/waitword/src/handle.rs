//! How a wait reaches its word: borrowed, or through an `Arc` of its own.
//!
//! A waiter is queued under the address of a word, so the word has to stay where it is until the waiter is dequeued. A borrow
//! ensures that, and so does an `Arc` that the wait holds. One loop serves both.

use std::sync::Arc;

use waitword_core::{Location, Table};

use crate::stall_timeout::StallTimeout;

/// The raw part of a lock or of a condition: one or more state words.
pub(crate) trait Waited {
    /// Where waiters are queued.
    type At: Location;

    /// What a waiter asks for: a mode, or a number of permits; `()` where there is no choice.
    type Ask: Copy;

    /// See [`Waited::At`]. Returns the same location for equal asks.
    fn at(&self, ask: Self::Ask) -> &Self::At;

    /// The number of queued waiters.
    fn waiters(&self, ask: Self::Ask) -> usize {
        let at = self.at(ask);
        at.table().waiters(at.word())
    }
}

/// A way to reach a raw part.
pub(crate) trait Handle {
    /// What is reached.
    type Raw: Waited;

    /// Where a waiter is queued. The location keeps its word in place.
    type At: Location<Word = WordOf<Self::Raw>>;

    fn raw(&self) -> &Self::Raw;

    fn at(&self, ask: Ask<Self>) -> Self::At;

    /// For reports: an acquirer is about to enqueue. Says what the lock is, where the handle knows its type.
    fn will_wait(&self) {}

    /// When a queued acquirer rechecks without a signal. `None`: never, because the core's watchdog signals it.
    fn rechecks(&mut self) -> Option<&mut StallTimeout> {
        None
    }
}

type WordOf<R> = <<R as Waited>::At as Location>::Word;

/// See [`Waited::Ask`].
pub(crate) type Ask<H> = <<H as Handle>::Raw as Waited>::Ask;

impl<'a, R: Waited> Handle for &'a R {
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
        OwnedAt::new(self, ask)
    }

    fn will_wait(&self) {
        L::will_wait(self);
    }
}

/// The object that users share, with its raw part.
///
/// # Safety
/// 1. For as long as the object stays where it is, `raw` returns the same reference, and [`Waited::at`] of that reference
///    returns the same location for the same ask. Neither panics.
pub(crate) unsafe trait HasRaw {
    type Raw: Waited;

    fn raw(&self) -> &Self::Raw;

    /// For reports: the caller is about to wait. Says what the object is, where its kind does not say everything.
    #[inline(always)]
    fn will_wait(&self) {}
}

/// Where a waiter is queued that has a share in the object it waits on.
pub(crate) struct OwnedAt<L: HasRaw + ?Sized> {
    shared: Arc<L>,
    ask: <L::Raw as Waited>::Ask,
}

impl<L: HasRaw + ?Sized> OwnedAt<L> {
    pub(crate) fn new(shared: &Arc<L>, ask: <L::Raw as Waited>::Ask) -> Self {
        Self { shared: Arc::clone(shared), ask }
    }
}

impl<L: HasRaw + ?Sized> Clone for OwnedAt<L> {
    fn clone(&self) -> Self {
        Self::new(&self.shared, self.ask)
    }
}

// SAFETY: the contents of an `Arc` stay where they are while the `Arc` lives. So both methods return the same while `self` lives:
// the location is the same by invariant 1 of `HasRaw`, and that location returns the same by its own contract as a `Location`.
unsafe impl<L: HasRaw + ?Sized> Location for OwnedAt<L> {
    type Word = WordOf<L::Raw>;

    fn word(&self) -> &Self::Word {
        self.shared.raw().at(self.ask).word()
    }

    fn table(&self) -> &Table {
        self.shared.raw().at(self.ask).table()
    }
}

/// [`HasRaw`] of a type whose field `raw` is its raw part.
macro_rules! has_raw {
    ($Shared:ty, $Raw:ty) => {
        #[allow(unsafe_code)]
        const _: () = {
            // SAFETY: it is a field, and the words are fields of that. Nothing panics (invariant 1 of `HasRaw`).
            unsafe impl $crate::handle::HasRaw for $Shared {
                type Raw = $Raw;

                #[inline]
                fn raw(&self) -> &$Raw {
                    &self.raw
                }
            }
        };
    };
}

pub(crate) use has_raw;
