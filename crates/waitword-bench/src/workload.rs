//! A workload: its name in `benches/workloads.json`, which describes it, and its contenders.

use std::time::Duration;

use crate::figures::Sample;

/// The contender to which the goals apply.
pub(crate) const OURS: &str = "waitword";

/// A question, and the contenders that answer it.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) contenders: Vec<Contender>,
}

/// Contenders in the order of the tables: the generic function that measures them, its arguments beside the scale, and their types.
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

/// Workloads by their names.
macro_rules! workloads {
    ($($name:expr => { $($contenders:tt)+ })+) => {
        vec![$($crate::workload::Workload { name: $name, contenders: contenders! { $($contenders)+ } }),+]
    };
}
pub(crate) use workloads;

/// A contender's type, with its name in the tables.
pub(crate) trait Subject: Send + Sync + Sized + 'static {
    const NAME: &'static str;

    fn new() -> Self;
}

pub(crate) struct Contender {
    pub(crate) name: &'static str,
    measure: Box<Measure>,
}

type Measure = dyn Fn(&Scale) -> Vec<Sample> + Send + Sync;

impl Contender {
    pub(crate) fn new(
        name: &'static str,
        measure: impl Fn(&Scale) -> Vec<Sample> + Send + Sync + 'static,
    ) -> Self {
        Self { name, measure: Box::new(measure) }
    }

    /// Measures one round.
    pub(crate) fn run(&self, scale: &Scale) -> Vec<Sample> {
        (self.measure)(scale)
    }
}

/// The scale of a run: numbers of waiters, times and numbers of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The numbers of queued waiters, smallest first.
    pub(crate) crowds: &'static [usize],
    /// The numbers of threads that are woken at once.
    pub(crate) herds: &'static [usize],
    /// The time of a contest, in which each of 16 threads on two CPUs gets many time slices.
    pub(crate) contest: Duration,
    /// One of this many operations is performed.
    part: usize,
}

pub(crate) const COMPLETE: Scale = Scale {
    crowds: &[1_000, 10_000, 100_000, 1_000_000],
    herds: &[64, 512, 2_000],
    contest: Duration::from_millis(300),
    part: 1,
};

pub(crate) const QUICK: Scale =
    Scale { crowds: &[1_000, 100_000], contest: Duration::from_millis(200), part: 10, ..COMPLETE };

/// Only checks that the workloads run.
#[cfg(test)]
pub(crate) const TRIAL: Scale =
    Scale { crowds: &[10], herds: &[8], contest: Duration::from_millis(1), part: 10_000 };

impl Scale {
    /// The largest number of waiters.
    pub(crate) fn largest(&self) -> usize {
        self.crowds.last().copied().unwrap_or(1)
    }

    /// `complete` operations, or a part of them.
    pub(crate) fn operations(&self, complete: usize) -> usize {
        (complete / self.part).max(1)
    }
}
