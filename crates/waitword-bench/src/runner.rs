//! Rounds: every contender of a workload runs once in each, and each round begins with another of them.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::series::{Sample, Series};
use crate::workloads::{Topic, Workload};

/// How much to measure.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
}

impl Scale {
    /// How many waiters stand in line, smallest crowd first.
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

/// What came out of one workload.
pub(crate) struct Results<'a> {
    pub(crate) topic: Topic<'a>,
    pub(crate) series: Vec<Series>,
    /// Who did not get to its end, and why, in the words of the report.
    pub(crate) failures: Vec<(&'static str, String)>,
}

/// Runs the workloads one after another.
pub(crate) fn run<'a>(workloads: &'a [Workload], scale: &Scale) -> Vec<Results<'a>> {
    let runs = workloads.iter().map(|workload| workload.contenders.len() * scale.rounds).sum::<usize>();
    let bar = progress(runs);
    let of_workload = |workload: &'a Workload| {
        run_one(workload.topic(), scale.rounds, &bar, |contender, results| {
            for sample in (workload.contenders[contender].run)(scale) {
                results.add(workload.contenders[contender].name, sample);
            }
        })
    };
    let results = workloads.iter().map(of_workload).collect();
    bar.finish_and_clear();
    results
}

/// Draws nothing where standard error is not a terminal.
pub(crate) fn progress(runs: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// `turn` is handed the index of the contender whose turn it is.
pub(crate) fn run_one<'a>(
    topic: Topic<'a>,
    rounds: usize,
    bar: &ProgressBar,
    mut turn: impl FnMut(usize, &mut Results<'a>),
) -> Results<'a> {
    if !std::io::stderr().is_terminal() {
        eprintln!("{}: {rounds} rounds", topic.name);
    }
    let contenders = topic.contenders.clone();
    let mut results = Results { topic, series: Vec::new(), failures: Vec::new() };
    for round in 0..rounds {
        for next in 0..contenders.len() {
            let contender = (round + next) % contenders.len();
            bar.set_message(format!("{}: {}", results.topic.name, contenders[contender]));
            turn(contender, &mut results);
            bar.inc(1);
        }
    }
    // Rounds begin with different contenders; tables list them as the topic does.
    results.series.sort_by_key(|series| contenders.iter().position(|other| *other == series.contender));
    results
}

impl Results<'_> {
    /// Adds what one contender measured in one round.
    pub(crate) fn add(&mut self, contender: &'static str, sample: Sample) {
        let Sample { what, n, unit, value, wall } = sample;
        let known = self.series.iter().position(|s| s.contender == contender && s.what == what && s.n == n);
        let index = known.unwrap_or_else(|| {
            self.series.push(Series { contender, what, n, unit, values: Vec::new(), walls: Vec::new() });
            self.series.len() - 1
        });
        self.series[index].values.push(value);
        self.series[index].walls.extend(wall);
    }

    /// The series of one contender, operation and size.
    pub(crate) fn find(&self, contender: &str, what: &str, n: usize) -> Option<&Series> {
        self.series.iter().find(|s| s.contender == contender && s.what == what && s.n == n)
    }
}
