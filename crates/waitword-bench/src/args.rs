//! The command line.

use std::path::{Path, PathBuf};

use clap::Parser;
use regex_lite::Regex;

use crate::runner::Plan;
use crate::workload::{COMPLETE, QUICK};
use crate::workloads;

/// Measure waitword's queue and locks, compared with their peers.
///
/// In each round, every contender runs once, so that a slow minute of the machine affects all of them. The tables show
/// the median over all rounds, with the minimum and the maximum. Times are CPU time of the measured thread unless a table
/// says otherwise. Other programs disturb CPU time less than wall time, but they use the same caches: run nothing
/// else meanwhile.
///
/// A complete run updates benches/results in the repository: the missed goals, all figures, and pictures. A quick or
/// filtered run only prints, unless --out names a folder. Tables, goals and pictures need Node; without it, the figures are printed as
/// CSV.
#[derive(Debug, Parser)]
#[command(name = "waitword-bench", version)]
#[command(after_help = format!("Workloads: {}.", workloads::names().join(", ")))]
pub(crate) struct Args {
    /// Run fewer rounds with fewer waiters, for a first impression: do not publish the figures.
    #[arg(long)]
    quick: bool,

    /// Run only the workloads whose name matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    filter: Option<Regex>,

    /// Measure only the contenders whose name matches this regular expression. A goal that names a peer needs that peer.
    #[arg(long, value_name = "REGEX")]
    contenders: Option<Regex>,

    /// Rounds per workload [default: 9, or 3 with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,

    /// Write the missed goals, the figures of all contenders as CSV, and pictures to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Args {
    /// # Errors
    /// If there is nothing to measure, the reason.
    pub(crate) fn plan(self) -> Result<Plan, String> {
        let (scale, rounds) = if self.quick { (QUICK, 3) } else { (COMPLETE, 9) };
        let rounds = self.rounds.map_or(rounds, usize::from);
        let complete =
            !self.quick && self.filter.is_none() && self.contenders.is_none() && self.rounds.is_none();
        let checked_in = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/results");
        let folder = self.out.or_else(|| complete.then(checked_in));

        let matches =
            |filter: &Option<Regex>, name| filter.as_ref().is_none_or(|filter| filter.is_match(name));
        let mut workloads = workloads::all();
        for workload in &mut workloads {
            workload.contenders.retain(|contender| matches(&self.contenders, contender.name));
        }
        workloads.retain(|it| matches(&self.filter, it.name) && !it.contenders.is_empty());
        if workloads.is_empty() {
            let names = workloads::names().join(", ");
            return Err(format!("no workload and contender match the filters; the workloads are {names}"));
        }
        Ok(Plan { workloads, scale, rounds, folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Args {
        Args::try_parse_from([&["waitword-bench"], line].concat()).unwrap()
    }

    #[test]
    fn filters_leave_the_contenders_asked_for() {
        let plan =
            parse(&["--filter", "^mutex-mixed$", "--contenders", "^(waitword|tokio)$"]).plan().unwrap();
        let names =
            plan.workloads.iter().map(|it| it.contenders.iter().map(|it| it.name).collect::<Vec<_>>());
        assert_eq!(names.collect::<Vec<_>>(), [["waitword", "tokio"]]);
        assert!(parse(&["--contenders", "nobody"]).plan().is_err());
    }

    #[test]
    fn a_partial_run_does_not_replace_the_results_that_are_kept() {
        let folder = |line: &[&str]| parse(line).plan().unwrap().folder;
        assert!(folder(&[]).is_some());
        assert_eq!(folder(&["--quick"]), None);
        assert_eq!(folder(&["--filter", "one"]), None);
        assert_eq!(folder(&["--rounds", "9"]), None);
        assert_eq!(folder(&["--contenders", "waitword"]), None);
        assert_eq!(folder(&["--quick", "--out", "here"]), Some("here".into()));
    }
}
