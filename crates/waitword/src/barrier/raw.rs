//! The barrier as two words: how many have arrived in which generation, and a line for those who have.
//!
//! The state has the number of arrivals in its lower 28 bits, and the generation in the 36 above. The last arrival sets
//! the number back and the generation on, in one step; all others wait for another generation than theirs.
//!
//! They do not wait on the state, which changes with every arrival, but on a word that changes once per generation:
//!
//! ```text
//!   waiter                                   the last to arrive
//!   ───────────────────────────────          ───────────────────────────────
//!   state: arrivals + 1
//!   load line                                state: next generation
//!   state: my generation still?              line + 1
//!   wait while the line is what it was       notify all
//! ```
//! If the look at the state finds the waiter's own generation, the line that it loaded before that is from before the
//! change: the wait does not begin, or it ends. The wakes may reach somebody who came after the change. It
//! looks at the state, and waits on.
//!
//! # Who leaves
//! Whoever gives up takes its arrival back, in the same word: while its generation lasts, so that the others go on
//! waiting for one more; or not at all, because the generation is complete, with it.
//!
//! ```text
//!   A (arrived, gives up)                    B (the last but for A's leaving)
//!   ───────────────────────────────          ───────────────────────────────
//!   my generation? arrivals - 1              arrivals + 1 = all? next generation
//! ```
//! Whichever of the two comes first, the other sees it.
//!
//! # Orderings
//! Arrivals release and acquire in one chain of read-modify-writes, so the last has seen what all did before they
//! arrived; it releases the new generation, which the others acquire.

use waitword_core::{Location, notify_all};

use crate::condition::{Condition, Handle, Waited};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{broken, order};

/// One generation, above the number of arrivals.
const GENERATION: u64 = 1 << 28;
/// How many can meet.
pub(crate) const MAX: u64 = GENERATION - 1;

/// Two named words; the line is here or elsewhere.
pub(crate) struct RawBarrier<L> {
    parties: u64,
    state: AtomicU64,
    line: L,
}

/// How somebody has come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// As the last to arrive, who let the others go on.
    Leader,
    Follower,
}

impl<L> RawBarrier<L> {
    /// For `parties`, 1 to [`MAX`]. Both words are zero: nobody has arrived.
    pub(crate) const fn on(parties: u64, state: AtomicU64, line: L) -> Self {
        Self { parties, state, line }
    }

    pub(crate) fn parties(&self) -> u64 {
        self.parties
    }

    pub(crate) fn arrived(&self) -> u64 {
        arrived(self.state.load(Ordering::Relaxed))
    }
}

impl<L: Location<Word = AtomicU64>> Waited for RawBarrier<L> {
    type At = L;

    fn at(&self) -> &L {
        &self.line
    }
}

impl<L: Location<Word = AtomicU64>> RawBarrier<L> {
    /// Arrives if it is the last, and leaves no trace otherwise.
    pub(crate) fn pass(&self) -> bool {
        let next = |state| (arrived(state) + 1 == self.parties).then(|| next_generation(state));
        let passed = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next).is_ok();
        if passed {
            self.call();
        }
        passed
    }

    /// Arrives. `Some` is the generation that now has to be completed.
    fn arrive(&self) -> Option<u64> {
        let is_last = |state| arrived(state) + 1 == self.parties;
        let arrive = |state| Some(if is_last(state) { next_generation(state) } else { state + 1 });
        // It always has something to write.
        let (Ok(state) | Err(state)) =
            self.state.fetch_update(order!(AcqRel, "barrier-arrive"), Ordering::Relaxed, arrive);
        if is_last(state) {
            self.call();
            return None;
        }
        Some(generation(state))
    }

    /// Takes back an arrival in this generation. `false`: the generation is complete.
    fn leave(&self, own: u64) -> bool {
        let leave = |state| (generation(state) == own && !broken!("barrier-leave")).then(|| state - 1);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave).is_ok()
    }

    fn call(&self) {
        if self.parties > 1 {
            if !broken!("barrier-line") {
                self.line.word().fetch_add(1, Ordering::Release);
            }
            if !broken!("barrier-call") {
                notify_all(&self.line);
            }
        }
    }
}

/// A waiter, and the generation in which it has arrived.
pub(crate) struct BarrierWaiter<H> {
    barrier: H,
    arrived_in: Option<u64>,
}

impl<H> BarrierWaiter<H> {
    /// It has not arrived yet.
    pub(crate) fn new(barrier: H) -> Self {
        Self { barrier, arrived_in: None }
    }
}

impl<H: Handle<Raw = RawBarrier<L>>, L: Location<Word = AtomicU64>> Condition for BarrierWaiter<H> {
    type At = H::At;
    type Output = Passed;

    fn at(&self) -> H::At {
        self.barrier.at()
    }

    fn check(&mut self) -> Result<Passed, u64> {
        let own = match self.arrived_in {
            Some(own) => own,
            None => match self.barrier.raw().arrive() {
                Some(own) => *self.arrived_in.insert(own),
                None => return Ok(Passed::Leader),
            },
        };
        // Acquire: the state is looked at after it.
        let line = self.barrier.raw().line.word().load(order!(Acquire, "barrier-look"));
        if generation(self.barrier.raw().state.load(order!(Acquire, "barrier-wait"))) == own {
            Err(line)
        } else {
            Ok(Passed::Follower)
        }
    }

    fn give_up(&mut self, _called: bool) -> Option<Passed> {
        let complete = self.arrived_in.take().is_some_and(|own| !self.barrier.raw().leave(own));
        complete.then_some(Passed::Follower)
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
