//! The waits of an event that begin before they block, or never do: listeners and futures, borrowed and over an `Arc`.

use std::pin::Pin;
use std::sync::Arc;

use crate::condition::kept_wait;
use crate::deadline::Deadline;
use crate::event::Event;
use crate::event::listener::{EventListener, OwnedEventListener};
use crate::event::raw::{EventWaiter, RawEvent};

impl Event {
    /// Creates a listener: a wait of this thread that begins now and blocks later. Check in between whether to wait at all.
    ///
    /// A [`notify_all`](Self::notify_all) wakes the listener from now on. For [`notify_one`](Self::notify_one) it is queued from its first
    /// [`wait`](EventListener::wait) or [`enable`](EventListener::enable) on.
    ///
    /// ```
    /// let event = waitword::Event::new();
    /// let mut listener = std::pin::pin!(event.listen());
    /// event.notify_all();
    /// // Returns at once. A wait that began here would block.
    /// listener.as_mut().wait();
    /// ```
    #[doc(alias("subscribe", "listener", "prepare_wait"))]
    #[track_caller]
    pub fn listen(&self) -> EventListener<'_> {
        EventListener::of(self)
    }

    /// Waits until woken by a notify, without blocking this thread. If a wakeup is stored, the first poll consumes it and is ready.
    ///
    /// A [`notify_all`](Self::notify_all) wakes the future from now on. For [`notify_one`](Self::notify_one) it is queued from its first poll
    /// or [`enable`](EventWait::enable) on.
    ///
    /// # Cancellation
    /// Dropping the future dequeues it. A wakeup of `notify_one` that it had received is forwarded to the next waiter,
    /// or stored if there is none. That holds even if `notify_all` was called in between. A wakeup of `notify_last` is forwarded to the tail of the queue at that time.
    ///
    /// # With a timeout
    /// See [`EventWait::timeout`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{Event, LockError};
    ///
    /// # smol::block_on(async {
    /// let event = Event::new();
    /// assert_eq!(event.wait_async().timeout(Duration::from_millis(1)).await, Err(LockError::TimedOut));
    /// event.notify_one();
    /// assert_eq!(event.wait_async().timeout(Duration::ZERO).await, Ok(()));
    /// # });
    /// ```
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[doc(alias("notified", "subscribe"))]
    #[inline]
    #[track_caller]
    pub fn wait_async(&self) -> EventWait<&Self> {
        EventWait::new(self)
    }
}

/// # Over an `Arc`
/// The futures and the listeners of these methods hold an `Arc` of the event and are `'static`, so they can be stored in a struct
/// beside it. A `Stream`, a `poll_ready` or any other hand-written `poll_*` needs that, because one wait may take many calls.
/// Pinned in a field, or in a box that is [set](std::pin::Pin::set) anew for each wait, they allocate nothing.
///
/// ```
/// use std::future::Future;
/// use std::pin::Pin;
/// use std::sync::Arc;
/// use std::task::{Context, Poll};
/// use waitword::Event;
/// use waitword::future::EventWait;
///
/// /// Is ready once for each wakeup.
/// struct Wakeups {
///     event: Arc<Event>,
///     wait: Pin<Box<EventWait<Arc<Event>>>>,
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
///             // The next wait replaces the last in its box.
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
/// The methods take the `Arc` by reference and clone it for each wait.
impl Event {
    /// Waits until woken by a notify, without blocking this thread, with a future that holds an `Arc` of the event.
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
    /// # Cancellation, panics
    /// As with [`wait_async`](Self::wait_async).
    #[doc(alias("notified_owned", "wait_async_owned", "wait_arc"))]
    #[track_caller]
    pub fn wait_owned_async(self: &Arc<Self>) -> EventWait<Arc<Self>> {
        EventWait::new(Arc::clone(self))
    }

    /// Creates a listener that holds an `Arc` of the event. Otherwise it is like [`listen`](Self::listen).
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

kept_wait! {
    /// The future returned by [`Event::wait_async`] and [`Event::wait_owned_async`].
    #[doc(alias("Notified", "OwnedNotified", "EventListener"))]
    EventWait: Event over RawEvent by EventWaiter -> (), ""
}

impl<P, D: Deadline> EventWait<P, D> {
    /// Enqueues for [`notify_one`](crate::Event::notify_one) without awaiting. Returns `true` if nothing is left to wait for.
    ///
    /// That is so if the future has received a wakeup, so that the next poll is ready; or if the future was ready before, even by a timeout.
    ///
    /// Use this for several waiters that need one wakeup each: two queued waiters receive two wakeups, but of two wakeups that come before
    /// any waiter is queued only one is stored. A deadline takes effect with the first poll.
    ///
    /// # Cancellation
    /// A future that is dropped after the first `true` has not consumed the wakeup: the wakeup is forwarded.
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
    /// assert!(one.enable(), "it was ready");
    /// # });
    /// ```
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().kept.wait().enable()
    }
}
