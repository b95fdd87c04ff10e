//! How a wait reaches its word.
//!
//! A waiter is queued under the address of a word, so the word has to stay where it is until the waiter is dequeued. A borrow
//! ensures that. A future that borrows nothing keeps the lock's `Arc` beside the borrowing future (`kept.rs`).

use waitword_core::Location;

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

/// The object that users share, with its raw part.
pub(crate) trait HasRaw {
    type Raw: Waited;

    fn raw(&self) -> &Self::Raw;

    /// For reports: the caller is about to wait. Says what the object is, where its kind does not say everything.
    #[inline(always)]
    fn will_wait(&self) {}
}

/// [`HasRaw`] of a type whose field `raw` is its raw part.
macro_rules! has_raw {
    ($Shared:ty, $Raw:ty) => {
        impl $crate::handle::HasRaw for $Shared {
            type Raw = $Raw;

            #[inline]
            fn raw(&self) -> &$Raw {
                &self.raw
            }
        }
    };
}

pub(crate) use has_raw;
