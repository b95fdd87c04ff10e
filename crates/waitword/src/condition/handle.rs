//! How a wait reaches its word: by a borrow, or through an `Arc` of its own.
//!
//! A waiter is queued under the address of a word, so the word has to stay where it is until the waiter is dequeued. A borrow
//! ensures that, and so does an `Arc` that the wait holds itself. One loop serves both.

use std::sync::Arc;

use waitword_core::{Location, Table};

/// A state word to wait on.
pub(crate) trait Waited {
    /// See [`Waited::at`].
    type At: Location;

    /// Where its waiters are queued.
    fn at(&self) -> &Self::At;
}

/// A way to reach a raw part.
pub(crate) trait Handle: Clone {
    /// What is reached.
    type Raw: Waited;

    /// The location where a waiter is queued; keeps it in place.
    type At: Location<Word = WordOf<Self::Raw>>;

    fn raw(&self) -> &Self::Raw;

    fn at(&self) -> Self::At;
}

type WordOf<R> = <<R as Waited>::At as Location>::Word;

impl<'a, R: Waited> Handle for &'a R {
    type Raw = R;
    type At = &'a R::At;

    fn raw(&self) -> &R {
        self
    }

    fn at(&self) -> &'a R::At {
        R::at(self)
    }
}

impl<T: HasRaw> Handle for Arc<T> {
    type Raw = T::Raw;
    type At = OwnedAt<T>;

    fn raw(&self) -> &T::Raw {
        T::raw(self)
    }

    fn at(&self) -> OwnedAt<T> {
        OwnedAt::new(self)
    }
}

/// The object that users share, with its raw part.
///
/// # Safety
/// 1. For as long as it stays where it is, `raw` returns the same reference, and [`Waited::at`] of that does, too; neither
///    panics.
pub(crate) unsafe trait HasRaw {
    type Raw: Waited;

    fn raw(&self) -> &Self::Raw;
}

/// The location of a waiter that has a share in the object it waits on.
pub(crate) struct OwnedAt<T>(Arc<T>);

impl<T> OwnedAt<T> {
    pub(crate) fn new(waited: &Arc<T>) -> Self {
        Self(Arc::clone(waited))
    }
}

impl<T> Clone for OwnedAt<T> {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

// SAFETY: the content of an `Arc` stays where it is as long as the `Arc` lives, so `raw` and `at` return the same as long as
// `self` lives (invariant 1 of `HasRaw`). That the location itself does is the contract of its own `Location`.
unsafe impl<T: HasRaw> Location for OwnedAt<T> {
    type Word = WordOf<T::Raw>;

    fn word(&self) -> &Self::Word {
        self.0.raw().at().word()
    }

    fn table(&self) -> &Table {
        self.0.raw().at().table()
    }
}
