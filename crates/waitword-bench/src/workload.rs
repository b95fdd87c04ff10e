//! What a workload is: a question, the contenders that answer it, and the goals that waitword has set itself.

use crate::scale::Scale;
use crate::series::Sample;

/// A question, and the contenders that answer it.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// One or two sentences for the report.
    pub(crate) about: &'static str,
    /// The contender that the others are compared with.
    pub(crate) baseline: &'static str,
    pub(crate) contenders: Vec<Contender>,
    /// What waitword has set itself.
    pub(crate) goals: Vec<Goal>,
    /// Which page of the report it is on.
    pub(crate) page: Page,
    /// Which charts of it say something.
    pub(crate) charts: Charts,
}

/// Contenders in the order of the tables: the generic functions that measure them, and their types.
macro_rules! contenders {
    ($($run:ident: $($type:ty),+;)+) => {
        vec![$($($crate::workload::Contender { name: <$type>::NAME, run: $run::<$type> }),+),+]
    };
}
pub(crate) use contenders;

/// A question without its contenders: what the report needs. The engines of JavaScript have no [`Contender`] in
/// this process.
pub(crate) struct Topic<'a> {
    pub(crate) name: &'a str,
    pub(crate) about: &'a str,
    pub(crate) baseline: &'a str,
    /// By name, in the order of the tables.
    pub(crate) contenders: Vec<&'static str>,
    pub(crate) goals: &'a [Goal],
    pub(crate) page: Page,
    pub(crate) charts: Charts,
}

impl Workload {
    pub(crate) fn topic(&self) -> Topic<'_> {
        let &Self { name, about, baseline, page, charts, .. } = self;
        let contenders = self.contenders.iter().map(|contender| contender.name).collect();
        Topic { name, about, baseline, contenders, goals: &self.goals, page, charts }
    }
}

/// A page of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Queue,
    Locks,
    JavaScript,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Charts {
    None,
    /// One per operation, with a line per contender.
    CostAgainstN,
    /// One, with a line per contender.
    RateAgainstN {
        rate: &'static str,
    },
    /// One per N, with a point per contender: its rate, and its longest wait (the longest of these).
    RateAgainstWait {
        rate: &'static str,
        waits: &'static [&'static str],
    },
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
