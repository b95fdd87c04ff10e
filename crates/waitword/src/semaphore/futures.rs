//! What the `_async` methods return: the loop of `acquire`, and permits at its end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use waitword_core::observe::Caller;

use crate::acquire::future::AcquireAsync;
use crate::deadline::{Deadline, NoDeadline, Until, gives_up, polls_either};
use crate::handle::HasRaw;
use crate::holders::HoldId;
use crate::kept::{Keeper, Kept};
use crate::raw_semaphore::{RawSemaphore, asked};
use crate::semaphore::Semaphore;
use crate::semaphore::error::{AcquireError, Closed};
use crate::semaphore::permit::{OwnedSemaphorePermit, SemaphorePermit};

pin_project! {
    /// The future returned by [`Semaphore::acquire_async`] and the other methods that acquire permits in a task. `P` is a `&Semaphore` or an
    /// `Arc<Semaphore>`.
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquire<P, D = NoDeadline> {
        #[pin]
        kept: Kept<P, AcquireAsync<'static, RawSemaphore, D>>,
    }
}

impl<P> SemaphoreAcquire<P> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: P, permits: usize) -> Self
    where
        P: Keeper<Target: HasRaw<Raw = RawSemaphore>>,
    {
        let (caller, permits) = (Caller::here(), asked(permits));
        Self { kept: Kept::new(semaphore, |raw| AcquireAsync::from_caller(caller, raw, permits)) }
    }
}

impl<P> SemaphoreAcquire<P> {
    #[inline]
    fn until(self, deadline: Until) -> SemaphoreAcquire<P, Until> {
        SemaphoreAcquire { kept: self.kept.map(|acquire| acquire.until(deadline)) }
    }
}

impl<P, D> SemaphoreAcquire<P, D> {
    fn is_waiting(&self) -> bool {
        self.kept.get().is_waiting()
    }

    fn permits(&self) -> usize {
        self.kept.get().ask()
    }
}

/// The semaphore, how many permits were acquired, and what their guard has to keep.
type Acquired<P> = Result<(P, usize, HoldId), Closed>;

impl<P, D: Deadline> SemaphoreAcquire<P, D> {
    #[inline]
    fn poll_acquired(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Acquired<P>, D::Error>> {
        let (mut acquire, semaphore) = self.project().kept.split();
        // Read before the poll, which is a fence for the compiler.
        let permits = acquire.ask();
        let polled = acquire.as_mut().poll(cx);
        // The acquisition has ended, and uses the borrow no more (K2 of `kept.rs`).
        let hold = acquire.hold();
        polled
            .map_ok(|acquired| acquired.map(|_| (semaphore.take().expect("it is ready once"), permits, hold)))
    }
}

impl<'a, D: Deadline> SemaphoreAcquire<&'a Semaphore, D> {
    #[inline]
    fn poll_either(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<SemaphorePermit<'a>, Closed>, D::Error>> {
        let permit = |(semaphore, permits, hold)| SemaphorePermit::new(semaphore, permits, hold);
        self.poll_acquired(cx).map_ok(|acquired| acquired.map(permit))
    }
}

impl<D: Deadline> SemaphoreAcquire<Arc<Semaphore>, D> {
    #[inline]
    fn poll_either(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<OwnedSemaphorePermit, Closed>, D::Error>> {
        let permit = |(semaphore, permits, hold)| OwnedSemaphorePermit::new(semaphore, permits, hold);
        self.poll_acquired(cx).map_ok(|acquired| acquired.map(permit))
    }
}

gives_up! {
    [P,] SemaphoreAcquire[P],
    "a `Result` with an [`AcquireError`](crate::AcquireError): `Closed`, even if permits are available, or `TimedOut`,", shows permits
}

polls_either! {
    ['a] SemaphoreAcquire[&'a Semaphore]:
        Result<SemaphorePermit<'a>, Closed>, Result<SemaphorePermit<'a>, AcquireError>
}

polls_either! {
    [] SemaphoreAcquire[Arc<Semaphore>]: Result<OwnedSemaphorePermit, Closed>, Result<OwnedSemaphorePermit, AcquireError>
}
