//! What the `_async` methods return: the loop of `acquire`, and permits at its end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::acquire::future::AcquireAsync;
use crate::deadline::{Deadline, NoDeadline, with_and_without_deadline};
use crate::raw_semaphore::{RawSemaphore, asked};
use crate::semaphore::Semaphore;
use crate::semaphore::error::{AcquireError, Closed};
use crate::semaphore::permit::{OwnedSemaphorePermit, SemaphorePermit};

pin_project! {
    /// The future of [`Semaphore::acquire_async`] and [`Semaphore::acquire_many_async`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquire<'a, D = NoDeadline> {
        semaphore: &'a Semaphore,
        permits: usize,
        #[pin]
        acquire: AcquireAsync<&'a RawSemaphore, D>,
    }
}

impl<'a, D: Deadline> SemaphoreAcquire<'a, D> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize, deadline: D) -> Self {
        Self { semaphore, permits, acquire: AcquireAsync::new(&semaphore.raw, asked(permits), deadline) }
    }

    #[inline]
    fn poll_either(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<SemaphorePermit<'a>, Closed>, D::Error>> {
        let mut this = self.project();
        // Read before the poll, which is a fence for the compiler.
        let (semaphore, permits) = (*this.semaphore, *this.permits);
        let polled = this.acquire.as_mut().poll(cx);
        let hold = this.acquire.hold();
        polled.map_ok(|acquired| acquired.map(|_| SemaphorePermit::new(semaphore, permits, hold)))
    }
}

pin_project! {
    /// The future of [`Semaphore::acquire_owned_async`] and [`Semaphore::acquire_many_owned_async`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquireOwned<D = NoDeadline> {
        permits: usize,
        #[pin]
        acquire: AcquireAsync<Arc<Semaphore>, D>,
    }
}

impl<D: Deadline> SemaphoreAcquireOwned<D> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: usize, deadline: D) -> Self {
        Self { permits, acquire: AcquireAsync::new(semaphore, asked(permits), deadline) }
    }

    #[inline]
    fn poll_either(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<OwnedSemaphorePermit, Closed>, D::Error>> {
        let mut this = self.project();
        let permits = *this.permits;
        let polled = this.acquire.as_mut().poll(cx);
        let hold = this.acquire.hold();
        polled
            .map_ok(|acquired| acquired.map(|semaphore| OwnedSemaphorePermit::new(semaphore, permits, hold)))
    }
}

with_and_without_deadline! {
    ['a,] SemaphoreAcquire['a];
    /// The future of [`Semaphore::acquire_async_for`] and its like, up to [`Semaphore::acquire_many_async_until`].
    SemaphoreAcquireUntil['a];
    Result<SemaphorePermit<'a>, Closed>, Result<SemaphorePermit<'a>, AcquireError>; waits by acquire, shows permits
}

with_and_without_deadline! {
    [] SemaphoreAcquireOwned[];
    /// The future of [`Semaphore::acquire_owned_async_for`] and its like, up to
    /// [`Semaphore::acquire_many_owned_async_until`].
    SemaphoreAcquireOwnedUntil[];
    Result<OwnedSemaphorePermit, Closed>, Result<OwnedSemaphorePermit, AcquireError>; waits by acquire, shows permits
}
