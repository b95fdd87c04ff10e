//! The ways to acquire a lock that has guards: blocking, trying and as a future, without a deadline and with one; and these futures.
//! Written once for all locks.

use std::convert::Infallible;

use crate::deadline::Output;
use crate::error::LockError;

impl<T> Output<Result<Result<T, Infallible>, LockError>> for Result<T, LockError> {
    #[inline(always)]
    fn of(acquired: Result<Result<T, Infallible>, LockError>) -> Self {
        acquired.map(|Ok(guard)| guard)
    }
}

/// The result of a method that tries a lock with this raw part.
pub(crate) trait Tried<T, R> {
    fn of(acquired: Option<T>, raw: &R) -> Self;
}

impl<T, R> Tried<T, R> for Option<T> {
    #[inline(always)]
    fn of(acquired: Option<T>, _raw: &R) -> Self {
        acquired
    }
}

/// The methods of a lock. `$ask` is what they ask for, `$make` makes the guard from the [`HoldId`](crate::holders::HoldId). `$closed` and
/// `$too_many` continue what the documentation says of errors and panics.
macro_rules! grid {
    (
        $self:ident: $Receiver:ty $(, $permits:ident: $usize:ty)?;
        $ask:expr => $make:expr, $Error:literal, $closed:literal, $too_many:literal;
        $(#[$plain_docs:meta])*
        $plain:ident -> $Guard:ty;
        $(#[$try_docs:meta])*
        $try:ident -> $Tried:ty;
        $(#[$for_docs:meta])*
        $for:ident -> $Timed:ty;
        $(#[$until_docs:meta])*
        $until:ident;
        $(#[$async_docs:meta])*
        $async:ident -> $Future:ty = $Name:ident($($arg:expr),+);
        $(#[$async_for_docs:meta])*
        $async_for:ident;
        $(#[$async_until_docs:meta])*
        $async_until:ident -> $Until:ty;
    ) => {
        $(#[$plain_docs])*
        ///
        /// # Panics
        /// If it would have to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
        #[doc = concat!("[`", stringify!($async), "`](Self::", stringify!($async), ") there. ", $too_many)]
        #[inline]
        #[track_caller]
        pub fn $plain($self: $Receiver $(, $permits: $usize)?) -> $Guard {
            let hold = $crate::acquire::block::acquire::<Self>($self, move || $ask, || stringify!($async));
            $crate::deadline::Output::of(hold.map($make))
        }

        $(#[$try_docs])*
        #[inline]
        #[track_caller]
        pub fn $try($self: $Receiver $(, $permits: $usize)?) -> $Tried {
            $crate::acquire::grid::Tried::of($crate::acquire::held::try_take(&$self.raw, $ask).map($make), &$self.raw)
        }

        #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), for at most `timeout`.")]
        ///
        /// A timeout beyond what [`Instant`](crate::time::Instant) can hold never expires.
        $(#[$for_docs])*
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), "). ", $too_many)]
        #[inline]
        #[track_caller]
        pub fn $for($self: $Receiver $(, $permits: $usize)?, timeout: waitword_core::time::Duration) -> $Timed {
            let deadline = || waitword_core::time::Instant::now().checked_add(timeout);
            let hold = $crate::acquire::block::acquire_until::<Self>($self, move || $ask, deadline);
            $crate::deadline::Output::of(hold.map(|hold| hold.map($make)))
        }

        #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), until `deadline` at the latest.")]
        /// What is available without waiting is acquired even after the deadline.
        $(#[$until_docs])*
        ///
        /// # Errors
        #[doc = concat!(
            "[`TimedOut`](crate::", $Error, "::TimedOut), never before the deadline; [`BlockingForbidden`](crate::", $Error,
            "::BlockingForbidden) at once, if it would have to wait and this thread must not block", $closed, ". ", $too_many
        )]
        #[inline]
        #[track_caller]
        pub fn $until($self: $Receiver $(, $permits: $usize)?, deadline: waitword_core::time::Instant) -> $Timed {
            let hold = $crate::acquire::block::acquire_until::<Self>($self, move || $ask, || Some(deadline));
            $crate::deadline::Output::of(hold.map(|hold| hold.map($make)))
        }

        $(#[$async_docs])*
        ///
        /// # Cancellation
        /// Nothing happens before the first poll, which enqueues if it has to wait. The future is cancel-safe, with any executor: dropped at
        /// whatever moment, it leaves the queue and forwards what it had, a signal that it received or permits that were reserved for it.
        /// Polled again later, as in a loop around `select!`, it keeps its position: reuse the future instead of making a new one.
        ///
        /// # Fairness
        /// See [the type](Self#fairness). A poll that would have to wait tries for up to a microsecond before it enqueues, if no waiter is
        /// queued and that has paid on this thread lately. So does a poll of a task that was woken and finds that another acquirer has
        /// barged.
        ///
        /// # Panics
        #[doc = concat!("When polled again after it was ready. ", $too_many)]
        #[inline]
        #[track_caller]
        pub fn $async($self: $Receiver $(, $permits: $usize)?) -> $Future {
            $Name::new($($arg,)+ $crate::deadline::NoDeadline)
        }

        #[doc = concat!(
            "As [`", stringify!($async), "`](Self::", stringify!($async), "), for at most `timeout`, counted from this call."
        )]
        ///
        /// A timeout beyond what [`Instant`](crate::time::Instant) can hold never expires.
        $(#[$async_for_docs])*
        ///
        /// # Errors, cancellation, panics
        #[doc = concat!("As [`", stringify!($async_until), "`](Self::", stringify!($async_until), ").")]
        #[track_caller]
        pub fn $async_for($self: $Receiver $(, $permits: $usize)?, timeout: waitword_core::time::Duration) -> $Until {
            $Name::new($($arg,)+ $crate::deadline::Until::after(timeout))
        }

        #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), "), until `deadline` at the latest.")]
        /// What is available without waiting is acquired even after the deadline. Needs no timer of the executor.
        $(#[$async_until_docs])*
        ///
        /// # Errors
        #[doc = concat!("[`TimedOut`](crate::", $Error, "::TimedOut), never before the deadline", $closed, ".")]
        ///
        /// # Cancellation
        #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), ").")]
        ///
        /// # Panics
        #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), ");")]
        /// and when it has to wait, if it is the first in the process and the system cannot start the timer thread.
        #[track_caller]
        pub fn $async_until($self: $Receiver $(, $permits: $usize)?, deadline: waitword_core::time::Instant) -> $Until {
            $Name::new($($arg,)+ $crate::deadline::Until::new(Some(deadline)))
        }
    };
}

/// The futures that end with a guard: borrowed and over an `Arc`, without a deadline and with one. Each guard has
/// `unsafe fn new`, which is given the lock, or the `Arc` of it, that was acquired for it.
macro_rules! guard_futures {
    ($Lock:ident over $Raw:ty, $ask:expr;
        $Guard:ident: $Future:ident($of:literal), $Until:ident($until_of:literal);
        $OwnedGuard:ident: $Owned:ident($owned_of:literal), $OwnedUntil:ident($owned_until_of:literal);
    ) => {
        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $Future<'a, T: ?Sized, D = $crate::deadline::NoDeadline> {
                lock: &'a $Lock<T>,
                // Over the raw part alone, so that the code of the slow path is the same for every `T`.
                #[pin]
                acquire: $crate::acquire::future::AcquireAsync<&'a $Raw, D>,
            }
        }

        impl<'a, T: ?Sized, D: $crate::deadline::Deadline> $Future<'a, T, D> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: &'a $Lock<T>, deadline: D) -> Self {
                Self { lock, acquire: $crate::acquire::future::AcquireAsync::new(&lock.raw, $ask, deadline) }
            }

            #[inline]
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<$Guard<'a, T>, D::Error>> {
                let mut this = self.project();
                // Read before the poll, which is a fence for the compiler.
                let lock = *this.lock;
                let polled = this.acquire.as_mut().poll(cx);
                if polled.is_pending() {
                    $crate::handle::HasRaw::will_wait(lock);
                }
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                polled.map_ok(|Ok(_)| unsafe { $Guard::new(lock, this.acquire.hold()) })
            }
        }

        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $owned_of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $Owned<T: ?Sized, D = $crate::deadline::NoDeadline> {
                #[pin]
                acquire: $crate::acquire::future::AcquireAsync<Arc<$Lock<T>>, D>,
            }
        }

        impl<T: ?Sized, D: $crate::deadline::Deadline> $Owned<T, D> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: Arc<$Lock<T>>, deadline: D) -> Self {
                Self { acquire: $crate::acquire::future::AcquireAsync::new(lock, $ask, deadline) }
            }

            #[inline]
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<$OwnedGuard<T>, D::Error>> {
                let mut acquire = self.project().acquire;
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                acquire.as_mut().poll(cx).map_ok(|Ok(lock)| unsafe { $OwnedGuard::new(lock, acquire.hold()) })
            }
        }

        $crate::deadline::with_and_without_deadline! {
            ['a, T: ?Sized,] $Future['a, T];
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $until_of, "`] and its sibling with a timeout.")]
            $Until['a, T];
            $Guard<'a, T>, Result<$Guard<'a, T>, $crate::error::LockError>; waits by acquire
        }

        $crate::deadline::with_and_without_deadline! {
            [T: ?Sized,] $Owned[T];
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $owned_until_of, "`] and its sibling with a timeout.")]
            $OwnedUntil[T];
            $OwnedGuard<T>, Result<$OwnedGuard<T>, $crate::error::LockError>; waits by acquire
        }
    };
}

pub(crate) use {grid, guard_futures};
