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
        $(#[$async_docs:meta])*
        $async:ident -> $Future:ty = $Name:ident($($arg:expr),+);
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

        $(#[$async_docs])*
        ///
        /// # Cancellation
        /// Nothing happens before the first poll, which enqueues if it has to wait. The future is cancel-safe with any executor: dropping it at
        /// any time dequeues it, and forwards what it had received to the next waiter. A future
        /// that is polled again later, as in a loop around `select!`, keeps its position: reuse it instead of creating a new one.
        ///
        /// # Fairness
        /// See [the type](Self#fairness). A poll that would have to wait retries for up to 1 µs before it enqueues, if no waiter is queued and
        /// such retries succeeded on this thread lately. A woken task whose poll finds that another acquirer has barged retries, too.
        ///
        /// # Panics
        #[doc = concat!("When polled again after it was ready. ", $too_many)]
        #[inline]
        #[track_caller]
        pub fn $async($self: $Receiver $(, $permits: $usize)?) -> $Future {
            $Name::new($($arg),+)
        }
    };
}

/// The blocking methods that give up: after a time, and at a time.
macro_rules! blocking_until {
    (
        $self:ident: $ask:expr => $make:expr, $Error:literal, $closed:literal;
        $(#[$for_docs:meta])*
        $for:ident -> $Timed:ty;
        $(#[$until_docs:meta])*
        $until:ident;
    ) => {
        $(#[$for_docs])*
        ///
        /// A timeout beyond what [`Instant`](crate::time::Instant) can hold never expires.
        ///
        /// # Errors
        #[doc = concat!("As with [`", stringify!($until), "`](Self::", stringify!($until), ").")]
        #[inline]
        #[track_caller]
        pub fn $for(&$self, timeout: waitword_core::time::Duration) -> $Timed {
            let deadline = || waitword_core::time::Instant::now().checked_add(timeout);
            let hold = $crate::acquire::block::acquire_until::<Self>($self, move || $ask, deadline);
            $crate::deadline::Output::of(hold.map(|hold| hold.map($make)))
        }

        $(#[$until_docs])*
        ///
        /// What is available without waiting is acquired even after the deadline.
        ///
        /// # Errors
        #[doc = concat!("- [`TimedOut`](crate::", $Error, "::TimedOut), never before the deadline.")]
        #[doc = concat!(
            "- [`BlockingForbidden`](crate::", $Error, "::BlockingForbidden), at once, if it would have to wait and this thread must not block",
            $closed, "."
        )]
        #[inline]
        #[track_caller]
        pub fn $until(&$self, deadline: waitword_core::time::Instant) -> $Timed {
            let hold = $crate::acquire::block::acquire_until::<Self>($self, move || $ask, || Some(deadline));
            $crate::deadline::Output::of(hold.map(|hold| hold.map($make)))
        }
    };
}

/// The future that ends with a guard: `P` is a reference to the lock, or its `Arc`. Each guard has `unsafe fn new`, which is given the
/// reference or the `Arc` of the lock that was acquired for it.
macro_rules! guard_future {
    ($Lock:ident over $Raw:ty, $ask:expr; $Future:ident($of:literal, $owned_of:literal) -> $Guard:ident, $OwnedGuard:ident) => {
        pin_project_lite::pin_project! {
            #[doc = concat!(
                "The future returned by [`", stringify!($Lock), "::", $of, "`] and [`", stringify!($Lock), "::", $owned_of, "`]. `P` is a `&",
                stringify!($Lock), "<T>` or an `Arc<", stringify!($Lock), "<T>>`."
            )]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $Future<P, D = $crate::deadline::NoDeadline> {
                #[pin]
                kept: $crate::kept::Kept<P, $crate::acquire::future::AcquireAsync<'static, $Raw, D>>,
            }
        }

        impl<P> $Future<P> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: P) -> Self
            where
                P: $crate::kept::Keeper<Target: $crate::handle::HasRaw<Raw = $Raw>>,
            {
                let caller = waitword_core::observe::Caller::here();
                let acquire = |raw| $crate::acquire::future::AcquireAsync::from_caller(caller, raw, $ask);
                Self { kept: $crate::kept::Kept::new(lock, acquire) }
            }
        }

        impl<P> $Future<P> {
            #[inline]
            fn until(self, deadline: $crate::deadline::Until) -> $Future<P, $crate::deadline::Until> {
                $Future { kept: self.kept.map(|acquire| acquire.until(deadline)) }
            }
        }

        impl<P, D> $Future<P, D> {
            fn is_waiting(&self) -> bool {
                self.kept.get().is_waiting()
            }
        }

        impl<P, D: $crate::deadline::Deadline> $Future<P, D> {
            /// The lock, acquired as asked for, and what its guard has to keep.
            #[inline]
            fn poll_acquired(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(P, HoldId), D::Error>>
            where
                P: $crate::kept::Keeper,
            {
                let (mut acquire, lock) = self.project().kept.split();
                let polled = acquire.as_mut().poll(cx);
                if let (Poll::Pending, Some(lock)) = (&polled, &lock) {
                    $crate::handle::HasRaw::will_wait(lock.target());
                }
                // The acquisition has ended, and uses the borrow no more (K2 of `kept.rs`).
                polled.map_ok(|Ok(_)| (lock.take().expect("it is ready once"), acquire.hold()))
            }
        }

        impl<'a, T: ?Sized, D: $crate::deadline::Deadline> $Future<&'a $Lock<T>, D> {
            #[inline]
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<$Guard<'a, T>, D::Error>> {
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                self.poll_acquired(cx).map_ok(|(lock, hold)| unsafe { $Guard::new(lock, hold) })
            }
        }

        impl<T: ?Sized, D: $crate::deadline::Deadline> $Future<Arc<$Lock<T>>, D> {
            #[inline]
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<$OwnedGuard<T>, D::Error>> {
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                self.poll_acquired(cx).map_ok(|(lock, hold)| unsafe { $OwnedGuard::new(lock, hold) })
            }
        }

        $crate::deadline::gives_up! {
            [P,] $Future[P], "a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut),"
        }

        $crate::deadline::polls_either! {
            ['a, T: ?Sized] $Future[&'a $Lock<T>]: $Guard<'a, T>, Result<$Guard<'a, T>, $crate::error::LockError>
        }

        $crate::deadline::polls_either! {
            [T: ?Sized] $Future[Arc<$Lock<T>>]: $OwnedGuard<T>, Result<$OwnedGuard<T>, $crate::error::LockError>
        }
    };
}

pub(crate) use {blocking_until, grid, guard_future};
