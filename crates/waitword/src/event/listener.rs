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
            #[must_use = "a listener does nothing until its `wait` is called"]
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

            /// Blocks this thread until woken by a notify. Returns at once if there was a `notify_all` since it began to listen,
            /// or if a wakeup is stored.
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

            /// Consumes the wakeup with which [`wait`](Self::wait) would return at once, and returns `true` if there was one. Never waits.
            /// On `false`, the listener is queued from then on, for a later `notify_one`.
            #[must_use = "on `true`, a wakeup was consumed"]
            pub fn try_wait(self: Pin<&mut Self>) -> bool {
                let mut listening = self.project().kept.wait();
                let wait = listening.as_mut().project().wait;
                let is_woken = wait.try_finish(&mut Context::from_waker(Waker::noop())).is_some();
                if is_woken {
                    listening.again();
                }
                is_woken
            }

            /// Blocks this thread until woken by a notify, or until `timeout` has elapsed.
            ///
            /// A timeout beyond what [`Instant`] can hold never expires.
            ///
            /// # Errors
            /// As with [`wait_until`](Self::wait_until).
            #[doc(alias = "wait_timeout")]
            #[track_caller]
            pub fn wait_for(self: Pin<&mut Self>, timeout: Duration) -> Result<(), LockError> {
                self.block(Instant::now().checked_add(timeout))
            }

            /// Blocks this thread until woken by a notify, or until `deadline`. A wakeup is consumed even after the deadline.
            ///
            /// ```
            /// use std::pin::pin;
            /// use std::time::Duration;
            /// use waitword::{Event, LockError};
            ///
            /// let event = Event::new();
            /// let mut listener = pin!(event.listen());
            /// assert_eq!(listener.as_mut().wait_for(Duration::from_millis(1)), Err(LockError::TimedOut));
            /// // It still listens, and keeps its position.
            /// event.notify_one();
            /// assert_eq!(listener.wait_for(Duration::ZERO), Ok(()));
            /// assert!(!event.try_wait());
            /// ```
            ///
            /// # Errors
            /// - [`TimedOut`](LockError::TimedOut), never before the deadline.
            /// - [`BlockingForbidden`](LockError::BlockingForbidden), at once, if it would have to wait and this thread must not block.
            ///
            /// In both cases the listener stays queued.
            #[doc(alias = "wait_deadline")]
            #[track_caller]
            pub fn wait_until(self: Pin<&mut Self>, deadline: Instant) -> Result<(), LockError> {
                self.block(Some(deadline))
            }

            /// Enqueues for [`notify_one`](crate::Event::notify_one) without waiting. Returns `true` if it has received a wakeup, so that the next
            /// wait returns at once.
            ///
            /// Use this for several waiters that need one wakeup each: two queued waiters receive two wakeups, but of two wakeups that come
            /// before any waiter is queued only one is stored.
            ///
            /// # Cancellation
            /// A listener that is dropped after `true` has not consumed the wakeup: the wakeup is forwarded.
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

        /// Shows whether it is queued.
        impl$(<$life>)? fmt::Debug for $Listener$(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let waiting = self.kept.get().wait.is_waiting();
                f.debug_struct(stringify!($Listener)).field("waiting", &waiting).finish_non_exhaustive()
            }
        }
    };
}

listener! {
    /// A thread's wait for an [`Event`](crate::Event), which has begun and may block later. Returned by [`Event::listen`](crate::Event::listen).
    ///
    /// It listens from its creation on, and after each of its waits again. A thread that checks its condition in between
    /// misses no [`notify_all`](crate::Event::notify_all):
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
    /// It has to be pinned, for instance on the stack with [`pin!`](std::pin::pin), and allocates nothing. A task uses the
    /// [future](crate::Event::wait_async) instead.
    ///
    /// # In the queue
    /// [`notify_one`](crate::Event::notify_one) wakes queued waiters. A listener enqueues at its first wait or at
    /// [`enable`](Self::enable), and stays queued until it is woken or dropped. After a wait that timed out it keeps its position for the
    /// next wait.
    ///
    /// # Cancellation
    /// Dropping the listener dequeues it. A wakeup of `notify_one` that it had received, and that no wait has consumed, is forwarded, as
    /// when a [future](crate::Event::wait_async) is dropped.
    EventListener<'a> to &'a Event, as "wait_async"
}

listener! {
    /// An [`EventListener`] that holds an `Arc` of the event. Returned by [`Event::listen_owned`](crate::Event::listen_owned).
    ///
    /// It borrows nothing, so a struct can store it, pinned in a box, from call to call.
    OwnedEventListener to Arc<Event>, as "wait_owned_async"
}
