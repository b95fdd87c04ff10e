//! The futures of [`AsyncLock`](crate::AsyncLock): the loop of `acquire`, under their public names.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Location;

use crate::acquire::AcquireAsync;
use crate::async_lock::raw::{RawLock, Rechecking};
use crate::deadline::{Deadline, NoDeadline, Until};
use crate::error::LockError;
use crate::sync::atomic::AtomicI32;

pin_project! {
    /// The future of [`AsyncLock::lock_async`](crate::AsyncLock::lock_async).
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct LockAsync<'a, L: Location<Word = AtomicI32>, D = NoDeadline> {
        // Always with an alarm, for the rechecks.
        #[pin]
        acquire: AcquireAsync<Rechecking<'a, L>, Until>,
        // Whether there is a deadline.
        _deadline: PhantomData<D>,
    }
}

/// The future of [`AsyncLock::lock_async_for`](crate::AsyncLock::lock_async_for) and
/// [`AsyncLock::lock_async_until`](crate::AsyncLock::lock_async_until).
pub type LockAsyncUntil<'a, L> = LockAsync<'a, L, Until>;

impl<'a, L: Location<Word = AtomicI32>, D> LockAsync<'a, L, D> {
    #[track_caller]
    pub(crate) fn new(raw: &'a RawLock<L>, deadline: Option<Instant>) -> Self {
        let acquire = AcquireAsync::new(Rechecking::new(raw), (), Until::new(deadline));
        Self { acquire, _deadline: PhantomData }
    }
}

impl<L: Location<Word = AtomicI32>> Future for LockAsync<'_, L> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Without a deadline the acquisition ends only with the lock.
        self.project().acquire.poll(cx).map(|_| ())
    }
}

impl<L: Location<Word = AtomicI32>> Future for LockAsync<'_, L, Until> {
    type Output = Result<(), LockError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().acquire.poll(cx).map_ok(|_| ())
    }
}

impl<L: Location<Word = AtomicI32>, D: Deadline> fmt::Debug for LockAsync<'_, L, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if D::IS_TIMED { "LockAsyncUntil" } else { "LockAsync" };
        f.debug_struct(name).field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
    }
}
