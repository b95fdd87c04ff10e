//! What the `_async` methods return: the loop of `acquire`, and permits at its end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::acquire::{AcquireAsync, Output};
use crate::deadline::{Deadline, NoDeadline, Until};
use crate::raw_semaphore::{RawSemaphore, asked};
use crate::semaphore::{AcquireError, Closed, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

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

/// The future of [`Semaphore::acquire_async_for`] and its like, up to [`Semaphore::acquire_many_async_until`].
pub type SemaphoreAcquireUntil<'a> = SemaphoreAcquire<'a, Until>;

impl<'a, D: Deadline> SemaphoreAcquire<'a, D> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: &'a Semaphore, permits: usize, deadline: D) -> Self {
        Self { semaphore, permits, acquire: AcquireAsync::new(&semaphore.raw, asked(permits), deadline) }
    }

    #[inline]
    fn poll_permit<O: Output<SemaphorePermit<'a>, Closed, D::Error>>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<O> {
        let mut this = self.project();
        // Read before the poll, which is a fence for the compiler.
        let (semaphore, permits) = (*this.semaphore, *this.permits);
        let polled = this.acquire.as_mut().poll(cx);
        let hold = this.acquire.hold();
        let permit =
            |acquired: Result<_, _>| acquired.map(|_| SemaphorePermit::new(semaphore, permits, hold));
        polled.map(|acquired| O::of(acquired.map(permit)))
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

/// The future of [`Semaphore::acquire_owned_async_for`] and its like, up to
/// [`Semaphore::acquire_many_owned_async_until`].
pub type SemaphoreAcquireOwnedUntil = SemaphoreAcquireOwned<Until>;

impl<D: Deadline> SemaphoreAcquireOwned<D> {
    #[inline]
    #[track_caller]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: usize, deadline: D) -> Self {
        Self { permits, acquire: AcquireAsync::new(semaphore, asked(permits), deadline) }
    }

    #[inline]
    fn poll_permit<O: Output<OwnedSemaphorePermit, Closed, D::Error>>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<O> {
        let mut this = self.project();
        let permits = *this.permits;
        let polled = this.acquire.as_mut().poll(cx);
        let hold = this.acquire.hold();
        let permit = |acquired: Result<Arc<Semaphore>, Closed>| {
            acquired.map(|semaphore| OwnedSemaphorePermit::new(semaphore, permits, hold))
        };
        polled.map(|acquired| O::of(acquired.map(permit)))
    }
}

/// The outputs. Shows how many permits it wants, and whether it is queued.
macro_rules! with_and_without_deadline {
    ($($Future:ident$(<$life:lifetime>)?, $Until:ident -> $Permit:ty;)+) => {$(
        impl$(<$life>)? Future for $Future$(<$life>)? {
            type Output = Result<$Permit, Closed>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                self.poll_permit(cx)
            }
        }

        impl$(<$life>)? Future for $Until$(<$life>)? {
            type Output = Result<$Permit, AcquireError>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                self.poll_permit(cx)
            }
        }

        impl<$($life,)? D: Deadline> fmt::Debug for $Future<$($life,)? D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(if D::IS_TIMED { stringify!($Until) } else { stringify!($Future) });
                shown.field("permits", &self.permits).field("waiting", &self.acquire.is_waiting());
                shown.finish_non_exhaustive()
            }
        }
    )+};
}

with_and_without_deadline! {
    SemaphoreAcquire<'a>, SemaphoreAcquireUntil -> SemaphorePermit<'a>;
    SemaphoreAcquireOwned, SemaphoreAcquireOwnedUntil -> OwnedSemaphorePermit;
}
