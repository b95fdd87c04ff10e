//! The futures of the event, and how one gets in line without awaiting.

use std::pin::Pin;
use std::task::{Context, Waker};

use crate::condition::{WaitFor, WaitUntil, named_future};
use crate::error::LockError;
use crate::event::raw::EventWaiter;
use crate::sync::atomic::AtomicU64;

named_future! {
    /// The future of [`Event::wait_async`](crate::Event::wait_async).
    #[doc(alias("Notified", "EventListener"))]
    pub struct EventWait<'a>(WaitFor<EventWaiter<'a, AtomicU64>>) -> ();
}

named_future! {
    /// The future of [`Event::wait_async_for`](crate::Event::wait_async_for) and [`Event::wait_async_until`](crate::Event::wait_async_until).
    pub struct EventWaitUntil<'a>(WaitUntil<EventWaiter<'a, AtomicU64>>) -> Result<(), LockError>;
}

impl EventWait<'_> {
    /// Gets in line for [`notify_one`](crate::Event::notify_one) without awaiting. Returns whether there was a wakeup
    /// already: then the next poll is ready.
    ///
    /// For those who wait side by side, each for one wakeup: two that are in line get two, whereas of two wakeups that
    /// come before anybody is in line only one is stored.
    ///
    /// # Cancellation
    /// Whoever drops the future after `true` has not taken the wakeup: it is passed on.
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
    /// one.await;
    /// two.await;
    /// # });
    /// ```
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.advance(&mut Context::from_waker(Waker::noop()))
    }
}

impl EventWaitUntil<'_> {
    /// As [`EventWait::enable`]. The deadline takes effect with the first poll.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.advance(&mut Context::from_waker(Waker::noop()))
    }
}
