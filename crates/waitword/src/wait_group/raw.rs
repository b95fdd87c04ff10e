//! The wait group as two words: the state (tokens and round), and an epoch that the waiters wait on.
//!
//! | state        | bits  | meaning                                                     |
//! |--------------|-------|-------------------------------------------------------------|
//! | `WAITERS`    | 0     | a waiter may be queued for this zero                        |
//! | count        | 1–31  | tokens                                                      |
//! | round        | 32–63 | how often the count came down to zero, modulo 2³²           |
//!
//! A waiter remembers the round in which it was made. It goes on when the count is zero or the round is another, however soon the
//! count rises again.
//!
//! It waits on the epoch, which changes with each zero that has waiters, because the state changes with every token:
//!
//! ```text
//!   waiter                                   last token
//!   ───────────────────────────────          ───────────────────────────────
//!   load epoch                               state: count 0, next round
//!   state: not zero; set WAITERS             was there WAITERS? epoch + 1
//!   wait while the epoch is unchanged                           notify all
//! ```
//! If `WAITERS` was set in time, the epoch changes after it: the wait ends or does not begin. If not, the waiter found zero or the
//! next round in the state. The epoch is loaded first; loaded second, it could be that of the next zero.
//!
//! A wake may hit a waiter of a later round, which checks the state and waits on.
//!
//! # Orderings
//! Each dropped token releases, and only read-modify-writes change the state: acquiring a zero or a later round shows what all
//! of them did.

use waitword_core::observe::WaitsFor;
use waitword_core::{Table, notify_all};

use crate::condition::Condition;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{const_fn, mutant, order};

/// A waiter may be queued.
const WAITERS: u64 = 1;
/// One token.
const ONE: u64 = 2;
/// The most tokens.
pub(crate) const MAX: u64 = (1 << 31) - 1;
/// One round.
const ROUND: u64 = 1 << 32;

/// Both words.
pub(crate) struct RawWaitGroup {
    state: AtomicU64,
    epoch: AtomicU64,
}

impl RawWaitGroup {
    const_fn! {
        /// There are no tokens.
        pub(crate) const fn new() -> Self {
            Self { state: AtomicU64::new(0), epoch: AtomicU64::new(0) }
        }
    }

    /// The number of queued waiters.
    pub(crate) fn waiters(&self) -> usize {
        Table::global().waiters(&self.epoch)
    }

    #[cfg(test)]
    pub(crate) fn with_tokens(tokens: u64) -> Self {
        Self { state: AtomicU64::new(tokens * ONE), ..Self::new() }
    }

    pub(crate) fn count(&self) -> u64 {
        count(self.state.load(Ordering::Acquire))
    }

    /// Adds a token, unless there are [`MAX`]. Returns whether it did.
    pub(crate) fn add(&self) -> bool {
        let add = |state| (count(state) < MAX).then(|| state + ONE);
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    /// Removes a token. To be called once for each that was added.
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
                Ok(_) if last && state & WAITERS != 0 => return self.wake_all(),
                Ok(_) => return,
                Err(other) => state = other,
            }
        }
    }

    /// Wakes the waiters of the round that has come to zero.
    #[cold]
    fn wake_all(&self) {
        mutant!("wait_group-epoch" => return self.notify());
        self.epoch.fetch_add(1, Ordering::Release);
        self.notify();
    }

    fn notify(&self) {
        mutant!("wait_group-wake" => return);
        notify_all(&self.epoch);
    }
}

/// A waiter, and the round in which it came.
pub(crate) struct WaitGroupWaiter<'a> {
    group: &'a RawWaitGroup,
    round: u64,
}

impl<'a> WaitGroupWaiter<'a> {
    /// For the next zero, or for this one.
    pub(crate) fn new(group: &'a RawWaitGroup) -> Self {
        let round = round(group.state.load(Ordering::Acquire));
        Self { group, round }
    }
}

impl<'a> Condition for WaitGroupWaiter<'a> {
    type At = &'a AtomicU64;
    type Output = ();

    const WAITS_FOR: WaitsFor = WaitsFor::WaitGroup;

    fn at(&self) -> &'a AtomicU64 {
        &self.group.epoch
    }

    fn check(&mut self) -> Result<(), u64> {
        // Acquire: the state is checked after it.
        let group = self.group;
        let epoch = group.epoch.load(Ordering::Acquire);
        let waits = |state| count(state) != 0 && round(state) == self.round;
        let mark = |state| waits(state).then_some(state | WAITERS);
        match group.state.fetch_update(Ordering::Acquire, Ordering::Acquire, mark) {
            Ok(_) => Err(epoch),
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
