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

/// A barrier, for threads and tasks: a fixed number of parties wait until all of them have arrived. It can be used repeatedly.
///
/// Each round of arrivals is a *generation*. The last party to arrive does not wait and is the leader. Then the next generation begins.
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
/// # Dropped futures and timeouts
/// A future that is dropped while it waits has not arrived: the other parties wait for one more. The same holds for a wait that times
/// out. If the generation was complete before, it stays complete, and a timed wait succeeds.
///
/// (If such an arrival counted, the other parties would be released although one is missing; and a party that arrives again, like a
/// task in a loop around `select!`, would count twice.)
///
/// # Fairness
/// There is no barging: the last to arrive wakes all waiters. The next generation begins at once,
/// even if some of the woken waiters have not run yet.
///
/// # Memory
/// After the barrier, each party sees everything that any party did before it arrived.
#[doc(alias("CyclicBarrier", "Rendezvous", "pthread_barrier_t"))]
pub struct Barrier {
    raw: RawBarrier,
}

has_raw!(Barrier, RawBarrier);

impl Barrier {
    /// The maximum number of parties of one barrier.
    pub const MAX_PARTIES: usize = MAX as usize;

    const_fn! {
        /// Creates a barrier for `parties` parties. With 0 or 1, no party waits, and each is the leader.
        ///
        /// # Panics
        /// If `parties` is more than [`MAX_PARTIES`](Self::MAX_PARTIES).
        #[track_caller]
        pub const fn new(parties: usize) -> Self {
            assert!(parties <= Self::MAX_PARTIES, "a barrier has at most `Barrier::MAX_PARTIES` parties");
            let parties = if parties == 0 { 1 } else { parties as u64 };
            Self { raw: RawBarrier::new(parties) }
        }
    }

    /// Arrives, and blocks this thread until all parties have arrived.
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
    /// [`wait_async`](Self::wait_async) there. The party has not arrived then.
    #[doc(alias("arrive_and_wait", "pthread_barrier_wait"))]
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        block(&mut BarrierWaiter::new(&self.raw), "wait_async")
    }

    /// Arrives and releases the others if this is the last party. Otherwise returns `None` and does not arrive. Never waits.
    ///
    /// ```
    /// let barrier = waitword::Barrier::new(2);
    /// assert!(barrier.try_wait().is_none());
    /// ```
    #[must_use = "on `Some`, the other parties were released"]
    pub fn try_wait(&self) -> Option<BarrierWaitResult> {
        self.raw.pass().then_some(BarrierWaitResult::LEADER)
    }

    blocking_waits! {
        self: &Self => BarrierWaiter::new(&self.raw);
        /// Arrives, and blocks this thread until all parties have arrived, or until `timeout` has elapsed.
        #[doc(alias = "wait_timeout")]
        wait_for -> BarrierWaitResult;
        /// Arrives, and blocks this thread until all parties have arrived, or until `deadline`.
        ///
        /// The last party to arrive succeeds even after the deadline.
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
        wait_until, "In both cases the party has not arrived.";
    }

    /// Arrives at the first poll, and waits until all parties have arrived, without blocking this thread.
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
    /// If the future is dropped before it is ready, the party has not arrived, unless all parties had arrived by then. (With the
    /// feature `tokio`, the leader's future can be pending although all have arrived. If it is dropped then, the generation has no leader.)
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[track_caller]
    pub fn wait_async(&self) -> BarrierWait<&Self> {
        BarrierWait::new(self)
    }

    /// Returns the number of parties.
    pub fn parties(&self) -> usize {
        self.raw.parties() as usize
    }

    /// Returns how many parties have arrived and wait at this moment. The number may be outdated when the caller sees it.
    pub fn arrived(&self) -> usize {
        self.raw.arrived() as usize
    }
}

/// # Over an `Arc`
/// The futures of these methods hold an `Arc` of the barrier and are `'static`, so they can be moved into a task, or
/// stored in a struct beside the barrier and polled by a hand-written `poll_*`.
///
/// The methods take the `Arc` by reference and clone it for each wait.
impl Barrier {
    /// Arrives at the first poll, and waits until all parties have arrived, without blocking this thread. The future holds an `Arc` of the
    /// barrier.
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
    /// # Cancellation, panics
    /// As with [`wait_async`](Self::wait_async).
    #[doc(alias("wait_async_owned", "wait_arc"))]
    #[track_caller]
    pub fn wait_owned_async(self: &Arc<Self>) -> BarrierWait<Arc<Self>> {
        BarrierWait::new(Arc::clone(self))
    }
}

/// Shows how many parties have arrived at this moment. Never waits.
impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Barrier");
        debug.field("parties", &self.parties()).field("arrived", &self.arrived()).finish()
    }
}

kept_wait! {
    /// The future returned by [`Barrier::wait_async`] and [`Barrier::wait_owned_async`].
    BarrierWait: Barrier over RawBarrier by BarrierWaiter -> BarrierWaitResult, " (the party has not arrived then)"
}
