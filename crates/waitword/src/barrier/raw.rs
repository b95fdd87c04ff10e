//! The barrier as two words: the state (arrivals and generation), and an epoch that the waiters wait on.
//!
//! The lower 28 bits of the state count the arrivals, the 36 above are the generation. The last arrival resets the count and
//! increments the generation in one step; the others wait for a generation other than theirs.
//!
//! They wait on the epoch, which changes once per generation, because the state changes with every arrival:
//!
//! ```text
//!   waiter                                   last arrival
//!   ───────────────────────────────          ───────────────────────────────
//!   state: arrivals + 1
//!   load epoch                               state: next generation
//!   check state: still my generation         epoch + 1
//!   wait while the epoch is unchanged        notify all
//! ```
//! If the check still finds the waiter's generation, its epoch was loaded before the change: the wait does not begin, or it ends.
//! A wake may hit a waiter of the next generation, which checks the state and waits on.
//!
//! # Cancellation
//! A waiter that gives up takes its arrival back, in the same word, unless the generation is already complete.
//!
//! ```text
//!   A (arrived, gives up)                    B (the last one missing)
//!   ───────────────────────────────          ───────────────────────────────
//!   my generation? arrivals - 1              arrivals + 1 = all? next generation
//! ```
//! Whichever comes first, the other sees it.
//!
//! # Orderings
//! Arrivals are one chain of acquire-release read-modify-writes, so the last one sees what all did before they arrived. It
//! releases the new generation, which the waiters acquire.

use waitword_core::notify_all;
use waitword_core::observe::WaitsFor;

use crate::condition::Condition;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{const_fn, mutant, order};

/// One generation, above the number of arrivals.
const GENERATION: u64 = 1 << 28;
/// The maximum number of parties.
pub(crate) const MAX: u64 = GENERATION - 1;

/// Both words.
pub(crate) struct RawBarrier {
    parties: u64,
    state: AtomicU64,
    epoch: AtomicU64,
}

/// The result of a wait at a [`Barrier`](crate::Barrier): whether this party is the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl BarrierWaitResult {
    /// The last to arrive, which lets the others go on.
    pub(super) const LEADER: Self = Self { is_leader: true };
    const FOLLOWER: Self = Self { is_leader: false };

    /// Returns `true` if this party was the last to arrive. In each generation one party is the leader, unless the leader's future was
    /// dropped ([`Barrier::wait_async`](crate::Barrier::wait_async)).
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl RawBarrier {
    const_fn! {
        /// For `parties`, 1 to [`MAX`]. None has arrived.
        pub(crate) const fn new(parties: u64) -> Self {
            Self { parties, state: AtomicU64::new(0), epoch: AtomicU64::new(0) }
        }
    }

    pub(crate) fn parties(&self) -> u64 {
        self.parties
    }

    pub(crate) fn arrived(&self) -> u64 {
        arrived(self.state.load(Ordering::Relaxed))
    }

    /// Arrives if it is the last, and leaves no trace otherwise.
    pub(crate) fn pass(&self) -> bool {
        let next = |state| (arrived(state) + 1 == self.parties).then(|| next_generation(state));
        let passed = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next).is_ok();
        if passed {
            self.wake_all();
        }
        passed
    }

    /// Arrives. `Some` is the generation that now has to be completed.
    fn arrive(&self) -> Option<u64> {
        let is_last = |state| arrived(state) + 1 == self.parties;
        let arrive = |state| Some(if is_last(state) { next_generation(state) } else { state + 1 });
        // `arrive` always returns `Some`.
        let (Ok(state) | Err(state)) =
            self.state.fetch_update(order!(AcqRel, "barrier-arrive"), Ordering::Relaxed, arrive);
        if is_last(state) {
            self.wake_all();
            return None;
        }
        Some(generation(state))
    }

    /// Takes back an arrival in this generation. `false`: the generation is complete.
    fn leave(&self, own: u64) -> bool {
        let leave = |state| {
            mutant!("barrier-leave" => return None);
            (generation(state) == own).then(|| state - 1)
        };
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave).is_ok()
    }

    /// Wakes the waiters of the generation that is complete.
    fn wake_all(&self) {
        if self.parties == 1 {
            return;
        }
        mutant!("barrier-epoch" => return self.notify());
        self.epoch.fetch_add(1, Ordering::Release);
        self.notify();
    }

    fn notify(&self) {
        mutant!("barrier-wake" => return);
        notify_all(&self.epoch);
    }
}

/// A waiter, and the generation in which it has arrived.
pub(crate) struct BarrierWaiter<'a> {
    barrier: &'a RawBarrier,
    arrived_in: Option<u64>,
}

impl<'a> BarrierWaiter<'a> {
    /// It has not arrived yet.
    pub(crate) fn new(barrier: &'a RawBarrier) -> Self {
        Self { barrier, arrived_in: None }
    }
}

impl<'a> Condition for BarrierWaiter<'a> {
    type At = &'a AtomicU64;
    type Output = BarrierWaitResult;

    const WAITS_FOR: WaitsFor = WaitsFor::Barrier;

    fn at(&self) -> &'a AtomicU64 {
        &self.barrier.epoch
    }

    fn check(&mut self) -> Result<BarrierWaitResult, u64> {
        let own = match self.arrived_in {
            Some(own) => own,
            None => match self.barrier.arrive() {
                Some(own) => *self.arrived_in.insert(own),
                None => return Ok(BarrierWaitResult::LEADER),
            },
        };
        // Acquire: the state is checked after it.
        let epoch = self.barrier.epoch.load(order!(Acquire, "barrier-epoch-first"));
        if generation(self.barrier.state.load(order!(Acquire, "barrier-wait"))) == own {
            Err(epoch)
        } else {
            Ok(BarrierWaitResult::FOLLOWER)
        }
    }

    fn give_up(&mut self, _was_notified: bool) -> Option<BarrierWaitResult> {
        let complete = self.arrived_in.take().is_some_and(|own| !self.barrier.leave(own));
        complete.then_some(BarrierWaitResult::FOLLOWER)
    }
}

fn arrived(state: u64) -> u64 {
    state % GENERATION
}

fn generation(state: u64) -> u64 {
    state / GENERATION
}

fn next_generation(state: u64) -> u64 {
    (state - arrived(state)).wrapping_add(GENERATION)
}
