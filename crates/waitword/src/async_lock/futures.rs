//! The futures of [`AsyncLock`](crate::AsyncLock): the loop of `acquire`, under their public names.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use std::task::{Context, Poll};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Location;

use crate::acquire::AcquireAsyncUntil;
use crate::async_lock::raw::{RawLock, Rechecking};
use crate::error::LockError;
use crate::sync::atomic::AtomicI32;

pin_project! {
    /// The future of [`AsyncLock::lock_async`](crate::AsyncLock::lock_async).
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct LockAsync<'a, L: Location<Word = AtomicI32>> {
        #[pin]
        acquire: AcquireAsyncUntil<Rechecking<'a, L>>,
    }
}

impl<'a, L: Location<Word = AtomicI32>> LockAsync<'a, L> {
    #[track_caller]
    pub(crate) fn new(raw: &'a RawLock<L>) -> Self {
        Self { acquire: AcquireAsyncUntil::new(Rechecking::new(raw), (), None) }
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

impl<L: Location<Word = AtomicI32>> fmt::Debug for LockAsync<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockAsync").field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`AsyncLock::lock_async_for`](crate::AsyncLock::lock_async_for) and
    /// [`AsyncLock::lock_async_until`](crate::AsyncLock::lock_async_until).
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct LockAsyncUntil<'a, L: Location<Word = AtomicI32>> {
        #[pin]
        acquire: AcquireAsyncUntil<Rechecking<'a, L>>,
    }
}

impl<'a, L: Location<Word = AtomicI32>> LockAsyncUntil<'a, L> {
    #[track_caller]
    pub(crate) fn new(raw: &'a RawLock<L>, deadline: Option<Instant>) -> Self {
        Self { acquire: AcquireAsyncUntil::new(Rechecking::new(raw), (), deadline) }
    }
}

impl<L: Location<Word = AtomicI32>> Future for LockAsyncUntil<'_, L> {
    type Output = Result<(), LockError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().acquire.poll(cx).map_ok(|_| ())
    }
}

impl<L: Location<Word = AtomicI32>> fmt::Debug for LockAsyncUntil<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockAsyncUntil").field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
    }
}
