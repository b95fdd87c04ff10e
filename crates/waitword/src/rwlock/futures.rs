//! What the `_async` methods return: the loop of `acquire`, and a guard at its end. Upgrades are in `upgrade.rs`.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;

use crate::acquire::{AcquireAsync, AcquireAsyncUntil};
use crate::error::LockError;
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

macro_rules! futures {
    ($mode:expr, $guard:ident, $owned_guard:ident:
        $future:ident($of:literal), $until:ident($until_of:literal),
        $owned:ident($owned_of:literal), $owned_until:ident($owned_until_of:literal)
    ) => {
        pin_project! {
            #[doc = concat!("The future of [`RwLock::", $of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $future<'a, T: ?Sized> {
                rwlock: &'a RwLock<T>,
                // Of the raw part alone, so that the code of its slow path is the same for every `T`.
                #[pin]
                acquire: AcquireAsync<&'a RawRwLock>,
            }
        }

        impl<'a, T: ?Sized> $future<'a, T> {
            pub(super) fn new(rwlock: &'a RwLock<T>) -> Self {
                Self { rwlock, acquire: AcquireAsync::new(&rwlock.raw, $mode) }
            }
        }

        impl<'a, T: ?Sized> Future for $future<'a, T> {
            type Output = $guard<'a, T>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let this = self.project();
                // SAFETY: ready once, having acquired it in this mode.
                this.acquire.poll(cx).map(|Ok(_)| unsafe { $guard::new(*this.rwlock) })
            }
        }

        pin_project! {
            #[doc = concat!("The future of [`RwLock::", $until_of, "`] and its sibling with a timeout.")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $until<'a, T: ?Sized> {
                rwlock: &'a RwLock<T>,
                #[pin]
                acquire: AcquireAsyncUntil<&'a RawRwLock>,
            }
        }

        impl<'a, T: ?Sized> $until<'a, T> {
            pub(super) fn new(rwlock: &'a RwLock<T>, deadline: Option<Instant>) -> Self {
                Self { rwlock, acquire: AcquireAsyncUntil::new(&rwlock.raw, $mode, deadline) }
            }
        }

        impl<'a, T: ?Sized> Future for $until<'a, T> {
            type Output = Result<$guard<'a, T>, LockError>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let this = self.project();
                // SAFETY: ready once with `Ok`, having acquired it in this mode.
                this.acquire.poll(cx).map_ok(|Ok(_)| unsafe { $guard::new(*this.rwlock) })
            }
        }

        pin_project! {
            #[doc = concat!("The future of [`RwLock::", $owned_of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $owned<T: ?Sized> {
                #[pin]
                acquire: AcquireAsync<Arc<RwLock<T>>>,
            }
        }

        impl<T: ?Sized> $owned<T> {
            pub(super) fn new(rwlock: Arc<RwLock<T>>) -> Self {
                Self { acquire: AcquireAsync::new(rwlock, $mode) }
            }
        }

        impl<T: ?Sized> Future for $owned<T> {
            type Output = $owned_guard<T>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                // SAFETY: ready once, having acquired it in this mode.
                self.project().acquire.poll(cx).map(|Ok(rwlock)| unsafe { $owned_guard::new(rwlock) })
            }
        }

        pin_project! {
            #[doc = concat!("The future of [`RwLock::", $owned_until_of, "`] and its sibling with a timeout.")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $owned_until<T: ?Sized> {
                #[pin]
                acquire: AcquireAsyncUntil<Arc<RwLock<T>>>,
            }
        }

        impl<T: ?Sized> $owned_until<T> {
            pub(super) fn new(rwlock: Arc<RwLock<T>>, deadline: Option<Instant>) -> Self {
                Self { acquire: AcquireAsyncUntil::new(rwlock, $mode, deadline) }
            }
        }

        impl<T: ?Sized> Future for $owned_until<T> {
            type Output = Result<$owned_guard<T>, LockError>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                // SAFETY: ready once with `Ok`, having acquired it in this mode.
                self.project().acquire.poll(cx).map_ok(|Ok(rwlock)| unsafe { $owned_guard::new(rwlock) })
            }
        }

        shows_whether_it_waits! { $future<'a, T>, $until<'a, T>, $owned<T>, $owned_until<T> }
    };
}

/// Shows whether it is queued. Not the value, which another holder may be changing.
macro_rules! shows_whether_it_waits {
    ($($future:ident<$($life:lifetime,)? T>),*) => {$(
        impl<$($life,)? T: ?Sized> fmt::Debug for $future<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($future));
                shown.field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
            }
        }
    )*};
}

pub(super) use shows_whether_it_waits;

futures! {
    Mode::Read, RwLockReadGuard, OwnedRwLockReadGuard:
    RwLockRead("read_async"), RwLockReadUntil("read_async_until"),
    RwLockReadOwned("read_owned_async"), RwLockReadOwnedUntil("read_owned_async_until")
}

futures! {
    Mode::Write, RwLockWriteGuard, OwnedRwLockWriteGuard:
    RwLockWrite("write_async"), RwLockWriteUntil("write_async_until"),
    RwLockWriteOwned("write_owned_async"), RwLockWriteOwnedUntil("write_owned_async_until")
}

futures! {
    Mode::Upgradable, RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard:
    RwLockUpgradableRead("upgradable_read_async"), RwLockUpgradableReadUntil("upgradable_read_async_until"),
    RwLockUpgradableReadOwned("upgradable_read_owned_async"),
    RwLockUpgradableReadOwnedUntil("upgradable_read_owned_async_until")
}
