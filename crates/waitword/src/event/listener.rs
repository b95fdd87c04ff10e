//! A thread's wait that has begun before the thread blocks.
//!
//! ```text
//!   thread                                   notifier
//!   ───────────────────────────────          ───────────────────────────────
//!   checks: not yet
//!                                            changes it; notify_all: no waiter
//!   wait: sleeps for ever
//!
//!   listen: remembers the round
//!   checks: not yet
//!                                            changes it; notify_all: a new round
//!   wait: not the round that it
//!   remembers; rechecks
//! ```
//! A wait that ends begins to listen anew before its caller can check. So the loop *check, wait, check, wait* misses nothing.
//!
//! In the queue, a listener is like a task's future, driven by this thread: it contains its node, and is pinned.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use waitword_core::time::{Duration, Instant};

use pin_project_lite::pin_project;
use waitword_core::observe::Caller;

use crate::condition::WaitFor;
use crate::error::{LockError, would_block};
use crate::event::Event;
use crate::event::raw::{EventWaiter, RawEvent};
use crate::kept::Kept;
use crate::sync::mutant;

pin_project! {
    /// What both kinds of listener do.
    struct Listening<'a> {
        event: &'a RawEvent,
        #[pin]
        wait: WaitFor<EventWaiter<'a>>,
    }
}

impl<'a> Listening<'a> {
    /// Listens from the current round on.
    fn of(event: &'a RawEvent, caller: Caller) -> Self {
        Self { event, wait: WaitFor::from_caller(caller, EventWaiter::new(event)) }
    }

    /// Listens from the current round on, for another wait.
    fn again(self: Pin<&mut Self>) {
        let mut this = self.project();
        let caller = this.wait.caller();
        this.wait.set(WaitFor::from_caller(caller, EventWaiter::new(this.event)));
    }
}

/// A listener that reaches its event by a `$Handle`. A task has `$wait_async` instead.
macro_rules! listener {
    ($(#[$docs:meta])* $Listener:ident$(<$life:lifetime>)? to $Handle:ty, as $wait_async:literal) => {
        pin_project! {
            $(#[$docs])*
            #[doc(alias = "Listener")]
            #[must_use = "a listener does nothing unless it is waited for"]
            pub struct $Listener$(<$life>)? {
                #[pin]
                kept: Kept<$Handle, Listening<'static>>,
            }
        }

        impl$(<$life>)? $Listener$(<$life>)? {
            #[track_caller]
            pub(super) fn of(event: $Handle) -> Self {
                let caller = Caller::here();
                Self { kept: Kept::new(event, |event| Listening::of(event, caller)) }
            }

            /// Waits for a wakeup, blocking this thread: for one since it began to listen, or for the stored one.
            ///
            /// # Panics
            #[doc = concat!(
                "If it would have to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use [`Event::",
                $wait_async, "`](crate::Event::", $wait_async, ") there."
            )]
            #[track_caller]
            pub fn wait(self: Pin<&mut Self>) {
                if self.block(None).is_err() {
                    would_block(concat!("Event::", $wait_async));
                }
            }

            /// Takes the wakeup that [`wait`](Self::wait) would return with at once, if there is one, and returns whether there was. Never
            /// waits, but enqueues.
            #[must_use = "if it is `true`, a wakeup has been taken"]
            pub fn try_wait(self: Pin<&mut Self>) -> bool {
                let mut listening = self.project().kept.wait();
                let wait = listening.as_mut().project().wait;
                let is_woken = wait.try_finish(&mut Context::from_waker(Waker::noop())).is_some();
                if is_woken {
                    listening.again();
                }
                is_woken
            }

            /// As [`wait`](Self::wait), for at most `timeout`.
            ///
            /// A timeout beyond what [`Instant`] can hold never expires.
            ///
            /// # Errors
            /// As [`wait_until`](Self::wait_until).
            #[doc(alias = "wait_timeout")]
            #[track_caller]
            pub fn wait_for(self: Pin<&mut Self>, timeout: Duration) -> Result<(), LockError> {
                self.block(Instant::now().checked_add(timeout))
            }

            /// As [`wait`](Self::wait), until `deadline` at the latest. A wakeup that is there is taken even after the deadline.
            ///
            /// ```
            /// use std::pin::pin;
            /// use std::time::Duration;
            /// use waitword::{Event, LockError};
            ///
            /// let event = Event::new();
            /// let mut listener = pin!(event.listen());
            /// assert_eq!(listener.as_mut().wait_for(Duration::from_millis(1)), Err(LockError::TimedOut));
            /// // It still listens, in its position.
            /// event.notify_one();
            /// assert_eq!(listener.wait_for(Duration::ZERO), Ok(()));
            /// assert!(!event.try_wait());
            /// ```
            ///
            /// # Errors
            /// [`TimedOut`](LockError::TimedOut), never before the deadline; [`BlockingForbidden`](LockError::BlockingForbidden)
            /// at once, if it would have to wait on a thread that must not. In both cases it stays queued.
            #[doc(alias = "wait_deadline")]
            #[track_caller]
            pub fn wait_until(self: Pin<&mut Self>, deadline: Instant) -> Result<(), LockError> {
                self.block(Some(deadline))
            }

            /// Enqueues for [`notify_one`](crate::Event::notify_one) without waiting. Returns whether there is a wakeup already:
            /// then the next wait returns at once.
            ///
            /// For several waiters that need one wakeup each: two queued waiters get two wakeups, but of two wakeups that come before
            /// any waiter is queued only one is stored.
            ///
            /// # Cancellation
            /// A listener that is dropped after `true` has not taken the wakeup: the wakeup is forwarded.
            pub fn enable(self: Pin<&mut Self>) -> bool {
                self.project().kept.wait().project().wait.enable()
            }

            #[track_caller]
            fn block(self: Pin<&mut Self>, deadline: Option<Instant>) -> Result<(), LockError> {
                let mut listening = self.project().kept.wait();
                mutant!("event-listen" => if !listening.wait.is_waiting() { listening.as_mut().again() });
                listening.as_mut().project().wait.block_until(deadline)?;
                listening.again();
                Ok(())
            }
        }

        /// Shows whether it is in the queue.
        impl$(<$life>)? fmt::Debug for $Listener$(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let waiting = self.kept.get().wait.is_waiting();
                f.debug_struct(stringify!($Listener)).field("waiting", &waiting).finish_non_exhaustive()
            }
        }
    };
}

