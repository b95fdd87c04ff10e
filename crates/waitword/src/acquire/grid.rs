//! The ways to acquire a lock that has guards: blocking, trying and as a future, without a deadline and with one. The same for each lock,
//! written once.

use std::convert::Infallible;

use crate::error::LockError;

/// What a method or a future returns: a guard, beside the errors that it can have. `C` says that the lock was closed, `E` why the wait was
/// given up; both are [`Infallible`] where that cannot be.
pub(crate) trait Output<T, C, E> {
    fn of(acquired: Result<Result<T, C>, E>) -> Self;
}

impl<T> Output<T, Infallible, Infallible> for T {
    #[inline(always)]
    fn of(acquired: Result<Result<T, Infallible>, Infallible>) -> T {
        let Ok(Ok(guard)) = acquired;
        guard
    }
}

impl<T> Output<T, Infallible, LockError> for Result<T, LockError> {
    #[inline(always)]
    fn of(acquired: Result<Result<T, Infallible>, LockError>) -> Self {
        acquired.map(|Ok(guard)| guard)
    }
}

/// What a method returns that tries a lock with this raw part.
pub(crate) trait Tried<T, R> {
    fn of(acquired: Option<T>, raw: &R) -> Self;
}

impl<T, R> Tried<T, R> for Option<T> {
    #[inline(always)]
    fn of(acquired: Option<T>, _raw: &R) -> Self {
        acquired
    }
}

/// The methods of a lock. `$ask` is what they ask for, `$make` makes the guard out of the record of its hold. `$closed` and `$too_many`
/// continue what the documentation says of errors and panics.
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
            let hold = $crate::acquire::acquire::<Self>($self, move || $ask, || stringify!($async));
            $crate::acquire::Output::of(Ok::<_, std::convert::Infallible>(hold.map($make)))
        }

        $(#[$try_docs])*
        #[inline]
        #[track_caller]
        pub fn $try($self: $Receiver $(, $permits: $usize)?) -> $Tried {
            $crate::acquire::Tried::of($crate::acquire::try_take(&$self.raw, $ask).map($make), &$self.raw)
        }

        #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), for `timeout` at the longest.")]
        ///
        /// A timeout that goes beyond what [`Instant`](crate::time::Instant) can hold waits without an end.
        $(#[$for_docs])*
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), "). ", $too_many)]
        #[inline]
        #[track_caller]
        pub fn $for($self: $Receiver $(, $permits: $usize)?, timeout: $crate::time::Duration) -> $Timed {
            let deadline = || $crate::time::Instant::now().checked_add(timeout);
            let hold = $crate::acquire::acquire_until::<Self>($self, move || $ask, deadline);
            $crate::acquire::Output::of(hold.map(|hold| hold.map($make)))
        }

        #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), until `deadline` at the latest.")]
        /// What can be had without waiting is acquired also after it.
        $(#[$until_docs])*
        ///
        /// # Errors
        #[doc = concat!(
            "[`TimedOut`](crate::", $Error, "::TimedOut), never before the deadline; [`BlockingForbidden`](crate::", $Error,
            "::BlockingForbidden) at once, if it would have to wait and this thread must not block", $closed, ". ", $too_many
        )]
        #[inline]
        #[track_caller]
        pub fn $until($self: $Receiver $(, $permits: $usize)?, deadline: $crate::time::Instant) -> $Timed {
            let hold = $crate::acquire::acquire_until::<Self>($self, move || $ask, || Some(deadline));
            $crate::acquire::Output::of(hold.map(|hold| hold.map($make)))
        }

        $(#[$async_docs])*
        ///
        /// # Fairness
        /// See [the type](Self#fairness). A poll tries and enqueues; it does not spin.
        ///
        /// # Panics
        #[doc = concat!("When polled again after it was ready. ", $too_many)]
        #[inline]
        #[track_caller]
        pub fn $async($self: $Receiver $(, $permits: $usize)?) -> $Future {
            $Name::new($($arg,)+ $crate::deadline::NoDeadline)
        }

        #[doc = concat!(
            "As [`", stringify!($async), "`](Self::", stringify!($async), "), for `timeout` at the longest, counted from this call."
        )]
        ///
        /// A timeout that goes beyond what [`Instant`](crate::time::Instant) can hold waits without an end.
        $(#[$async_for_docs])*
        ///
        /// # Errors, cancellation, panics
        #[doc = concat!("As [`", stringify!($async_until), "`](Self::", stringify!($async_until), ").")]
        #[track_caller]
        pub fn $async_for($self: $Receiver $(, $permits: $usize)?, timeout: $crate::time::Duration) -> $Until {
            $Name::new($($arg,)+ $crate::deadline::Until::after(timeout))
        }

        #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), "), until `deadline` at the latest.")]
        /// What can be had without waiting is acquired also after it. Needs no timer of the executor's.
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
        pub fn $async_until($self: $Receiver $(, $permits: $usize)?, deadline: $crate::time::Instant) -> $Until {
            $Name::new($($arg,)+ $crate::deadline::Until::new(Some(deadline)))
        }
    };
}

pub(crate) use grid;
