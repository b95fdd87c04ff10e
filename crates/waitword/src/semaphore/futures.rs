//! What the `_async` methods return: the loop of `acquire`, and permits at its end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::acquire::future::AcquireAsync;
use crate::deadline::{Deadline, NoDeadline, with_and_without_deadline};
use crate::raw_semaphore::asked;
use crate::semaphore::Semaphore;
use crate::semaphore::error::{AcquireError, Closed};
use crate::semaphore::permit::{OwnedSemaphorePermit, SemaphorePermit};

pin_project! {
    /// The future of [`Semaphore::acquire_async`] and [`Semaphore::acquire_many_async`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquire<'a, D = NoDeadline> {
        #[pin]
        acquire: AcquireAsync<&'a Semaphore, D>,
    }
}

impl<'a, D: Deadline> SemaphoreAcquire<'a, D> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize, deadline: D) -> Self {
        Self { acquire: AcquireAsync::new(semaphore, asked(permits), deadline) }
    }

    #[inline]
    fn poll_either(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<SemaphorePermit<'a>, Closed>, D::Error>> {
        let mut acquire = self.project().acquire;
        // Read before the poll, which is a fence for the compiler.
        let permits = acquire.ask();
        let polled = acquire.as_mut().poll(cx);
        let hold = acquire.hold();
        polled.map_ok(|acquired| acquired.map(|semaphore| SemaphorePermit::new(semaphore, permits, hold)))
    }
}

pin_project! {
    /// The future of [`Semaphore::acquire_owned_async`] and [`Semaphore::acquire_many_owned_async`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquireOwned<D = NoDeadline> {
        #[pin]
        acquire: AcquireAsync<Arc<Semaphore>, D>,
    }
}

impl<D: Deadline> SemaphoreAcquireOwned<D> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: usize, deadline: D) -> Self {
        Self { acquire: AcquireAsync::new(semaphore, asked(permits), deadline) }
    }

    #[inline]
    fn poll_either(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<OwnedSemaphorePermit, Closed>, D::Error>> {
        let mut acquire = self.project().acquire;
        let permits = acquire.ask();
        let polled = acquire.as_mut().poll(cx);
        let hold = acquire.hold();
        polled
            .map_ok(|acquired| acquired.map(|semaphore| OwnedSemaphorePermit::new(semaphore, permits, hold)))
    }
}

with_and_without_deadline! {
    ['a,] SemaphoreAcquire['a];
    /// The future of [`Semaphore::acquire_async_for`] and its like, up to [`Semaphore::acquire_many_async_until`].
    SemaphoreAcquireUntil['a];
    Result<SemaphorePermit<'a>, Closed>, Result<SemaphorePermit<'a>, AcquireError>; waits by acquire, shows permits: ask
}

with_and_without_deadline! {
    [] SemaphoreAcquireOwned[];
    /// The future of [`Semaphore::acquire_owned_async_for`] and its like, up to
    /// [`Semaphore::acquire_many_owned_async_until`].
    SemaphoreAcquireOwnedUntil[];
    Result<OwnedSemaphorePermit, Closed>, Result<OwnedSemaphorePermit, AcquireError>; waits by acquire, shows permits: ask
}
