//! The futures of the event, and enqueueing without awaiting.

use std::pin::Pin;
use std::sync::Arc;

use crate::condition::{WaitFor, WaitUntil, named_future};
use crate::error::LockError;
use crate::event::Event;
use crate::event::raw::{EventWaiter, RawEvent};
use crate::sync::atomic::AtomicU64;

named_future! {
    /// The future of [`Event::wait_async`](crate::Event::wait_async).
    #[doc(alias("Notified", "EventListener"))]
    pub struct EventWait<'a>(WaitFor<EventWaiter<&'a RawEvent<AtomicU64>>>) -> ();
}

named_future! {
    /// The future of [`Event::wait_async_for`](crate::Event::wait_async_for) and
    /// [`Event::wait_async_until`](crate::Event::wait_async_until).
    pub struct EventWaitUntil<'a>(WaitUntil<EventWaiter<&'a RawEvent<AtomicU64>>>) -> Result<(), LockError>;
}

named_future! {
    /// The future of [`Event::wait_owned_async`](crate::Event::wait_owned_async).
    #[doc(alias = "OwnedNotified")]
    pub struct EventWaitOwned(WaitFor<EventWaiter<Arc<Event>>>) -> ();
}

named_future! {
    /// The future of [`Event::wait_owned_async_for`](crate::Event::wait_owned_async_for) and
    /// [`Event::wait_owned_async_until`](crate::Event::wait_owned_async_until).
    pub struct EventWaitOwnedUntil(WaitUntil<EventWaiter<Arc<Event>>>) -> Result<(), LockError>;
}

impl EventWait<'_> {
    /// Enqueues for [`notify_one`](crate::Event::notify_one) without awaiting. Returns whether there is nothing left to wait
    /// for: a wakeup is there, and the next poll is ready; or the future was ready before.
    ///
    /// For several waiters that need one wakeup each: two queued waiters get two wakeups, but of two wakeups that come before
    /// any waiter is queued only one is stored.
    ///
    /// # Cancellation
    /// A future that is dropped after the first `true` has not taken the wakeup: the wakeup is forwarded.
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// # smol::block_on(async {
    /// let event = waitword::Event::new();
    /// let (mut one, mut two) = (pin!(event.wait_async()), pin!(event.wait_async()));
    /// assert!(!one.as_mut().enable() && !two.as_mut().enable());
    /// event.notify_one();
    /// event.notify_one();
    /// one.as_mut().await;
    /// two.await;
    /// assert!(one.enable(), "it has been ready");
    /// # });
    /// ```
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enable()
    }
}

impl EventWaitUntil<'_> {
    /// As [`EventWait::enable`]. The deadline takes effect with the first poll; a wait that has timed out is over, too, and this
    /// returns `true`.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enable()
    }
}

impl EventWaitOwned {
    /// As [`EventWait::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enable()
    }
}

impl EventWaitOwnedUntil {
    /// As [`EventWaitUntil::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enable()
    }
}
