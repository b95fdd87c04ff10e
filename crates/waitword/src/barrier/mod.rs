//! The barrier: the public API. Its words, and the race between the last arrival and waiters that give up, are in
//! `raw.rs`.

mod raw;

pub use raw::BarrierWaitResult;

use std::fmt;
use std::sync::Arc;

use crate::condition::{block, blocking_waits, kept_wait};
use crate::handle::has_raw;
use crate::sync::const_fn;
use raw::{BarrierWaiter, MAX, RawBarrier};

/// A point at which a number of threads and tasks wait until all of them have arrived. It can be used again and again.
///
/// The last to arrive does not wait, and becomes the leader; then the next generation begins.
///
/// | | borrows | over an `Arc` |
/// |---|---|---|
/// | blocks the thread | [`wait`](Self::wait) | – |
/// | never waits | [`try_wait`](Self::try_wait) | – |
/// | a future | [`wait_async`](Self::wait_async) | [`wait_owned_async`](Self::wait_owned_async) |
/// | … with a timeout | `wait_async().timeout(d)` | `wait_owned_async().timeout(d)` |
/// | blocks until a deadline | [`wait_for`](Self::wait_for), [`wait_until`](Self::wait_until) | – |
///
/// ```
/// use waitword::Barrier;
///
/// # smol::block_on(async {
/// static BARRIER: Barrier = Barrier::new(2);
/// let thread = std::thread::spawn(|| BARRIER.wait().is_leader());
/// let task = BARRIER.wait_async().await.is_leader();
/// assert!(thread.join().unwrap() ^ task, "one of them leads");
/// # });
/// ```
///
/// # Who arrives and does not stay
/// A future that is dropped while it waits has not arrived: the others go on waiting for one more. The same holds for a wait that times
/// out. If the generation was complete before, it stays complete, and a timed wait succeeds.
///
/// (If such an arrival counted, the others would go on though one party is gone; and a party that arrives again, as a
/// task in a loop around `select!` does, would count twice.)
///
/// # Fairness
/// There is no barging: the last to arrive wakes all waiters. The next generation begins at once,
/// even if some of them have not run yet.
///
/// # What is seen
/// All that a party did before it arrived is seen by all parties after the barrier.
#[doc(alias("CyclicBarrier", "Rendezvous", "pthread_barrier_t"))]
pub struct Barrier {
    raw: RawBarrier,
}

has_raw!(Barrier, RawBarrier);

impl Barrier {
    /// The maximum number of parties of one barrier.
    pub const MAX_PARTIES: usize = MAX as usize;

    const_fn! {
        /// A barrier for `parties`. With 0 or 1 no party ever waits, and each is the leader.
        ///
        /// # Panics
        /// If there are more than [`MAX_PARTIES`](Self::MAX_PARTIES).
        #[track_caller]
        pub const fn new(parties: usize) -> Self {
            assert!(parties <= Self::MAX_PARTIES, "more parties than `Barrier::MAX_PARTIES`");
            let parties = if parties == 0 { 1 } else { parties as u64 };
            Self { raw: RawBarrier::new(parties) }
        }
    }

    /// Arrives, and waits for the others, blocking this thread.
    ///
    /// ```
    /// let barrier = waitword::Barrier::new(3);
    /// let leaders: usize = std::thread::scope(|scope| {
    ///     let threads = [(); 3].map(|()| scope.spawn(|| barrier.wait().is_leader()));
    ///     threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    /// });
    /// assert_eq!(leaders, 1);
    /// ```
    ///
    /// # Panics
    /// If it would have to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`wait_async`](Self::wait_async) there. It has not arrived then.
    #[doc(alias("arrive_and_wait", "pthread_barrier_wait"))]
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        block(&mut BarrierWaiter::new(&self.raw), "wait_async")
    }

    /// Arrives only if it is the last, and then passes. Otherwise it has not arrived. Never waits.
    ///
    /// ```
    /// let barrier = waitword::Barrier::new(2);
    /// assert!(barrier.try_wait().is_none());
    /// ```
    #[must_use = "if it has come through, the others have been let go on"]
    pub fn try_wait(&self) -> Option<BarrierWaitResult> {
        self.raw.pass().then_some(BarrierWaitResult::LEADER)
    }

    blocking_waits! {
        self: &Self => BarrierWaiter::new(&self.raw);
        /// Arrives, and waits for the others, blocking this thread for at most `timeout`.
        #[doc(alias = "wait_timeout")]
        wait_for -> BarrierWaitResult;
        /// Arrives, and waits for the others, blocking this thread until `deadline` at the latest. The last to arrive passes even after the deadline.
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{Barrier, LockError};
        ///
        /// let barrier = Barrier::new(2);
        /// let alone = barrier.wait_for(Duration::from_millis(1));
        /// assert_eq!(alone, Err(LockError::TimedOut));
        /// assert_eq!(barrier.arrived(), 0);
        /// ```
        wait_until, "In both cases it has not arrived.";
    }

    /// Arrives at its first poll, and waits for the others, without blocking this thread.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let barrier = waitword::Barrier::new(2);
    /// let (one, two) = smol::future::zip(barrier.wait_async(), barrier.wait_async()).await;
    /// assert!(one.is_leader() ^ two.is_leader());
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has not arrived, unless all have by then.
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[track_caller]
    pub fn wait_async(&self) -> BarrierWait<&Self> {
        BarrierWait::new(self)
    }

    /// The number of parties.
    pub fn parties(&self) -> usize {
        self.raw.parties() as usize
    }

    /// How many wait at this moment. The number may have changed when this returns.
    pub fn arrived(&self) -> usize {
        self.raw.arrived() as usize
    }
}

/// # Over an `Arc`
/// The futures of these methods hold an `Arc` of the barrier and are `'static`, so they can be moved to a task of their own, or
/// stored in a struct beside the barrier and polled by a hand-written `poll_*`.
///
/// They take the `Arc` by reference. Each wait holds one more.
impl Barrier {
    /// As [`wait_async`](Self::wait_async), with a future that holds an `Arc` of the barrier.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::Barrier;
    ///
    /// let barrier = Arc::new(Barrier::new(2));
    /// let other = smol::spawn(barrier.wait_owned_async());
    /// let leads = barrier.wait_async().await.is_leader();
    /// assert!(leads ^ other.await.is_leader());
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
    pub fn wait_owned_async(self: &Arc<Self>) -> BarrierWait<Arc<Self>> {
        BarrierWait::new(Arc::clone(self))
    }
}

/// Shows how many have arrived at this moment. Does not wait.
impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Barrier");
        debug.field("parties", &self.parties()).field("arrived", &self.arrived()).finish()
    }
}

kept_wait! {
    /// The future of [`Barrier::wait_async`] and [`Barrier::wait_owned_async`].
    BarrierWait: Barrier over RawBarrier by BarrierWaiter -> BarrierWaitResult, "; it has not arrived then"
}
