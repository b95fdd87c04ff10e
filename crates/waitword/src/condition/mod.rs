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
//! A thread drives the loop with [`block`], a task with [`WaitFor`], with a deadline or without. A thread that enqueues before it blocks
//! uses [`WaitFor::block_until`]. These waiters need no watchdog, because a task that is not polled does not delay the others. Only an
//! event's `notify_one` is for one waiter, like a message, and a waiter that gives up forwards it ([`Condition::give_up`]).

pub(crate) mod wait_for;

pub(crate) use wait_for::{Condition, WaitFor, block};

/// The methods that block for a time and until a time. `$waiter` is a [`Condition`].
macro_rules! blocking_waits {
    (
        $self:ident: $Receiver:ty => $waiter:expr;
        $(#[$for_docs:meta])*
        $wait_for:ident -> $Output:ty;
        $(#[$until_docs:meta])*
        $wait_until:ident, $has_not:literal;
    ) => {
        $(#[$for_docs])*
        ///
        /// A timeout beyond what [`Instant`](crate::time::Instant) can hold never expires.
        ///
        /// # Errors
        #[doc = concat!("As with [`", stringify!($wait_until), "`](Self::", stringify!($wait_until), ").")]
        #[track_caller]
        pub fn $wait_for(
            $self: $Receiver,
            timeout: waitword_core::time::Duration,
        ) -> Result<$Output, $crate::error::LockError> {
            let deadline = waitword_core::time::Instant::now().checked_add(timeout);
            $crate::condition::wait_for::block_until(&mut $waiter, deadline)
        }

        $(#[$until_docs])*
        ///
        /// # Errors
        /// - [`TimedOut`](crate::LockError::TimedOut), never before the deadline.
        /// - [`BlockingForbidden`](crate::LockError::BlockingForbidden), at once, if it would have to wait and this thread must not block.
        ///
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

/// The future of a condition over a reference to a lock, or over an `Arc` of it.
macro_rules! kept_wait {
    ($(#[$doc:meta])* $Name:ident: $Lock:ident over $Raw:ident by $Waiter:ident -> $Output:ty, $or:literal) => {
        pin_project_lite::pin_project! {
            $(#[$doc])*
            ///
            #[doc = concat!("`P` is a `&", stringify!($Lock), "` or an `Arc<", stringify!($Lock), ">`.")]
            #[must_use = "nothing is waited for until this is awaited: add `.await`, or wait without `_async` in a thread"]
            pub struct $Name<P, D = $crate::deadline::NoDeadline> {
                #[pin]
                kept: $crate::kept::Kept<P, $crate::condition::WaitFor<$Waiter<'static>, D>>,
            }
        }

        impl<P> $Name<P> {
            #[inline]
            #[track_caller]
            pub(crate) fn new(lock: P) -> Self
            where
                P: $crate::kept::Keeper<Target: $crate::handle::HasRaw<Raw = $Raw>>,
            {
                let caller = waitword_core::observe::Caller::here();
                let wait = |raw| $crate::condition::WaitFor::from_caller(caller, $Waiter::new(raw));
                Self { kept: $crate::kept::Kept::new(lock, wait) }
            }
        }

        impl<P> $Name<P> {
            fn until(self, deadline: $crate::deadline::Until) -> $Name<P, $crate::deadline::Until> {
                $Name { kept: self.kept.map(|wait| wait.until(deadline)) }
            }
        }

        impl<P, D> $Name<P, D> {
            fn is_waiting(&self) -> bool {
                self.kept.get().is_waiting()
            }
        }

        impl<P, D: $crate::deadline::Deadline> $Name<P, D> {
            fn poll_either(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<$Output, D::Error>> {
                std::future::Future::poll(self.project().kept.wait(), cx)
            }
        }

        $crate::deadline::gives_up! {
            [P,] $Name[P], concat!("a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut)", $or, ",")
        }
        $crate::deadline::polls_either! { [P] $Name[P]: $Output, Result<$Output, $crate::error::LockError> }
    };
}

pub(crate) use {blocking_waits, kept_wait};
