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

/// A future that reaches its semaphore by a `$Handle`, without a deadline and with one.
macro_rules! semaphore_future {
    (
        $(#[$docs:meta])* $Future:ident$(<$life:lifetime>)? by $Handle:ty;
        $(#[$until_docs:meta])* $Until:ident -> $Permit:ty { $permit:path }
    ) => {
        pin_project! {
            $(#[$docs])*
            #[must_use = "nothing is acquired until this is awaited: add `.await`, or acquire without `_async` in a thread"]
            pub struct $Future<$($life,)? D = NoDeadline> {
                #[pin]
                acquire: AcquireAsync<$Handle, D>,
            }
        }

        impl<$($life,)? D: Deadline> $Future<$($life,)? D> {
            #[inline]
            #[track_caller]
            pub(super) fn new(semaphore: $Handle, permits: usize, deadline: D) -> Self {
                Self { acquire: AcquireAsync::new(semaphore, asked(permits), deadline) }
            }

            #[inline]
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Result<$Permit, Closed>, D::Error>> {
                let mut acquire = self.project().acquire;
                // Read before the poll, which is a fence for the compiler.
                let permits = acquire.ask();
                let polled = acquire.as_mut().poll(cx);
                let hold = acquire.hold();
                polled.map_ok(|acquired| acquired.map(|semaphore| $permit(semaphore, permits, hold)))
            }
        }

        with_and_without_deadline! {
            [$($life,)?] $Future[$($life)?];
            $(#[$until_docs])*
            $Until[$($life)?];
            Result<$Permit, Closed>, Result<$Permit, AcquireError>; waits by acquire, shows permits: ask
        }
    };
}

semaphore_future! {
    /// The future of [`Semaphore::acquire_async`] and [`Semaphore::acquire_many_async`].
    SemaphoreAcquire<'a> by &'a Semaphore;
    /// The future of [`Semaphore::acquire_async_for`] and its like, up to [`Semaphore::acquire_many_async_until`].
    SemaphoreAcquireUntil -> SemaphorePermit<'a> { SemaphorePermit::new }
}

semaphore_future! {
    /// The future of [`Semaphore::acquire_owned_async`] and [`Semaphore::acquire_many_owned_async`].
    SemaphoreAcquireOwned by Arc<Semaphore>;
    /// The future of [`Semaphore::acquire_owned_async_for`] and its like, up to [`Semaphore::acquire_many_owned_async_until`].
    SemaphoreAcquireOwnedUntil -> OwnedSemaphorePermit { OwnedSemaphorePermit::new }
}
