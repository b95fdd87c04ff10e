//! What is measured, one file each.

mod agent_death;
mod blocking_round_trip;
mod collisions;
mod deadlines;
mod growth;
mod many_words;
mod memory;
mod not_equal;
mod notify_all_stall;
mod notify_miss;
mod one_word;
mod task_round_trip;
mod two_threads;

use crate::runner::Scale;
use crate::series::Sample;

/// A question, and all who answer it.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// One or two sentences for the report.
    pub(crate) about: &'static str,
    /// The contender that the others are compared with.
    pub(crate) baseline: &'static str,
    pub(crate) contenders: Vec<Contender>,
    /// What waitword has set itself.
    pub(crate) goals: Vec<Goal>,
    /// Whether a chart of the figures against N says something.
    pub(crate) charted: bool,
}

/// One round of one contender gives a number of samples.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Scale) -> Vec<Sample>,
}

/// What a figure of [`OURS`] must not exceed.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) limit: Limit,
    pub(crate) at: Sizes,
}

/// At which sizes a goal has to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    All,
    Largest,
}

/// The contender that the goals are set for.
pub(crate) const OURS: &str = "waitword";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// This much, in the unit of the figure.
    AtMost(f64),
    /// This many times the same figure of a peer.
    Times(f64, &'static str),
    /// This many times another figure of our own.
    TimesOwn(f64, &'static str),
    /// This many times our own figure at the smallest size.
    TimesSmallest(f64),
}

pub(crate) fn all() -> Vec<Workload> {
    vec![
        notify_miss::workload(),
        not_equal::workload(),
        one_word::workload(),
        many_words::workload(),
        two_threads::workload(),
        memory::workload(),
        growth::workload(),
        collisions::workload(),
        notify_all_stall::workload(),
        agent_death::workload(),
        deadlines::workload(),
        blocking_round_trip::workload(),
        task_round_trip::workload(),
    ]
}

pub(crate) fn names() -> Vec<&'static str> {
    all().iter().map(|workload| workload.name).collect()
}

const fn goal(what: &'static str, limit: Limit) -> Goal {
    Goal { what, limit, at: Sizes::All }
}

const fn goal_at_largest(what: &'static str, limit: Limit) -> Goal {
    Goal { what, limit, at: Sizes::Largest }
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * limit as u128) >> 64) as usize
    }

    /// All numbers below `limit` in random order.
    fn order(&mut self, limit: usize) -> Vec<usize> {
        let mut order = (0..limit).collect::<Vec<_>>();
        for last in (1..limit).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}
