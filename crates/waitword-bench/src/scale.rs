//! How much is measured: crowds, times and numbers of operations, for a complete run and for a quick one.

use std::time::Duration;

/// How much to measure.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
}

impl Scale {
    /// How many waiters are queued, smallest crowd first.
    pub(crate) fn crowds(&self) -> &'static [usize] {
        if self.quick { &[1_000, 100_000] } else { &[1_000, 10_000, 100_000, 1_000_000] }
    }

    /// The largest of them.
    pub(crate) fn largest(&self) -> usize {
        self.crowds().last().copied().unwrap_or(1)
    }

    /// For how long locks are contended: each of 16 threads on two CPUs gets many turns of the scheduler.
    pub(crate) fn contest(&self) -> Duration {
        Duration::from_millis(if self.quick { 200 } else { 300 })
    }

    /// `complete` operations, or a tenth of them in a quick run.
    pub(crate) fn operations(&self, complete: usize) -> usize {
        if self.quick { complete / 10 } else { complete }
    }
}
