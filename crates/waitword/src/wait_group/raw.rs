//! The wait group as two words: how many are at work, and a line for those who wait until nobody is.
//!
//! | state        | bits  | means                                                       |
//! |--------------|-------|-------------------------------------------------------------|
//! | `WAITERS`    | 0     | somebody may be in line for this zero                       |
//! | count        | 1–31  | how many are at work                                        |
//! | round        | 32–63 | how often the count has come down to zero, modulo 2³²       |
//!
//! A waiter remembers the round in which it came, and goes on when the count is zero or the round is another: so it does
//! not matter how soon the count rises again.
//!
//! It does not wait on the state, which changes with every arrival, but on a word that changes with the zeroes that
//! somebody waits for:
//!
//! ```text
//!   waiter                                   the last to be done
//!   ───────────────────────────────          ───────────────────────────────
//!   load line                                state: count 0, next round
//!   state: not zero; set WAITERS             there was WAITERS? line + 1
//!   wait while the line is what it was                          notify all
//! ```
//! If WAITERS was set in time, the line changes after it, and with it the wait ends or does not begin. If not, the look
//! at the state found zero, or the next round. The line is loaded first: loaded second it might be that of the next
//! zero already.
//!
//! The wakes may reach somebody who came after the zero. It looks at the state, and waits on.
//!
//! # Orderings
//! Each that is done releases, and the state is only ever changed by read-modify-writes: whoever acquires a zero, or a
//! later round, sees what all of them did.

use waitword_core::{Location, notify_all};

use crate::condition::{Condition, Handle, Waited};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{broken, order};

/// Somebody may be in line.
const WAITERS: u64 = 1;
/// One at work.
const ONE: u64 = 2;
/// How many can be at work.
pub(crate) const MAX: u64 = (1 << 31) - 1;
/// One round.
const ROUND: u64 = 1 << 32;

/// Two named words; the line is here or elsewhere.
pub(crate) struct RawWaitGroup<L> {
    state: AtomicU64,
    line: L,
}

/// There would be more than [`MAX`] at work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl<L> RawWaitGroup<L> {
    /// Both words are zero: nobody is at work.
    pub(crate) const fn on(state: AtomicU64, line: L) -> Self {
        Self { state, line }
    }

    #[cfg(test)]
    pub(crate) fn with_tokens(tokens: u64) -> Self
    where
        L: Default,
    {
        Self::on(AtomicU64::new(tokens * ONE), L::default())
    }

    pub(crate) fn count(&self) -> u64 {
        count(self.state.load(Ordering::Acquire))
    }

    /// One more is at work.
    pub(crate) fn add(&self) -> Result<(), TooMany> {
        let add = |state| (count(state) < MAX).then(|| state + ONE);
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).map(drop).map_err(|_| TooMany)
    }
}

impl<L: Location<Word = AtomicU64>> Waited for RawWaitGroup<L> {
    type At = L;

    fn at(&self) -> &L {
        &self.line
    }
}

impl<L: Location<Word = AtomicU64>> RawWaitGroup<L> {
    /// One less is at work. To be called once for each that was added.
    pub(crate) fn done(&self) {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let last = count(state) == 1;
            let next = if last { ((state - ONE) & !WAITERS).wrapping_add(ROUND) } else { state - ONE };
            match self.state.compare_exchange_weak(
                state,
                next,
                order!(AcqRel, "wait_group-done"),
                Ordering::Relaxed,
            ) {
                Ok(_) if last && state & WAITERS != 0 => return self.call(),
                Ok(_) => return,
                Err(other) => state = other,
            }
        }
    }

    #[cold]
    fn call(&self) {
        if !broken!("wait_group-line") {
            self.line.word().fetch_add(1, Ordering::Release);
        }
        if !broken!("wait_group-call") {
            notify_all(&self.line);
        }
    }

    /// How many are in line.
    pub(crate) fn waiters(&self) -> usize {
        self.line.table().waiters(self.line.word())
    }
}

/// A waiter, and the round in which it came.
pub(crate) struct WaitGroupWaiter<H> {
    group: H,
    round: u64,
}

impl<H: Handle<Raw = RawWaitGroup<L>>, L: Location<Word = AtomicU64>> WaitGroupWaiter<H> {
    /// For the next zero, or for this one.
    pub(crate) fn new(group: H) -> Self {
        let round = round(group.raw().state.load(Ordering::Acquire));
        Self { group, round }
    }
}

impl<H: Handle<Raw = RawWaitGroup<L>>, L: Location<Word = AtomicU64>> Condition for WaitGroupWaiter<H> {
    type At = H::At;
    type Output = ();

    fn at(&self) -> H::At {
        self.group.at()
    }

    fn check(&mut self) -> Result<(), u64> {
        // Acquire: the state is looked at after it.
        let group = self.group.raw();
        let line = group.line.word().load(Ordering::Acquire);
        let waits = |state| count(state) != 0 && round(state) == self.round;
        let mark = |state| waits(state).then_some(state | WAITERS);
        match group.state.fetch_update(Ordering::Acquire, Ordering::Acquire, mark) {
            Ok(_) => Err(line),
            Err(_) => Ok(()),
        }
    }
}

fn count(state: u64) -> u64 {
    (state % ROUND) / ONE
}

fn round(state: u64) -> u64 {
    state / ROUND
}
