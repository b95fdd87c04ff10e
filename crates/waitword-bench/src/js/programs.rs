//! The programs, the figures that each has to print, and the goals: `benches/js/programs.json`, which a test of the command
//! line reads as well.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::workload::{Goal, Limit, goal};

/// One file of `benches/js`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// The file's name without its ending.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What it prints.
    pub(super) figures: Vec<Figure>,
    /// What the runner says instead: the time from the start of the process to its end.
    pub(super) whole: Option<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    /// A goal: at most so much, in the figure's unit.
    at_most: Option<f64>,
    /// A goal: not more than this engine's.
    ahead_of: Option<&'static str>,
}

/// In the order of the page.
pub(super) fn all() -> Vec<Program> {
    serde_json::from_str(include_str!("../../../../benches/js/programs.json"))
        .unwrap_or_else(|error| panic!("benches/js/programs.json: {error}"))
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/js");

impl Program {
    pub(super) fn file(&self) -> PathBuf {
        Path::new(FOLDER).join(self.name).with_extension("js")
    }

    pub(super) fn goals(&self) -> Vec<Goal> {
        let goals = self.figures.iter().chain(&self.whole).flat_map(|figure| {
            let ahead = figure.ahead_of.map(|peer| Limit::Times(1.0, peer));
            let limits = [figure.at_most.map(Limit::Value), ahead];
            limits.into_iter().flatten().map(|limit| goal(figure.name, limit))
        });
        goals.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn each_program_is_listed_and_each_that_is_listed_is_there() {
        let entries = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
        let programs = entries.filter(|path| path.extension().is_some_and(|end| end == "js"));
        let there = programs.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let listed = all().iter().map(|program| program.name.to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(there.collect::<BTreeSet<_>>(), listed);
    }
}
