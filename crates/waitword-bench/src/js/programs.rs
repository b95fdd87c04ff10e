//! The programs, the figures that each has to print, and the goals: `benches/js/programs.json`, which a test of the command
//! line reads as well.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::workload::{Bound, Goal, Limit, Sizes};

/// One file of `benches/js`.
pub(crate) struct Program {
    /// The file's name without its ending.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What it prints.
    pub(super) figures: Vec<&'static str>,
    /// What the runner says instead: the time from the start of the process to its end.
    pub(super) whole: Option<&'static str>,
    pub(super) goals: Vec<Goal>,
}

/// In the order of the page.
pub(super) fn all() -> Vec<Program> {
    listed().into_iter().map(Program::from).collect()
}

pub(super) fn names() -> Vec<&'static str> {
    listed().iter().map(|entry| entry.name).collect()
}

/// Where the programs are.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/js")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: &'static str,
    about: &'static str,
    figures: Vec<Listed>,
    whole: Option<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: &'static str,
    /// A goal: at most so much, in the figure's unit.
    at_most: Option<f64>,
    /// A goal: not more than this engine's.
    ahead_of: Option<&'static str>,
}

fn listed() -> Vec<Entry> {
    serde_json::from_str(include_str!("../../../../benches/js/programs.json"))
        .unwrap_or_else(|error| panic!("benches/js/programs.json: {error}"))
}

impl From<Entry> for Program {
    fn from(entry: Entry) -> Self {
        let goals = entry.figures.iter().chain(&entry.whole).flat_map(Listed::goals).collect();
        let figures = entry.figures.iter().map(|figure| figure.name).collect();
        Self { name: entry.name, about: entry.about, figures, whole: entry.whole.map(|it| it.name), goals }
    }
}

impl Listed {
    fn goals(&self) -> impl Iterator<Item = Goal> + use<> {
        let limits = [self.at_most.map(Limit::Value), self.ahead_of.map(|peer| Limit::Times(1.0, peer))];
        let what = self.name;
        limits.into_iter().flatten().map(move |limit| Goal {
            what,
            bound: Bound::AtMost,
            limit,
            at: Sizes::All,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn each_program_is_listed_and_each_that_is_listed_is_there() {
        let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
        let programs = entries.filter(|path| path.extension().is_some_and(|end| end == "js"));
        let there = programs.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        assert_eq!(there.collect::<BTreeSet<_>>(), names().iter().map(|name| (*name).to_owned()).collect());
    }

    #[test]
    fn goals_are_about_figures_that_are_measured() {
        for program in all() {
            for goal in &program.goals {
                assert!(
                    program.figures.contains(&goal.what) || program.whole == Some(goal.what),
                    "{}",
                    goal.what
                );
            }
        }
    }
}
