//! The part of the command line that all measurements share.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

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

    /// Write every figure of every round and how each goal was met to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
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
