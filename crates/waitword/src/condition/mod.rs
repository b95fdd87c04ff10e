//! The wait loop for conditions whose waiters do not compete: check; if it does not hold, wait while the word is unchanged.
//!
//! ```text
//!   waiter                                   notifier
//!   ───────────────────────────────          ───────────────────────────────
//!   check: the word says no
//!                                            word = yes; notify
//!   wait while the word says no:
//!   it has changed → check: yes
//! ```
//! The queue makes compare and enqueue one step against every notify. A condition has to change the word whenever it changes
//! the answer, and to notify after that or in the same step.
//!
//! A thread drives the loop with [`block`], a task with [`WaitFor`], with a deadline or without; a thread that begins before it
//! blocks, with [`WaitFor::block_until`]. These waiters need no watchdog, because a task that is not polled does not delay the others.
//! Only an event's `notify_one` is for one waiter, as a message would be; a waiter that gives up forwards it
//! ([`Condition::give_up`]).

pub(crate) mod wait_for;

pub(crate) use wait_for::{Condition, WaitFor, block, block_until, must_not_block};

/// The methods beside `$wait` that block for a time and until a time. `$waiter` is a [`Condition`].
macro_rules! blocking_waits {
    (
        $self:ident: $Receiver:ty => $waiter:expr;
        $wait:ident -> $Output:ty;
        $(#[$for_docs:meta])*
        $wait_for:ident;
        $(#[$until_docs:meta])*
        $wait_until:ident, $has_not:literal;
    ) => {
        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), "), for at most `timeout`.")]
        ///
        /// A timeout beyond what [`Instant`](crate::time::Instant) can hold never expires.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($wait_until), "`](Self::", stringify!($wait_until), ").")]
        $(#[$for_docs])*
        #[track_caller]
        pub fn $wait_for(
            $self: $Receiver,
            timeout: waitword_core::time::Duration,
        ) -> Result<$Output, $crate::error::LockError> {
            let deadline = waitword_core::time::Instant::now().checked_add(timeout);
            $crate::condition::wait_for::block_until(&mut $waiter, deadline)
        }

        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), "), until `deadline` at the latest.")]
        $(#[$until_docs])*
        ///
        /// # Errors
        /// [`TimedOut`](crate::LockError::TimedOut), never before the deadline;
        /// [`BlockingForbidden`](crate::LockError::BlockingForbidden) at once, if it would have to wait and this thread must not block.
        #[doc = $has_not]
        #[track_caller]
        pub fn $wait_until(
            $self: $Receiver,
            deadline: waitword_core::time::Instant,
        ) -> Result<$Output, $crate::error::LockError> {
            $crate::condition::wait_for::block_until(&mut $waiter, Some(deadline))
        }
    };
}

/// The methods that return futures: without a deadline, for a time, and until a time.
macro_rules! waits_as_futures {
    (
        $self:ident: $Receiver:ty => $Name:ident of $waiter:expr;
        $(#[$wait_docs:meta])*
        $wait:ident -> $Future:ty;
        $(#[$for_docs:meta])*
        $wait_for:ident;
        $(#[$until_docs:meta])*
        $wait_until:ident -> $Until:ty, $has_not:literal;
    ) => {
        $(#[$wait_docs])*
        #[track_caller]
        pub fn $wait($self: $Receiver) -> $Future {
            $Name::of($waiter, $crate::deadline::NoDeadline)
        }

        #[doc = concat!(
            "As [`", stringify!($wait), "`](Self::", stringify!($wait), "), for at most `timeout`, counted from this call."
        )]
        ///
        /// A timeout beyond what [`Instant`](crate::time::Instant) can hold never expires.
        ///
        /// # Errors, cancellation, panics
        #[doc = concat!("As [`", stringify!($wait_until), "`](Self::", stringify!($wait_until), ").")]
        $(#[$for_docs])*
        #[track_caller]
        pub fn $wait_for($self: $Receiver, timeout: waitword_core::time::Duration) -> $Until {
            $Name::of($waiter, $crate::deadline::Until::after(timeout))
        }

        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), "), until `deadline` at the latest.")]
        $(#[$until_docs])*
        ///
        /// # Errors
        /// [`TimedOut`](crate::LockError::TimedOut), never before the deadline.
        #[doc = $has_not]
        ///
        /// # Cancellation
        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), ").")]
        ///
        /// # Panics
        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), ");")]
        /// and when it has to wait, if it is the first in the process to wait with a deadline and the system cannot start the timer
        /// thread.
        #[track_caller]
        pub fn $wait_until($self: $Receiver, deadline: waitword_core::time::Instant) -> $Until {
            $Name::of($waiter, $crate::deadline::Until::new(Some(deadline)))
        }
    };
}

/// The futures of a condition, without a deadline and with one, under names of their own.
macro_rules! named_future {
    (
        $(#[$doc:meta])*
        pub struct $Name:ident[$($generic:tt),*]($Condition:ty) -> $Output:ty
            $(where $bounded:ident: $bound:path)?;
        $(#[$until_doc:meta])*
        pub type $Until:ident;
    ) => {
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[must_use = "nothing is waited for until this is awaited: add `.await`, or wait without `_async` in a thread"]
            pub struct $Name<$($generic,)* D = $crate::deadline::NoDeadline>
            $(where $bounded: $bound)?
            {
                #[pin]
                wait: $crate::condition::wait_for::WaitFor<$Condition, D>,
            }
        }

        impl<$($generic,)* D> $Name<$($generic,)* D>
        $(where $bounded: $bound)?
        {
            #[track_caller]
            pub(crate) fn of(condition: $Condition, deadline: D) -> Self {
                Self { wait: $crate::condition::wait_for::WaitFor::new(condition, deadline) }
            }
        }

        impl<$($generic,)* D: $crate::deadline::Deadline> $Name<$($generic,)* D>
        $(where $bounded: $bound)?
        {
            fn poll_either(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<$Output, D::Error>> {
                std::future::Future::poll(self.project().wait, cx)
            }
        }

        $crate::deadline::with_and_without_deadline! {
            [$($generic,)*] $Name[$($generic),*] $(where $bounded: $bound)?;
            $(#[$until_doc])*
            $Until[$($generic),*];
            $Output, Result<$Output, $crate::error::LockError>; waits by wait
        }
    };
}

pub(crate) use {blocking_waits, named_future, waits_as_futures};
