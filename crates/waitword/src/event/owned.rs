//! The waits over an `Arc`: futures and listeners that have a share in the event, and borrow nothing.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::condition::{WaitFor, WaitUntil};
use crate::event::raw::EventWaiter;
use crate::event::{Event, EventWaitOwned, EventWaitOwnedUntil, OwnedEventListener};

/// # Over an `Arc`
/// The futures and the listeners of these methods have a share in the event and are `'static`. So they can be stored in a struct
/// beside it: what a `Stream`, a `poll_ready` or any other hand-written `poll_*` needs, because one of their waits may
/// take many calls. Pinned in a field, or in a box that is [set](std::pin::Pin::set) anew for each wait, they allocate nothing.
///
/// ```
/// use std::future::Future;
/// use std::pin::Pin;
/// use std::sync::Arc;
/// use std::task::{Context, Poll};
/// use waitword::Event;
/// use waitword::future::EventWaitOwned;
///
/// /// Is ready once for each wakeup.
/// struct Wakeups {
///     event: Arc<Event>,
///     wait: Pin<Box<EventWaitOwned>>,
/// }
///
/// impl Wakeups {
///     fn new(event: Arc<Event>) -> Self {
///         let wait = Box::pin(event.wait_owned_async());
///         Self { event, wait }
///     }
///
///     // As `Stream::poll_next` does.
///     fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<()> {
///         let polled = self.wait.as_mut().poll(cx);
///         if polled.is_ready() {
///             // The next wait, in the place of the last.
///             self.wait.set(self.event.wait_owned_async());
///         }
///         polled
///     }
/// }
///
/// # smol::block_on(async {
/// let event = Arc::new(Event::new());
/// let mut wakeups = Wakeups::new(Arc::clone(&event));
/// for _ in 0..3 {
///     event.notify_one();
///     std::future::poll_fn(|cx| wakeups.poll_next(cx)).await;
/// }
/// # });
/// ```
///
/// They take the `Arc` by reference. Each wait holds one more share, and another while it is queued.
impl Event {
    /// As [`wait_async`](Self::wait_async), with a future that has a share in the event.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    ///
    /// let event = Arc::new(waitword::Event::new());
    /// let woken = smol::spawn(event.wait_owned_async());
    /// event.notify_all();
    /// woken.await;
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async).
    #[doc(alias("notified_owned", "wait_async_owned", "wait_arc"))]
    #[track_caller]
    pub fn wait_owned_async(self: &Arc<Self>) -> EventWaitOwned {
        EventWaitOwned::of(WaitFor::new(EventWaiter::new(Arc::clone(self))))
    }

    /// As [`wait_async_for`](Self::wait_async_for), with a future that has a share in the event.
    ///
    /// # Errors
    /// As [`wait_async_until`](Self::wait_async_until).
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_for(self: &Arc<Self>, timeout: Duration) -> EventWaitOwnedUntil {
        let waiter = EventWaiter::new(Arc::clone(self));
        EventWaitOwnedUntil::of(WaitUntil::new(waiter, Instant::now().checked_add(timeout)))
    }

    /// As [`wait_async_until`](Self::wait_async_until), with a future that has a share in the event.
    ///
    /// # Errors
    /// [`TimedOut`](crate::LockError::TimedOut), never before the deadline.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_until(self: &Arc<Self>, deadline: Instant) -> EventWaitOwnedUntil {
        EventWaitOwnedUntil::of(WaitUntil::new(EventWaiter::new(Arc::clone(self)), Some(deadline)))
    }

    /// As [`listen`](Self::listen), with a listener that has a share in the event.
    ///
    /// ```
    /// use std::pin::Pin;
    /// use std::sync::Arc;
    /// use waitword::{Event, OwnedEventListener};
    ///
    /// /// Waits in one call, and listens between the calls.
    /// struct Follower {
    ///     changed: Pin<Box<OwnedEventListener>>,
    /// }
    ///
    /// let event = Arc::new(Event::new());
    /// let mut follower = Follower { changed: Box::pin(event.listen_owned()) };
    /// let thread = std::thread::spawn(move || follower.changed.as_mut().wait());
    /// event.notify_all();
    /// thread.join().unwrap();
    /// ```
    #[doc(alias = "listen_arc")]
    #[track_caller]
    pub fn listen_owned(self: &Arc<Self>) -> OwnedEventListener {
        OwnedEventListener::of(Arc::clone(self))
    }
}
