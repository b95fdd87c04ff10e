//! The command line.

use std::collections::BTreeMap;

use clap::{Parser, Subcommand};
use regex_lite::Regex;

use crate::js::Javascript;
use crate::report::Plan;
use crate::runner::{Common, matches};
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
    /// # Errors
    /// Why there is nothing to measure.
    pub(crate) fn plan(&self) -> Result<Plan, String> {
        if let Some(Other::Js(args)) = &self.other {
            return args.plan();
        }
        let mut workloads = workloads::all();
        for workload in &mut workloads {
            workload.contenders.retain(|contender| matches(&self.contenders, contender.name));
        }
        Ok(Plan {
            workloads: self.common.choose(workloads)?,
            scale: self.common.scale(9, 3),
            command: "cargo xtask bench",
            page: "README.md",
            figures: "figures.csv",
            folder: self.common.folder(self.contenders.is_none()),
            against: versions(&PEERS),
        })
    }
}

/// The crates that are measured beside ours.
const PEERS: [&str; 9] = [
    "async-lock",
    "event-listener",
    "futures-intrusive",
    "maitake-sync",
    "parking_lot",
    "parking_lot_core",
    "saa",
    "tokio",
    "usync",
];

/// The versions of these crates, as the lock file of this build has them.
fn versions(names: &[&str]) -> Vec<String> {
    let mut name = "";
    // Of two versions the later one is ours; the lock file lists it last.
    let mut versions = BTreeMap::new();
    for line in include_str!("../../../Cargo.lock").lines() {
        let value = |prefix| line.strip_prefix(prefix).map(|rest: &str| rest.trim_matches(['"', ' ']));
        if let Some(next) = value("name = ") {
            name = next;
        } else if let Some(version) = value("version = ").filter(|_| names.contains(&name)) {
            versions.insert(name, version);
        }
    }
    versions.iter().map(|(name, version)| format!("{name} {version}")).collect()
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
        assert_eq!(folder(&["--contenders", "waitword"]), None);
        assert_eq!(folder(&["--quick", "--out", "here"]), Some("here".into()));
    }
}
