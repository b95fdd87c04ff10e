//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use regex_lite::Regex;

use crate::js::Javascript;
use crate::runner::{Common, matches};
use crate::workload::{Scale, Workload};
use crate::workloads;

/// Measure waitword's queue, its locks and their peers side by side.
///
/// Within a round every contender runs once, so that a slow minute of the machine hits all of them; the tables show
/// the median over all rounds, with the least and the most. Times are CPU time of the measured thread unless a table
/// says otherwise, so other programs disturb them less than wall time, but they still share caches with you: leave the
/// machine alone while this runs.
///
/// A complete run writes what the repository keeps: the goals that are missed, all figures, and pictures (benches/results). A quick or
/// filtered run only prints, unless --out says where to write.
#[derive(Debug, Parser)]
#[command(name = "waitword-bench", version, args_conflicts_with_subcommands = true)]
#[command(after_help = format!("Workloads: {}.", workloads::names().join(", ")))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) other: Option<Other>,

    #[command(flatten)]
    pub(crate) common: Common,

    /// Measure only the contenders whose name matches this regular expression; goals need the peers that they name.
    #[arg(long, value_name = "REGEX")]
    contenders: Option<Regex>,
}

/// What is measured instead of the queue and the locks.
#[derive(Debug, Subcommand)]
pub(crate) enum Other {
    Js(Javascript),
}

impl Args {
    /// The workloads and contenders that the filters leave.
    pub(crate) fn choose(&self, mut workloads: Vec<Workload>) -> Vec<Workload> {
        workloads.retain_mut(|workload| {
            workload.contenders.retain(|contender| matches(&self.contenders, contender.name));
            self.common.wants(workload.name) && !workload.contenders.is_empty()
        });
        workloads
    }

    pub(crate) fn scale(&self) -> Scale {
        Scale { quick: self.common.quick, rounds: self.common.rounds(9, 3) }
    }

    /// Where the tables and charts go, if anywhere.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.common.folder(self.contenders.is_none())
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
        let args = parse(&["--filter", "^mutex-mixed$", "--contenders", "^(waitword|tokio)$"]);
        let chosen = args.choose(workloads::all());
        let names = |workload: &Workload| workload.contenders.iter().map(|it| it.name).collect::<Vec<_>>();
        assert_eq!(chosen.iter().map(names).collect::<Vec<_>>(), [["waitword", "tokio"]]);
        assert!(parse(&["--contenders", "nobody"]).choose(workloads::all()).is_empty());
    }

    #[test]
    fn a_partial_run_does_not_replace_the_results_that_are_kept() {
        assert!(parse(&[]).folder().is_some());
        assert_eq!(parse(&["--quick"]).folder(), None);
        assert_eq!(parse(&["--filter", "one"]).folder(), None);
        assert_eq!(parse(&["--contenders", "waitword"]).folder(), None);
        assert_eq!(parse(&["--quick", "--out", "here"]).folder(), Some("here".into()));
    }
}
