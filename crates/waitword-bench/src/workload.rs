//! What a workload is: a question, the contenders that answer it, and the goals that waitword has set itself.

use std::time::Duration;

use crate::series::Sample;

/// A question, and the contenders that answer it.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// One or two sentences for the report.
    pub(crate) about: &'static str,
    pub(crate) contenders: Vec<Contender>,
    /// What waitword has set itself.
    pub(crate) goals: Vec<Goal>,
}

/// Contenders in the order of the tables: the generic function that measures them, what it is given beside the scale, and their types.
macro_rules! contenders {
    ($($run:ident $(($($argument:expr),+))?: $($(#[$attribute:meta])? $type:ty),+;)+) => {
        contenders!(@ $($run [$(, $($argument),+)?]: $($(#[$attribute])? $type),+;)+)
    };
    (@ $($run:ident $arguments:tt: $($(#[$attribute:meta])? $type:ty),+;)+) => {
        vec![$($(
            $(#[$attribute])?
            $crate::workload::Contender {
                name: <$type>::NAME,
                run: contenders!(@run $run $type, $arguments),
            }
        ),+),+]
    };
    (@run $run:ident $type:ty, [$($arguments:tt)*]) => {
        |scale| $run::<$type>(scale $($arguments)*)
    };
}
pub(crate) use contenders;

/// What is measured, by its name in the tables.
pub(crate) trait Subject: Send + Sync + Sized + 'static {
    const NAME: &'static str;

    fn new() -> Self;
}

/// A question without its contenders: what the report needs. The engines of JavaScript have no [`Contender`] in
/// this process.
pub(crate) struct Topic<'a> {
    pub(crate) name: &'a str,
    pub(crate) about: &'a str,
    /// By name, in the order of the tables.
    pub(crate) contenders: Vec<&'static str>,
    pub(crate) goals: Vec<Goal>,
}

impl Workload {
    pub(crate) fn topic(&self) -> Topic<'_> {
        let contenders = self.contenders.iter().map(|contender| contender.name).collect();
        Topic { name: self.name, about: self.about, contenders, goals: self.goals.clone() }
    }
}

/// One round of one contender gives a number of samples.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Scale) -> Vec<Sample>,
}

/// Whether it is a peer: not a limit, which says so in its name, and not [`OURS`].
pub(crate) fn is_peer(contender: &str) -> bool {
    !contender.starts_with(OURS) && !contender.ends_with("(limit)")
}

/// What a figure of [`OURS`] has to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) bound: Bound,
    pub(crate) limit: Limit,
    pub(crate) at: Sizes,
}

/// Whether less is better, or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
}

/// At which sizes a goal has to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    All,
    Largest,
    Only(usize),
}

/// The contender that the goals are set for.
pub(crate) const OURS: &str = "waitword";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// This much, in the unit of the figure.
    Value(f64),
    /// This many times the same figure of a peer.
    Times(f64, &'static str),
    /// This many times the same figure of the best peer.
    TimesBest(f64),
    /// The same, but of those peers whose figure of this name is at least so much.
    TimesBestWith(f64, &'static str, f64),
    /// This many times another figure of our own.
    TimesOwn(f64, &'static str),
    /// This many times our own figure at the smallest size.
    TimesSmallest(f64),
}

pub(crate) const fn goal(what: &'static str, limit: Limit) -> Goal {
    Goal { what, bound: Bound::AtMost, limit, at: Sizes::All }
}

pub(crate) const fn goal_at_largest(what: &'static str, limit: Limit) -> Goal {
    Goal { what, bound: Bound::AtMost, limit, at: Sizes::Largest }
}

pub(crate) const fn at_least(what: &'static str, limit: Limit) -> Goal {
    Goal { what, bound: Bound::AtLeast, limit, at: Sizes::All }
}

/// How much to measure: crowds, times and numbers of operations, for a complete run and for a quick one.
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
