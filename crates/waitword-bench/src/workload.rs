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
            $crate::workload::Contender::new(<$type>::NAME, contenders!(@run $run $type, $arguments))
        ),+),+]
    };
    (@run $run:ident $type:ty, [$($arguments:tt)*]) => {
        move |scale: &Scale| $run::<$type>(scale $($arguments)*)
    };
}
pub(crate) use contenders;

/// What is measured, by its name in the tables.
pub(crate) trait Subject: Send + Sync + Sized + 'static {
    const NAME: &'static str;

    fn new() -> Self;
}

pub(crate) struct Contender {
    pub(crate) name: &'static str,
    run: Box<dyn Fn(&Scale) -> Round + Send + Sync>,
}

/// What a contender measures in one round, and why it measures no more.
pub(crate) type Round = (Vec<Sample>, Option<String>);

impl Contender {
    pub(crate) fn new(
        name: &'static str,
        run: impl Fn(&Scale) -> Vec<Sample> + Send + Sync + 'static,
    ) -> Self {
        Self::that_may_fail(name, move |scale| (run(scale), None))
    }

    pub(crate) fn that_may_fail(
        name: &'static str,
        run: impl Fn(&Scale) -> Round + Send + Sync + 'static,
    ) -> Self {
        Self { name, run: Box::new(run) }
    }

    pub(crate) fn run(&self, scale: &Scale) -> Round {
        (self.run)(scale)
    }
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

/// How much to measure: crowds, times and numbers of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) extent: Extent,
    pub(crate) rounds: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Complete,
    Quick,
    /// Only to see that it runs.
    #[cfg(test)]
    Trial,
}

impl Scale {
    pub(crate) fn is_quick(&self) -> bool {
        self.extent != Extent::Complete
    }

    /// How many waiters are queued, smallest crowd first.
    pub(crate) fn crowds(&self) -> &'static [usize] {
        match self.extent {
            Extent::Complete => &[1_000, 10_000, 100_000, 1_000_000],
            Extent::Quick => &[1_000, 100_000],
            #[cfg(test)]
            Extent::Trial => &[10],
        }
    }

    /// The largest of them.
    pub(crate) fn largest(&self) -> usize {
        self.crowds().last().copied().unwrap_or(1)
    }

    /// How many threads are woken at once.
    pub(crate) fn herds(&self) -> &'static [usize] {
        match self.extent {
            Extent::Complete | Extent::Quick => &[64, 512, 2_000],
            #[cfg(test)]
            Extent::Trial => &[8],
        }
    }

    /// For how long locks are contended: each of 16 threads on two CPUs gets many turns of the scheduler.
    pub(crate) fn contest(&self) -> Duration {
        Duration::from_millis(match self.extent {
            Extent::Complete => 300,
            Extent::Quick => 200,
            #[cfg(test)]
            Extent::Trial => 1,
        })
    }

    /// `complete` operations, or a part of them.
    pub(crate) fn operations(&self, complete: usize) -> usize {
        let part = match self.extent {
            Extent::Complete => 1,
            Extent::Quick => 10,
            #[cfg(test)]
            Extent::Trial => 10_000,
        };
        (complete / part).max(1)
    }
}
