//! The part of the command line that all measurements share, and rounds: every contender of a workload runs once in each, and each
//! round begins with another of them.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::series::{Sample, Series};
use crate::workload::{Scale, Topic, Workload};

/// How much is measured, and where the figures go.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Fewer rounds and smaller crowds: good for a first impression, not for publication.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Run only the workloads whose name matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    filter: Option<Regex>,

    /// Rounds per workload [default: 9, or 3 with --quick; of JavaScript: 3, or 1 with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,

    /// Write the goals that are missed, every contender's figures as CSV, and pictures to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Common {
    pub(crate) fn wants(&self, workload: &str) -> bool {
        matches(&self.filter, workload)
    }

    pub(crate) fn rounds(&self, complete: usize, quick: usize) -> usize {
        self.rounds.map_or(if self.quick { quick } else { complete }, usize::from)
    }

    /// Where the results go: to the folder that was named, or to the checked-in folder if `all_are_there` and nothing was left out.
    pub(crate) fn folder(&self, all_are_there: bool) -> Option<PathBuf> {
        let complete = all_are_there && !self.quick && self.filter.is_none() && self.rounds.is_none();
        let checked_in = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/results");
        self.out.clone().or_else(|| complete.then(checked_in))
    }
}

pub(crate) fn matches(filter: &Option<Regex>, name: &str) -> bool {
    filter.as_ref().is_none_or(|filter| filter.is_match(name))
}

/// Runs the workloads one after another.
pub(crate) fn run<'a>(workloads: &'a [Workload], scale: &Scale) -> Vec<Results<'a>> {
    let of_workload = |workload: &'a Workload| {
        run_one(workload.topic(), scale.rounds, |contender, results| {
            for sample in (workload.contenders[contender].run)(scale) {
                results.add(workload.contenders[contender].name, sample);
            }
        })
    };
    workloads.iter().map(of_workload).collect()
}

/// `turn` is handed the index of the contender whose turn it is.
pub(crate) fn run_one<'a>(
    topic: Topic<'a>,
    rounds: usize,
    mut turn: impl FnMut(usize, &mut Results<'a>),
) -> Results<'a> {
    eprintln!("{}: {rounds} rounds", topic.name);
    let contenders = topic.contenders.clone();
    let mut results = Results::new(topic);
    for round in 0..rounds {
        for next in 0..contenders.len() {
            let contender = (round + next) % contenders.len();
            turn(contender, &mut results);
        }
    }
    // Rounds begin with different contenders; tables list them as the topic does.
    results.series.sort_by_key(|series| contenders.iter().position(|other| *other == series.contender));
    results
}

/// What came out of one workload.
pub(crate) struct Results<'a> {
    pub(crate) topic: Topic<'a>,
    pub(crate) series: Vec<Series>,
    /// The contenders that did not finish, and why, in the words of the report.
    pub(crate) failures: Vec<(&'static str, String)>,
}

impl<'a> Results<'a> {
    pub(crate) fn new(topic: Topic<'a>) -> Self {
        Self { topic, series: Vec::new(), failures: Vec::new() }
    }

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