listener! {
    /// A wait of a thread for an [`Event`](crate::Event) that has begun, and may block later.
    ///
    /// It listens from the moment that it is made ([`Event::listen`](crate::Event::listen)), and anew from the moment that one
    /// of its waits has ended. A thread that checks its condition in between misses no
    /// [`notify_all`](crate::Event::notify_all):
    ///
    /// ```
    /// # use std::{pin::pin, sync::atomic::{AtomicUsize, Ordering}, thread};
    /// use waitword::Event;
    ///
    /// let (done, changed) = (AtomicUsize::new(0), Event::new());
    /// thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| {
    ///             done.fetch_add(1, Ordering::Relaxed);
    ///             changed.notify_all();
    ///         });
    ///     }
    ///     let mut listener = pin!(changed.listen());
    ///     while done.load(Ordering::Relaxed) < 3 {
    ///         listener.as_mut().wait();
    ///     }
    /// });
    /// ```
    ///
    /// It is pinned where it is, on the stack with [`pin!`](std::pin::pin), and allocates nothing. A task has the
    /// [future](crate::Event::wait_async) instead.
    ///
    /// # In the queue
    /// [`notify_one`](crate::Event::notify_one) is for the queued waiters. A listener enqueues at its first wait or at
    /// [`enable`](Self::enable), and stays queued until it is woken or dropped, also if a wait times out: the next wait keeps
    /// the position.
    ///
    /// # Cancellation
    /// Dropping it dequeues it. A wakeup of `notify_one` that it had got, and that no wait has returned, is forwarded, as
    /// that of a [future](crate::Event::wait_async).
    EventListener<'a> to &'a Event, as "wait_async"
}

listener! {
    /// As [`EventListener`], with an `Arc` of the event. Made by [`Event::listen_owned`](crate::Event::listen_owned).
    ///
    /// It borrows nothing, so a struct that waits in many calls can store it, pinned in a box.
    OwnedEventListener to Arc<Event>, as "wait_owned_async"
}
