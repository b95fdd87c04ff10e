//! What the `_async` methods return: the loop of `acquire`, and permits at its end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;

use crate::acquire::{AcquireAsync, AcquireAsyncUntil};
use crate::raw_semaphore::RawSemaphore;
use crate::semaphore::permits::asked;
use crate::semaphore::{AcquireError, Closed, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

pin_project! {
    /// The future of [`Semaphore::acquire_async`] and [`Semaphore::acquire_many_async`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquire<'a> {
        semaphore: &'a Semaphore,
        permits: usize,
        #[pin]
        acquire: AcquireAsync<&'a RawSemaphore>,
    }
}

impl<'a> SemaphoreAcquire<'a> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize) -> Self {
        Self { semaphore, permits, acquire: AcquireAsync::new(&semaphore.raw, asked(permits)) }
    }
}

impl<'a> Future for SemaphoreAcquire<'a> {
    type Output = Result<SemaphorePermit<'a>, Closed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // Read before the poll, which is a fence for the compiler.
        let (semaphore, permits) = (*this.semaphore, *this.permits);
        let acquired = this.acquire.as_mut().poll(cx);
        let hold = this.acquire.hold();
        acquired.map(|acquired| acquired.map(|_| SemaphorePermit::new(semaphore, permits, hold)))
    }
}

pin_project! {
    /// The future of [`Semaphore::acquire_async_for`] and its like, up to [`Semaphore::acquire_many_async_until`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquireUntil<'a> {
        semaphore: &'a Semaphore,
        permits: usize,
        #[pin]
        acquire: AcquireAsyncUntil<&'a RawSemaphore>,
    }
}

impl<'a> SemaphoreAcquireUntil<'a> {
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize, deadline: Option<Instant>) -> Self {
        let acquire = AcquireAsyncUntil::new(&semaphore.raw, asked(permits), deadline);
        Self { semaphore, permits, acquire }
    }
}

impl<'a> Future for SemaphoreAcquireUntil<'a> {
    type Output = Result<SemaphorePermit<'a>, AcquireError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let acquired = this.acquire.as_mut().poll(cx)?;
        let hold = this.acquire.hold();
        acquired
            .map(|acquired| Ok(acquired.map(|_| SemaphorePermit::new(this.semaphore, *this.permits, hold))?))
    }
}

pin_project! {
    /// The future of [`Semaphore::acquire_owned_async`] and [`Semaphore::acquire_many_owned_async`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquireOwned {
        permits: usize,
        #[pin]
        acquire: AcquireAsync<Arc<Semaphore>>,
    }
}

impl SemaphoreAcquireOwned {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: usize) -> Self {
        Self { permits, acquire: AcquireAsync::new(semaphore, asked(permits)) }
    }
}

impl Future for SemaphoreAcquireOwned {
    type Output = Result<OwnedSemaphorePermit, Closed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let acquired = this.acquire.as_mut().poll(cx);
        let hold = this.acquire.hold();
        acquired.map(|acquired| {
            acquired.map(|semaphore| OwnedSemaphorePermit::new(semaphore, *this.permits, hold))
        })
    }
}

pin_project! {
    /// The future of [`Semaphore::acquire_owned_async_for`] and its like, up to
    /// [`Semaphore::acquire_many_owned_async_until`].
    #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
    pub struct SemaphoreAcquireOwnedUntil {
        permits: usize,
        #[pin]
        acquire: AcquireAsyncUntil<Arc<Semaphore>>,
    }
}

impl SemaphoreAcquireOwnedUntil {
    #[track_caller]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: usize, deadline: Option<Instant>) -> Self {
        Self { permits, acquire: AcquireAsyncUntil::new(semaphore, asked(permits), deadline) }
    }
}

impl Future for SemaphoreAcquireOwnedUntil {
    type Output = Result<OwnedSemaphorePermit, AcquireError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let acquired = this.acquire.as_mut().poll(cx)?;
        let hold = this.acquire.hold();
        acquired.map(|acquired| {
            Ok(acquired.map(|semaphore| OwnedSemaphorePermit::new(semaphore, *this.permits, hold))?)
        })
    }
}

/// Shows how many it wants, and whether it is queued.
macro_rules! shows_whether_it_waits {
    ($($name:literal: $future:ty;)*) => {$(
        impl fmt::Debug for $future {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct($name);
                shown.field("permits", &self.permits).field("waiting", &self.acquire.is_waiting());
                shown.finish_non_exhaustive()
            }
        }
    )*};
}

shows_whether_it_waits! {
    "SemaphoreAcquire": SemaphoreAcquire<'_>;
    "SemaphoreAcquireUntil": SemaphoreAcquireUntil<'_>;
    "SemaphoreAcquireOwned": SemaphoreAcquireOwned;
    "SemaphoreAcquireOwnedUntil": SemaphoreAcquireOwnedUntil;
}
