//! The futures of the `_async` methods: the loop of `acquire`, which ends with a guard.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;

use crate::acquire::{AcquireAsync, AcquireAsyncUntil};
use crate::error::LockError;
use crate::mutex::guard::MutexGuard;
use crate::mutex::lock::Mutex;
use crate::mutex::owned::OwnedMutexGuard;
use crate::raw_mutex::RawMutex;

pin_project! {
    /// The future of [`Mutex::lock_async`].
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct MutexLock<'a, T: ?Sized> {
        mutex: &'a Mutex<T>,
        // Over the raw mutex alone, so that the code of the slow path is the same for every `T`.
        #[pin]
        acquire: AcquireAsync<&'a RawMutex>,
    }
}

impl<'a, T: ?Sized> MutexLock<'a, T> {
    pub(super) fn new(mutex: &'a Mutex<T>) -> Self {
        Self { mutex, acquire: AcquireAsync::new(&mutex.raw, ()) }
    }
}

impl<'a, T: ?Sized> Future for MutexLock<'a, T> {
    type Output = MutexGuard<'a, T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // SAFETY: ready once, with the mutex acquired (invariant 1).
        this.acquire.poll(cx).map(|Ok(_)| unsafe { MutexGuard::new(this.mutex) })
    }
}

pin_project! {
    /// The future of [`Mutex::lock_async_for`] and [`Mutex::lock_async_until`].
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct MutexLockUntil<'a, T: ?Sized> {
        mutex: &'a Mutex<T>,
        #[pin]
        acquire: AcquireAsyncUntil<&'a RawMutex>,
    }
}

impl<'a, T: ?Sized> MutexLockUntil<'a, T> {
    pub(super) fn new(mutex: &'a Mutex<T>, deadline: Option<Instant>) -> Self {
        Self { mutex, acquire: AcquireAsyncUntil::new(&mutex.raw, (), deadline) }
    }
}

impl<'a, T: ?Sized> Future for MutexLockUntil<'a, T> {
    type Output = Result<MutexGuard<'a, T>, LockError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // SAFETY: ready once with `Ok`, with the mutex acquired (invariant 1).
        this.acquire.poll(cx).map_ok(|Ok(_)| unsafe { MutexGuard::new(this.mutex) })
    }
}

pin_project! {
    /// The future of [`Mutex::lock_owned_async`].
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct MutexLockOwned<T: ?Sized> {
        #[pin]
        acquire: AcquireAsync<Arc<Mutex<T>>>,
    }
}

impl<T: ?Sized> MutexLockOwned<T> {
    pub(super) fn new(mutex: Arc<Mutex<T>>) -> Self {
        Self { acquire: AcquireAsync::new(mutex, ()) }
    }
}

impl<T: ?Sized> Future for MutexLockOwned<T> {
    type Output = OwnedMutexGuard<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: ready once, with the mutex acquired (invariant 1).
        self.project().acquire.poll(cx).map(|Ok(mutex)| unsafe { OwnedMutexGuard::new(mutex) })
    }
}

pin_project! {
    /// The future of [`Mutex::lock_owned_async_for`] and [`Mutex::lock_owned_async_until`].
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct MutexLockOwnedUntil<T: ?Sized> {
        #[pin]
        acquire: AcquireAsyncUntil<Arc<Mutex<T>>>,
    }
}

impl<T: ?Sized> MutexLockOwnedUntil<T> {
    pub(super) fn new(mutex: Arc<Mutex<T>>, deadline: Option<Instant>) -> Self {
        Self { acquire: AcquireAsyncUntil::new(mutex, (), deadline) }
    }
}

impl<T: ?Sized> Future for MutexLockOwnedUntil<T> {
    type Output = Result<OwnedMutexGuard<T>, LockError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: ready once with `Ok`, with the mutex acquired (invariant 1).
        self.project().acquire.poll(cx).map_ok(|Ok(mutex)| unsafe { OwnedMutexGuard::new(mutex) })
    }
}

/// Shows whether the future is queued, and not the value, which another holder may have.
macro_rules! shows_whether_it_waits {
    ($($name:literal: $future:ty;)*) => {$(
        impl<T: ?Sized> fmt::Debug for $future {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
            }
        }
    )*};
}

shows_whether_it_waits! {
    "MutexLock": MutexLock<'_, T>;
    "MutexLockUntil": MutexLockUntil<'_, T>;
    "MutexLockOwned": MutexLockOwned<T>;
    "MutexLockOwnedUntil": MutexLockOwnedUntil<T>;
}
