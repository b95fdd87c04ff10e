//! The event: the public API. Its word is in `raw.rs`, the wait loop in `condition`.
//!
//! An event closes the race between checking a condition and waiting for it to change:
//!
//! ```text
//!   consumer                                 producer
//!   ───────────────────────────────          ───────────────────────────────
//!   the list is empty
//!                                            push; notify_one: no waiter
//!                                            → the wakeup is stored
//!   wait: takes what is stored, and
//!   rechecks
//! ```
//! With `notify_all`, which stores nothing, the consumer makes its future first and checks then: a future counts as
//! waiting from the moment that it is made. The equivalent for a thread is in `listener.rs`.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
mod new {
    use super::{Event, RawEvent, const_fn};

    impl Event {
        const_fn! {
            /// Creates an event without a stored wakeup.
            #[doc(alias = "const_new")]
            pub const fn new() -> Self {
                Self { raw: RawEvent::new() }
            }
        }
    }
}

pub(crate) mod listener;
pub(crate) mod raw;
pub(crate) mod waits;

use std::fmt;

use crate::condition::{block, blocking_waits};
use crate::event::raw::{EventWaiter, RawEvent, Whom};
use crate::handle::has_raw;
use crate::holders::{noted, tells_its_drop};
use crate::sync::const_fn;

/// An event that threads and tasks wait for, in one queue, and that wakes one waiter or all.
///
/// It tells a waiter *that* something happened; the waiter checks what. If there is no waiter, [`notify_one`](Self::notify_one) stores its
/// wakeup, so that the next wait returns at once. At most one wakeup is stored.
/// [`notify_all`](Self::notify_all) wakes the present waiters and stores nothing.
///
/// | | borrows | over an `Arc` |
/// |---|---|---|
/// | blocks the thread | [`wait`](Self::wait) | – |
/// | never waits | [`try_wait`](Self::try_wait) | – |
/// | a future | [`wait_async`](Self::wait_async) | [`wait_owned_async`](Self::wait_owned_async) |
/// | … with a timeout | `wait_async().timeout(d)` | `wait_owned_async().timeout(d)` |
/// | blocks until a deadline | [`wait_for`](Self::wait_for), [`wait_until`](Self::wait_until) | – |
/// | a listener: begins now, blocks later | [`listen`](Self::listen) | [`listen_owned`](Self::listen_owned) |
///
/// # When a wait begins
/// - For `notify_all`: when the future is created, polled or not; or when the blocking method is called.
/// - For `notify_one`: at the first poll, which enqueues, or at [`EventWait::enable`](crate::future::EventWait::enable), which enqueues
///   without awaiting. (Before that, a wakeup is stored, but only one: if several waiters need one each, `enable` each first.)
///
/// So create the future first, and check the condition then:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use waitword::Event;
///
/// static SHUTDOWN: AtomicBool = AtomicBool::new(false);
/// static CHANGED: Event = Event::new();
///
/// # smol::block_on(async {
/// let task = async {
///     loop {
///         let changed = CHANGED.wait_async();
///         if SHUTDOWN.load(Ordering::Relaxed) {
///             break;
///         }
///         changed.await;
///     }
/// };
/// let thread = std::thread::spawn(|| {
///     SHUTDOWN.store(true, Ordering::Relaxed);
///     CHANGED.notify_all();
/// });
/// task.await;
/// # thread.join().unwrap();
/// # });
/// ```
///
/// A thread does the same with a [listener](Self::listen). A thread that is the only waiter, and is notified with `notify_one`,
/// needs no listener, because that wakeup is stored:
///
/// ```
/// use waitword::{Event, Mutex};
///
/// static LETTERS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
/// static ARRIVED: Event = Event::new();
///
/// let thread = std::thread::spawn(|| loop {
///     // Not in the condition of a `while let`, or the mutex would be held in its body.
///     let letter = LETTERS.lock().pop();
///     match letter {
///         Some(letter) => return letter,
///         None => ARRIVED.wait(),
///     }
/// });
/// # smol::block_on(async {
/// LETTERS.lock_async().await.push("a letter");
/// ARRIVED.notify_one();
/// # });
/// assert_eq!(thread.join().unwrap(), "a letter");
/// ```
///
/// # Fairness
/// `notify_one` wakes the head of the queue. A wakeup is stored only while no waiter is queued, so nothing barges past a queued
/// waiter. [`notify_last`](Self::notify_last) is the exception: it wakes the tail.
///
/// A task that was woken by `notify_one` and is never polled keeps that wakeup, as it would keep a message that was sent to
/// it. Where any of several tasks may do the work, drop a future that is not going to be polled: its wakeup is forwarded.
///
/// # Memory
/// The waiter that a notify wakes sees everything before that notify, even if the wakeup was stored, or merged into a stored one.
#[doc(alias("Notify", "AutoResetEvent", "ManualResetEvent", "WaitQueue", "Signal", "Gate"))]
pub struct Event {
    pub(super) raw: RawEvent,
}

