//! The barrier: the public API. Its words, and the race between the last arrival and waiters that give up, are in
//! `raw.rs`.

mod owned;
mod raw;

#[allow(unsafe_code)]
mod has_raw {
    use crate::barrier::Barrier;
    use crate::barrier::raw::RawBarrier;
    use crate::condition::HasRaw;
    use crate::sync::atomic::AtomicU64;

    // SAFETY: it is a field, and the words are fields of that. Nothing panics (invariant 1 of `HasRaw`).
    unsafe impl HasRaw for Barrier {
        type Raw = RawBarrier<AtomicU64>;

        fn raw(&self) -> &RawBarrier<AtomicU64> {
            &self.raw
        }
    }
}

use std::fmt;
use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::condition::{Condition, Handle, WaitFor, WaitUntil, block, block_until, named_future};
use crate::error::LockError;
use crate::sync::atomic::AtomicU64;
use crate::sync::const_fn;
use raw::{BarrierWaiter, MAX, Passed, RawBarrier};
use waitword_core::observe::WaitsFor;

/// A point at which a number of threads and tasks wait until all of them have arrived. It can be used again and again.
///
/// The last to arrive does not wait, and becomes the leader; then the next generation begins.
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
/// A future that is dropped while it waits has not arrived: the others go on waiting for one more. The same holds for
/// a wait that times out. If the generation was complete before, it stays so, and a timed wait ends well.
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
    raw: RawBarrier<AtomicU64>,
}

impl Barrier {
    /// The maximum number of parties of one barrier.
    pub const MAX_PARTIES: usize = MAX as usize;

    const_fn! {
        /// A barrier for `parties`. With 0 or 1 no party ever waits, and each is the leader.
        ///
        /// # Panics
        /// If these are more than [`MAX_PARTIES`](Self::MAX_PARTIES).
        #[track_caller]
        pub const fn new(parties: usize) -> Self {
            assert!(parties <= Self::MAX_PARTIES, "more parties than `Barrier::MAX_PARTIES`");
            let parties = if parties == 0 { 1 } else { parties as u64 };
            Self { raw: RawBarrier::on(parties, AtomicU64::new(0), AtomicU64::new(0)) }
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
        BarrierWaitResult(block(&mut BarrierWaiter::new(&self.raw), "wait_async"))
    }

    /// Arrives if all the others have, and so comes through. Otherwise it has not arrived. Never waits.
    ///
    /// ```
    /// let barrier = waitword::Barrier::new(2);
    /// assert!(barrier.try_wait().is_none());
    /// ```
    #[must_use = "if it has come through, the others have been let go on"]
    pub fn try_wait(&self) -> Option<BarrierWaitResult> {
        self.raw.pass().then_some(BarrierWaitResult(Passed::Leader))
    }

    /// As [`wait`](Self::wait), for `timeout` at the longest.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// # Errors
    /// As [`wait_until`](Self::wait_until).
    #[doc(alias = "wait_timeout")]
    #[track_caller]
    pub fn wait_for(&self, timeout: Duration) -> Result<BarrierWaitResult, LockError> {
        self.wait_until_or_for_ever(Instant::now().checked_add(timeout))
    }

    /// As [`wait`](Self::wait), until `deadline` at the latest. The last to arrive comes through also after it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{Barrier, LockError};
    ///
    /// let barrier = Barrier::new(2);
    /// let alone = barrier.wait_for(Duration::from_millis(1));
    /// assert_eq!(alone, Err(LockError::TIMED_OUT));
    /// assert_eq!(barrier.arrived(), 0);
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline; [`BlockingForbidden`](LockError::BlockingForbidden)
    /// at once, if it would have to wait on a thread that must not. In both cases it has not arrived.
    #[track_caller]
    pub fn wait_until(&self, deadline: Instant) -> Result<BarrierWaitResult, LockError> {
        self.wait_until_or_for_ever(Some(deadline))
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
    /// Dropped before it is ready the future has not arrived, unless all have by then.
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[track_caller]
    pub fn wait_async(&self) -> BarrierWait<'_> {
        BarrierWait::of(WaitFor::new(Arrival(BarrierWaiter::new(&self.raw))))
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
    #[track_caller]
    pub fn wait_async_for(&self, timeout: Duration) -> BarrierWaitUntil<'_> {
        let deadline = Instant::now().checked_add(timeout);
        BarrierWaitUntil::of(WaitUntil::new(Arrival(BarrierWaiter::new(&self.raw)), deadline))
    }

    /// As [`wait_async`](Self::wait_async), until `deadline` at the latest. The last to arrive comes through also after
    /// it.
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline; it has not arrived then.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async); and if it is the first in the process to wait with a deadline and the
    /// system cannot start the thread that keeps the time.
    #[track_caller]
    pub fn wait_async_until(&self, deadline: Instant) -> BarrierWaitUntil<'_> {
        BarrierWaitUntil::of(WaitUntil::new(Arrival(BarrierWaiter::new(&self.raw)), Some(deadline)))
    }

    /// The number of parties.
    pub fn parties(&self) -> usize {
        self.raw.parties() as usize
    }

    /// How many wait at this moment. The number may have changed when this returns.
    pub fn arrived(&self) -> usize {
        self.raw.arrived() as usize
    }

    #[track_caller]
    fn wait_until_or_for_ever(&self, deadline: Option<Instant>) -> Result<BarrierWaitResult, LockError> {
        Ok(BarrierWaitResult(block_until(&mut BarrierWaiter::new(&self.raw), deadline)?))
    }
}

/// Shows how many have arrived at this moment. Does not wait.
impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Barrier");
        debug.field("parties", &self.parties()).field("arrived", &self.arrived()).finish()
    }
}

/// How a party came through a [`Barrier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(Passed);

impl BarrierWaitResult {
    /// Whether this party was the last to arrive. In each generation one is.
    pub fn is_leader(self) -> bool {
        self.0 == Passed::Leader
    }
}

named_future! {
    /// The future of [`Barrier::wait_async`].
    pub struct BarrierWait<'a>(WaitFor<Arrival<&'a RawBarrier<AtomicU64>>>) -> BarrierWaitResult;
}

named_future! {
    /// The future of [`Barrier::wait_async_for`] and [`Barrier::wait_async_until`].
    pub struct BarrierWaitUntil<'a>(WaitUntil<Arrival<&'a RawBarrier<AtomicU64>>>) -> Result<BarrierWaitResult, LockError>;
}

named_future! {
    /// The future of [`Barrier::wait_owned_async`].
    pub struct BarrierWaitOwned(WaitFor<Arrival<Arc<Barrier>>>) -> BarrierWaitResult;
}

named_future! {
    /// The future of [`Barrier::wait_owned_async_for`] and [`Barrier::wait_owned_async_until`].
    pub struct BarrierWaitOwnedUntil(WaitUntil<Arrival<Arc<Barrier>>>) -> Result<BarrierWaitResult, LockError>;
}

/// A party, with the public result of its wait.
pub(crate) struct Arrival<H>(BarrierWaiter<H>);

impl<H: Handle<Raw = RawBarrier<AtomicU64>>> Condition for Arrival<H> {
    type At = H::At;
    type Output = BarrierWaitResult;

    const WAITS_FOR: WaitsFor = WaitsFor::Barrier;

    fn at(&self) -> H::At {
        self.0.at()
    }

    fn check(&mut self) -> Result<BarrierWaitResult, u64> {
        self.0.check().map(BarrierWaitResult)
    }

    fn give_up(&mut self, was_notified: bool) -> Option<BarrierWaitResult> {
        self.0.give_up(was_notified).map(BarrierWaitResult)
    }
}
