//! The futures of the `_async` methods: the waits of `futures.rs` under their public names.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::condition::OwnedAt;
use crate::condvar::futures::{WaitOnce, WaitOnceUntil, WaitWhile, WaitWhileUntil};
use crate::condvar::guard::CondvarGuard;
use crate::condvar::variable::Condvar;
use crate::error::LockError;
use crate::sync::atomic::AtomicU64;

type Owned = OwnedAt<Condvar>;

/// Futures that wrap a wait and have its output; with the type `C` of the condition, if the wait has one.
macro_rules! condvar_futures {
    ($(
        $(#[$doc:meta])*
        pub struct $name:ident<$($lifetime:lifetime,)? G $(, $C:ident)?>($wait:ty) -> $output:ty;
    )*) => {$(
        pin_project! {
            $(#[$doc])*
            #[must_use = "nothing is waited for until this is awaited, and the mutex is unlocked when it is dropped: add `.await`"]
            pub struct $name<$($lifetime,)? G $(, $C)?>
            where G: CondvarGuard
            {
                #[pin]
                wait: $wait,
            }
        }

        impl<$($lifetime,)? G: CondvarGuard $(, $C)?> $name<$($lifetime,)? G $(, $C)?> {
            pub(super) fn of(wait: $wait) -> Self {
                Self { wait }
            }
        }

        impl<$($lifetime,)? G: CondvarGuard $(, $C: FnMut(&mut G::Target) -> bool)?> Future
            for $name<$($lifetime,)? G $(, $C)?>
        {
            type Output = $output;

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                self.project().wait.poll(cx)
            }
        }

        /// Shows whether the wait is queued.
        impl<$($lifetime,)? G: CondvarGuard $(, $C)?> fmt::Debug for $name<$($lifetime,)? G $(, $C)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("waiting", &self.wait.is_waiting()).finish_non_exhaustive()
            }
        }
    )*};
}

condvar_futures! {
    /// The future of [`Condvar::wait_async`].
    pub struct CondvarWait<'a, G>(WaitOnce<&'a AtomicU64, G>) -> G;

    /// The future of [`Condvar::wait_async_for`] and [`Condvar::wait_async_until`].
    pub struct CondvarWaitUntil<'a, G>(WaitOnceUntil<&'a AtomicU64, G>) -> (G, Result<(), LockError>);

    /// The future of [`Condvar::wait_while_async`].
    pub struct CondvarWaitWhile<'a, G, C>(WaitWhile<&'a AtomicU64, G, C>) -> G;

    /// The future of [`Condvar::wait_while_async_for`] and [`Condvar::wait_while_async_until`].
    pub struct CondvarWaitWhileUntil<'a, G, C>(WaitWhileUntil<&'a AtomicU64, G, C>) -> (G, Result<(), LockError>);

    /// The future of [`Condvar::wait_owned_async`].
    pub struct CondvarWaitOwned<G>(WaitOnce<Owned, G>) -> G;

    /// The future of [`Condvar::wait_owned_async_for`] and [`Condvar::wait_owned_async_until`].
    pub struct CondvarWaitOwnedUntil<G>(WaitOnceUntil<Owned, G>) -> (G, Result<(), LockError>);

    /// The future of [`Condvar::wait_while_owned_async`].
    pub struct CondvarWaitWhileOwned<G, C>(WaitWhile<Owned, G, C>) -> G;

    /// The future of [`Condvar::wait_while_owned_async_for`] and [`Condvar::wait_while_owned_async_until`].
    pub struct CondvarWaitWhileOwnedUntil<G, C>(WaitWhileUntil<Owned, G, C>) -> (G, Result<(), LockError>);
}