has_raw!(Event, RawEvent);

impl Event {
    /// Wakes the head waiter, the one that has waited longest. If no waiter is queued, stores the wakeup for the next wait.
    ///
    /// Returns `true` if it woke a waiter. A wakeup that finds one stored is merged into it.
    ///
    /// ```
    /// let event = waitword::Event::new();
    /// assert!(!event.notify_one(), "nobody waits: the wakeup is stored");
    /// assert!(!event.notify_one(), "merged into the stored one");
    /// event.wait();
    /// assert!(!event.try_wait(), "one was stored, not two");
    /// ```
    #[doc(alias("set", "signal"))]
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        noted(self.raw.word_at(), || self.raw.notify(Whom::First), |notified| usize::from(*notified))
    }

    /// Wakes the tail waiter, the one that enqueued last. If no waiter is queued, stores the wakeup, like
    /// [`notify_one`](Self::notify_one).
    ///
    /// For a pool of equal workers: the data of the worker that went to sleep last is most likely still in a cache,
    /// and workers that have slept longer continue to sleep. The cost does not depend on the length of the queue.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::pin::pin;
    ///
    /// let event = waitword::Event::new();
    /// let (mut first, mut last) = (pin!(event.wait_async()), pin!(event.wait_async()));
    /// assert!(!first.as_mut().enable() && !last.as_mut().enable());
    /// assert!(event.notify_last());
    /// assert!(!first.as_mut().enable());
    /// last.await;
    /// # });
    /// ```
    ///
    /// # Fairness
    /// None: while later waiters enqueue and are woken, the head waiter may starve.
    #[inline]
    #[track_caller]
    pub fn notify_last(&self) -> bool {
        noted(self.raw.word_at(), || self.raw.notify(Whom::Last), |notified| usize::from(*notified))
    }

    /// Wakes all waiters, including futures that were created and not polled yet. Returns how many of them were queued:
    /// futures before their first poll are woken, but not counted.
    ///
    /// Stores nothing for later waiters; a stored wakeup stays stored. A future that is created while this runs may or may not be woken.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let event = waitword::Event::new();
    /// let waiting = event.wait_async();
    /// assert_eq!(event.notify_all(), 0, "not in the queue before its first poll, ...");
    /// waiting.await; // ... but woken.
    /// assert!(!event.try_wait());
    /// # });
    /// ```
    #[doc(alias("notify_waiters", "broadcast", "pulse"))]
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        noted(self.raw.word_at(), || self.raw.notify_all(), |woken| *woken)
    }

    /// For tests: how many waiters are queued at this moment. Programs have snapshots ([`word::Table::snapshot`](crate::word::Table)).
    #[doc(hidden)]
    pub fn waiters(&self) -> usize {
        self.raw.waiters()
    }

    /// Blocks this thread until woken by a notify. Returns at once if a wakeup is stored, and consumes that.
    ///
    /// # Panics
    /// If it would have to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`wait_async`](Self::wait_async) there.
    #[doc(alias("park", "blocking_wait"))]
    #[track_caller]
    pub fn wait(&self) {
        block(&mut EventWaiter::new(&self.raw), "wait_async");
    }

    /// Consumes the stored wakeup, and returns `true` if there was one. Never waits.
    #[must_use = "on `true`, a wakeup was consumed"]
    pub fn try_wait(&self) -> bool {
        self.raw.take()
    }

    blocking_waits! {
        self: &Self => EventWaiter::new(&self.raw);
        /// Blocks this thread until woken by a notify, or until `timeout` has elapsed.
        #[doc(alias = "wait_timeout")]
        wait_for -> ();
        /// Blocks this thread until woken by a notify, or until `deadline`. A stored wakeup is consumed even after the deadline.
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{Event, LockError};
        ///
        /// let event = Event::new();
        /// assert_eq!(event.wait_for(Duration::from_millis(1)), Err(LockError::TimedOut));
        /// event.notify_one();
        /// assert_eq!(event.wait_for(Duration::ZERO), Ok(()));
        /// ```
        #[doc(alias = "wait_deadline")]
        wait_until, "";
    }
}

tells_its_drop! { Event: this => this.raw.word_at(), false }

impl Default for Event {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows whether a wakeup is stored at this moment. Never waits.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("stored", &self.raw.is_stored()).finish_non_exhaustive()
    }
}
