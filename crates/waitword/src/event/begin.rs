//! The waits of an event that begin before they block, or never do: listeners and futures.

use waitword_core::time::{Duration, Instant};

use super::futures::{EventWait, EventWaitUntil};
use super::listener::EventListener;
use super::raw::EventWaiter;
use super::source::Event;
use crate::condition::{WaitFor, WaitUntil};

impl Event {
    /// Begins a wait of this thread, which blocks later: in between, check whether there is anything to wait for.
    ///
    /// The listener waits for [`notify_all`](Self::notify_all) from now on, and is queued for
    /// [`notify_one`](Self::notify_one) from its first [`wait`](EventListener::wait) or [`enable`](EventListener::enable) on.
    ///
    /// ```
    /// let event = waitword::Event::new();
    /// let mut listener = std::pin::pin!(event.listen());
    /// event.notify_all();
    /// // It would have slept if it had begun to wait now.
    /// listener.as_mut().wait();
    /// ```
    #[doc(alias("subscribe", "listener", "prepare_wait"))]
    #[track_caller]
    pub fn listen(&self) -> EventListener<'_> {
        EventListener::of(&self.raw)
    }

    /// Waits for a wakeup without blocking this thread. Takes the stored one, if there is one, at its first poll.
    ///
    /// The future waits for [`notify_all`](Self::notify_all) from now on, and is queued for
    /// [`notify_one`](Self::notify_one) from its first poll or [`enable`](EventWait::enable) on.
    ///
    /// # Cancellation
    /// Dropping the future dequeues it. A wakeup of `notify_one` that it had got is forwarded to the next waiter,
    /// or stored, also after a later `notify_all`. A wakeup of `notify_last` goes to the tail of the queue at that time.
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[doc(alias("notified", "subscribe"))]
    #[track_caller]
    pub fn wait_async(&self) -> EventWait<'_> {
        EventWait::of(WaitFor::new(EventWaiter::new(&self.raw)))
    }

    /// As [`wait_async`](Self::wait_async), for `timeout` at the longest, counted from this call.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// # Errors
    /// As [`wait_async_until`](Self::wait_async_until).
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[doc(alias = "wait_timeout_async")]
    #[track_caller]
    pub fn wait_async_for(&self, timeout: Duration) -> EventWaitUntil<'_> {
        EventWaitUntil::of(WaitUntil::new(EventWaiter::new(&self.raw), Instant::now().checked_add(timeout)))
    }

    /// As [`wait_async`](Self::wait_async), until `deadline` at the latest. A wakeup that is there when the future is
    /// polled is taken also after it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{Event, LockError};
    ///
    /// # smol::block_on(async {
    /// let event = Event::new();
    /// assert_eq!(event.wait_async_for(Duration::from_millis(1)).await, Err(LockError::TIMED_OUT));
    /// event.notify_one();
    /// assert_eq!(event.wait_async_for(Duration::ZERO).await, Ok(()));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`](crate::LockError::TimedOut), never before the deadline.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async); and if it is the first in the process to wait with a deadline and the
    /// system cannot start the thread that keeps the time.
    #[track_caller]
    pub fn wait_async_until(&self, deadline: Instant) -> EventWaitUntil<'_> {
        EventWaitUntil::of(WaitUntil::new(EventWaiter::new(&self.raw), Some(deadline)))
    }
}
