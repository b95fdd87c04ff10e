//! The part of the command line that all measurements share, and rounds: every contender of a workload runs once in each, and each
//! round begins with another of them.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::series::{Sample, Series};
use crate::workload::{Extent, Scale, Workload};

/// How much is measured, and where the figures go.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Fewer rounds and smaller crowds: good for a first impression, not for publication.
    #[arg(long)]
    quick: bool,

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
    /// The workloads that the filter leaves.
    ///
    /// # Errors
    /// Their names, if it leaves none.
    pub(crate) fn choose(&self, mut workloads: Vec<Workload>) -> Result<Vec<Workload>, String> {
        let names = workloads.iter().map(|workload| workload.name).collect::<Vec<_>>().join(", ");
        workloads.retain(|workload| matches(&self.filter, workload.name) && !workload.contenders.is_empty());
        if workloads.is_empty() {
            return Err(format!("nothing matches the filters; there are: {names}"));
        }
        Ok(workloads)
    }

    /// With so many rounds, if nobody asks for another number.
    pub(crate) fn scale(&self, complete: usize, quick: usize) -> Scale {
        let (extent, rounds) = if self.quick { (Extent::Quick, quick) } else { (Extent::Complete, complete) };
        Scale { extent, rounds: self.rounds.map_or(rounds, usize::from) }
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

/// Runs the rounds of a workload.
pub(crate) fn run<'a>(workload: &'a Workload, scale: &Scale) -> Results<'a> {
    eprintln!("{}: {} rounds", workload.name, scale.rounds);
    let contenders = &workload.contenders;
    let mut results = Results::new(workload);
    for round in 0..scale.rounds {
        for next in 0..contenders.len() {
            let contender = &contenders[(round + next) % contenders.len()];
            // Who failed once would fail again, and take its time.
            if !results.failures.iter().any(|(name, _)| *name == contender.name) {
                let (samples, failure) = contender.run(scale);
                samples.into_iter().for_each(|sample| results.add(contender.name, sample));
                results.failures.extend(failure.map(|why| (contender.name, why)));
            }
        }
    }
    // Rounds begin with different contenders; tables list them as the workload does.
    results.series.sort_by_key(|series| contenders.iter().position(|other| other.name == series.contender));
    results
}

/// What came out of one workload.
pub(crate) struct Results<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) series: Vec<Series>,
    /// The contenders that did not finish, and why, in the words of the report.
    pub(crate) failures: Vec<(&'static str, String)>,
}

impl<'a> Results<'a> {
    pub(crate) fn new(workload: &'a Workload) -> Self {
        Self { workload, series: Vec::new(), failures: Vec::new() }
    }

    /// The contenders' names, in the order of the tables.
    pub(crate) fn contenders(&self) -> impl Iterator<Item = &'static str> {
        self.workload.contenders.iter().map(|contender| contender.name)
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
