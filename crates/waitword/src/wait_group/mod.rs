//! The wait group. The words, and the race between the last token and the waiters, are in `raw.rs`.

mod raw;
pub(crate) mod token;

use std::fmt;
use std::sync::Arc;

use crate::condition::{block, blocking_waits, kept_wait};
use crate::handle::has_raw;
use crate::sync::const_fn;
use crate::wait_group::raw::{MAX, RawWaitGroup, WaitGroupWaiter};

/// Waits until all workers are done. Workers and waiters may be threads and tasks.
///
/// A worker holds a token ([`add`](Self::add), or [`add_owned`](Self::add_owned) where it has to outlive a borrow),
/// and is done when the token is dropped: at the end, in a panic, or when its task is dropped.
///
/// | | borrows | over an `Arc` |
/// |---|---|---|
/// | blocks the thread | [`wait`](Self::wait) | – |
/// | never waits | [`try_wait`](Self::try_wait) | – |
/// | a future | [`wait_async`](Self::wait_async) | [`wait_owned_async`](Self::wait_owned_async) |
/// | … with a timeout | `wait_async().timeout(d)` | `wait_owned_async().timeout(d)` |
/// | blocks until a deadline | [`wait_for`](Self::wait_for), [`wait_until`](Self::wait_until) | – |
///
/// The group can be used again: its count may rise from zero as often as you like. A wait ends when the count is zero
/// at any moment from its call on; for a future that is the call which made it. The wait ends even if the count has risen again
/// before the waiter checks.
///
/// Take the token before you start the worker, not in it, or a wait may come between and find a count of zero.
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
/// # What is seen
/// All that was done before a token was dropped is seen by the waiters whose wait that drop has ended, or helped to end.
///
/// # Fairness
/// All waiters are woken together, in FIFO order.
#[doc(alias("Latch", "CountDownLatch", "TaskTracker", "TaskGroup"))]
pub struct WaitGroup {
    pub(super) raw: RawWaitGroup,
}

has_raw!(WaitGroup, RawWaitGroup);

impl WaitGroup {
    /// How many tokens of one group there can be.
    pub const MAX_TOKENS: usize = MAX as usize;

    const_fn! {
        /// A group without tokens.
        pub const fn new() -> Self {
            Self { raw: RawWaitGroup::new() }
        }
    }

    /// How many tokens there are at this moment. The number may have changed when this returns.
    pub fn count(&self) -> usize {
        self.raw.count() as usize
    }

    /// For tests: how many waiters are queued at this moment. Programs have snapshots ([`word::Table::snapshot`](crate::word::Table)).
    #[doc(hidden)]
    pub fn waiters(&self) -> usize {
        self.raw.waiters()
    }

    /// Waits until all workers are done, blocking this thread.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::WaitGroup;
    ///
    /// let group = Arc::new(WaitGroup::new());
    /// let token = group.add_owned();
    /// // A task is waited for by a thread.
    /// smol::spawn(async move {
    ///     smol::future::yield_now().await;
    ///     drop(token);
    /// })
    /// .detach();
    /// group.wait();
    /// ```
    ///
    /// # Panics
    /// If a worker is not done and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`wait_async`](Self::wait_async) there.
    ///
    /// # Deadlocks
    /// A waiter that holds a token waits for itself.
    #[track_caller]
    pub fn wait(&self) {
        block(&mut WaitGroupWaiter::new(&self.raw), "wait_async");
    }

    /// Whether all workers are done. Never waits.
    #[must_use = "it does not wait, it only says whether there is anything to wait for"]
    pub fn try_wait(&self) -> bool {
        self.raw.count() == 0
    }

    blocking_waits! {
        self: &Self => WaitGroupWaiter::new(&self.raw);
        /// Waits until the count is zero, blocking this thread for at most `timeout`.
        #[doc(alias = "wait_timeout")]
        wait_for -> ();
        /// Waits until the count is zero, blocking this thread until `deadline` at the latest. A count of zero ends the wait even after the deadline.
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
    /// Dropping the future dequeues it; no other waiter is affected.
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
/// The futures of these methods hold an `Arc` of the group and are `'static`, so they can be moved to a task of their own, or
/// stored in a struct beside the group and polled by a hand-written `poll_*`.
///
/// They take the `Arc` by reference. Each wait holds one more.
impl WaitGroup {
    /// As [`wait_async`](Self::wait_async), with a future that holds an `Arc` of the group.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::WaitGroup;
    ///
    /// let group = Arc::new(WaitGroup::new());
    /// let token = group.add_owned();
    /// let all_done = smol::spawn(group.wait_owned_async());
    /// // The task has what it needs.
    /// drop(group);
    /// drop(token);
    /// all_done.await;
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async).
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

/// Shows the count at this moment. Does not wait.
impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &self.count()).finish()
    }
}

kept_wait! {
    /// The future of [`WaitGroup::wait_async`] and [`WaitGroup::wait_owned_async`].
    WaitGroupWait: WaitGroup over RawWaitGroup by WaitGroupWaiter -> (), ""
}
