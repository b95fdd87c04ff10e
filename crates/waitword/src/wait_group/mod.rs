//! The wait group. The words, and the race between the last token and the waiters, are in `raw.rs`.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
mod new {
    use super::{RawWaitGroup, WaitGroup, const_fn};

    impl WaitGroup {
        const_fn! {
            /// Creates a group without tokens.
            pub const fn new() -> Self {
                Self { raw: RawWaitGroup::new() }
            }
        }
    }
}

mod raw;
pub(crate) mod token;

use std::fmt;
use std::sync::Arc;

use crate::condition::{block, blocking_waits, kept_wait};
use crate::handle::has_raw;
use crate::sync::const_fn;
use crate::wait_group::raw::{MAX, RawWaitGroup, WaitGroupWaiter};

/// A wait group: threads and tasks wait until all workers, threads and tasks too, are done.
///
/// A worker holds a token, from [`add`](Self::add), or from [`add_owned`](Self::add_owned) if it has to outlive a borrow.
/// It is done when the token is dropped: at its end, in a panic, or when its task is dropped.
///
/// | | borrows | over an `Arc` |
/// |---|---|---|
/// | blocks the thread | [`wait`](Self::wait) | – |
/// | never waits | [`try_wait`](Self::try_wait) | – |
/// | a future | [`wait_async`](Self::wait_async) | [`wait_owned_async`](Self::wait_owned_async) |
/// | … with a timeout | `wait_async().timeout(d)` | `wait_owned_async().timeout(d)` |
/// | blocks until a deadline | [`wait_for`](Self::wait_for), [`wait_until`](Self::wait_until) | – |
///
/// The group can be reused: its count may rise from zero any number of times. A wait ends once the count was zero at any time since the
/// call (for a future: since its creation), even if the count has risen again before the waiter runs.
///
/// Take the token before the worker starts, not in the worker. Otherwise a wait in between may find a count of zero.
///
/// ```
/// use std::sync::Arc;
/// use waitword::WaitGroup;
///
/// # smol::block_on(async {
/// let group = Arc::new(WaitGroup::new());
/// for _ in 0..4 {
///     let token = group.add_owned();
///     std::thread::spawn(move || {
///         // Work.
///         drop(token);
///     });
/// }
/// group.wait_async().await;
/// assert_eq!(group.count(), 0);
/// # });
/// ```
///
/// # Memory
/// A waiter sees everything that was done before the drops of the tokens that ended its wait.
///
/// # Fairness
/// All waiters are woken together, in FIFO order.
#[doc(alias("Latch", "CountDownLatch", "TaskTracker", "TaskGroup"))]
pub struct WaitGroup {
    pub(super) raw: RawWaitGroup,
}

has_raw!(WaitGroup, RawWaitGroup);

impl WaitGroup {
    /// The maximum number of tokens of a group.
    pub const MAX_TOKENS: usize = MAX as usize;

    /// Returns the number of tokens at this moment. The number may be outdated when the caller sees it.
    pub fn count(&self) -> usize {
        self.raw.count() as usize
    }

    /// For tests: how many waiters are queued at this moment. Programs have snapshots ([`word::Table::snapshot`](crate::word::Table)).
    #[doc(hidden)]
    pub fn waiters(&self) -> usize {
        self.raw.waiters()
    }

    /// Blocks this thread until all workers are done: until the count is zero.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::WaitGroup;
    ///
    /// let group = Arc::new(WaitGroup::new());
    /// let token = group.add_owned();
    /// // A thread waits for a task.
    /// smol::spawn(async move {
    ///     smol::future::yield_now().await;
    ///     drop(token);
    /// })
    /// .detach();
    /// group.wait();
    /// ```
    ///
    /// # Panics
    /// If the count is not zero and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`wait_async`](Self::wait_async) there.
    ///
    /// # Deadlocks
    /// A waiter that holds a token waits for itself.
    #[track_caller]
    pub fn wait(&self) {
        block(&mut WaitGroupWaiter::new(&self.raw), "wait_async");
    }

    /// Returns `true` if all workers are done at this moment: if the count is zero. Never waits.
    #[must_use = "this never waits, it only returns whether all workers are done"]
    pub fn try_wait(&self) -> bool {
        self.raw.count() == 0
    }

    blocking_waits! {
        self: &Self => WaitGroupWaiter::new(&self.raw);
        /// Blocks this thread until all workers are done, or until `timeout` has elapsed.
        #[doc(alias = "wait_timeout")]
        wait_for -> ();
        /// Blocks this thread until all workers are done, or until `deadline`.
        ///
        /// A count of zero ends the wait successfully even after the deadline.
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{LockError, WaitGroup};
        ///
        /// let group = WaitGroup::new();
        /// let token = group.add();
        /// assert_eq!(group.wait_for(Duration::from_millis(1)), Err(LockError::TimedOut));
        /// drop(token);
        /// assert_eq!(group.wait_for(Duration::ZERO), Ok(()));
        /// ```
        wait_until, "";
    }

    /// Waits until all workers are done, without blocking this thread.
    ///
    /// # Cancellation
    /// Dropping the future dequeues it. No other waiter is affected.
    ///
    /// # Panics
    /// When polled again after it was ready.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let group = waitword::WaitGroup::new();
    /// let work = async {
    ///     let _token = group.add();
    ///     smol::future::yield_now().await;
    /// };
    /// let wait = async { group.wait_async().await };
    /// smol::future::zip(work, wait).await;
    /// # });
    /// ```
    #[track_caller]
    pub fn wait_async(&self) -> WaitGroupWait<&Self> {
        WaitGroupWait::new(self)
    }
}

/// # Over an `Arc`
/// The futures of these methods hold an `Arc` of the group and are `'static`, so they can be moved into a task, or
/// stored in a struct beside the group and polled by a hand-written `poll_*`.
///
/// The methods take the `Arc` by reference and clone it for each wait.
impl WaitGroup {
    /// Waits until all workers are done, without blocking this thread, with a future that holds an `Arc` of the group.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::WaitGroup;
    ///
    /// let group = Arc::new(WaitGroup::new());
    /// let token = group.add_owned();
    /// let all_done = smol::spawn(group.wait_owned_async());
    /// // The future holds an `Arc` of the group.
    /// drop(group);
    /// drop(token);
    /// all_done.await;
    /// # });
    /// ```
    ///
    /// # Cancellation, panics
    /// As with [`wait_async`](Self::wait_async).
    #[doc(alias("wait_async_owned", "wait_arc"))]
    #[track_caller]
    pub fn wait_owned_async(self: &Arc<Self>) -> WaitGroupWait<Arc<Self>> {
        WaitGroupWait::new(Arc::clone(self))
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the count at this moment. Never waits.
impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &self.count()).finish()
    }
}

kept_wait! {
    /// The future returned by [`WaitGroup::wait_async`] and [`WaitGroup::wait_owned_async`].
    WaitGroupWait: WaitGroup over RawWaitGroup by WaitGroupWaiter -> (), ""
}
