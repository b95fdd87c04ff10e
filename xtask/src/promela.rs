//! The Promela models: spin writes a checker in C, which visits every state.

use std::collections::BTreeSet;
use std::fs;

use crate::line::{Stop, listen, root};
use crate::tool::{C_COMPILER, SPIN, need};

const FOLDER: &str = "target/promela";

struct Model {
    file: &'static str,
    /// Sizes that take one to ten seconds each, and in which all mutants are caught.
    small: &'static [&'static str],
    /// Sizes that take minutes each, and up to 8 GB of memory.
    large: &'static [&'static str],
}

const MODELS: [Model; 2] = [
    Model {
        file: "queue.pml",
        small: &[
            "-DWAITERS=2 -DWORDS=1 -DBATCH=1 -DFEW=2",
            "-DWAITERS=2 -DWORDS=2 -DBITS=1 -DBATCH=1 -DFEW=0",
            "-DWAITERS=2 -DWORDS=2 -DBITS=2 -DBATCH=1 -DFEW=0",
            "-DWAITERS=3 -DWORDS=1 -DBATCH=2 -DFEW=0",
        ],
        large: &["-DWAITERS=3 -DWORDS=1 -DBATCH=1 -DFEW=1", "-DWAITERS=2 -DWORDS=2 -DBATCH=1 -DFEW=2"],
    },
    Model {
        file: "script_lock.pml",
        small: &["-DRECHECKS=NEVER", "-DRECHECKS=ANY_TIME", "-DRECHECKS=LAST_RESORT -DSTUCK=1"],
        large: &[],
    },
];

pub(crate) fn run(deep: bool) -> Result<(), Stop> {
    need(&[SPIN, C_COMPILER])?;
    MODELS.iter().try_for_each(|model| model.run(deep))
}

impl Model {
    fn run(&self, deep: bool) -> Result<(), Stop> {
        let file = format!("verify/proofs/{}", self.file);
        for size in if deep { self.large } else { self.small } {
            match self.check(size)? {
                Outcome::Holds { states } => println!("holds in {states} states"),
                Outcome::Fails(why) => {
                    let trail =
                        format!("cd {FOLDER} && spin {size} -k {}.trail -p -g ../../{file}", self.file);
                    return Err(Stop::Failed(format!("the model fails: {why}\nto see the steps: {trail}")));
                }
            }
        }
        if deep {
            return Ok(());
        }
        let model = fs::read_to_string(root().join(&file)).map_err(Stop::at(&file))?;
        mutants(&model).into_iter().try_for_each(|mutant| self.catch(mutant))
    }

    /// Searches for a size in which the mutant fails.
    fn catch(&self, mutant: &str) -> Result<(), Stop> {
        for size in self.small {
            if let Outcome::Fails(why) = self.check(&format!("{size} -D{mutant}"))? {
                println!("caught: {why}");
                return Ok(());
            }
        }
        Err(Stop::Failed(format!("{} does not catch the mutant {mutant}", self.file)))
    }

    fn check(&self, defines: &str) -> Result<Outcome, Stop> {
        // Checks only safety, that is assertions and invalid end states. Every run ends, so there are no cycles to search for.
        let cc = "cc -w -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=16000 -o pan pan.c";
        // Prints the line, but not the checker's output, which is long.
        let line = format!(
            "mkdir -p {FOLDER} && cd {FOLDER} && spin {defines} -a ../../verify/proofs/{} && {cc} && ./pan -m100000",
            self.file
        );
        let printed = listen(&line)?;
        outcome(&printed).ok_or_else(|| Stop::Failed(format!("the search did not end:\n{printed}")))
    }
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Holds { states: String },
    Fails(String),
}

/// The result in the checker's output, if the search is complete.
fn outcome(printed: &str) -> Option<Outcome> {
    if let Some(error) = printed.lines().find_map(|line| line.strip_prefix("pan:1: ")) {
        return Some(Outcome::Fails(error.to_owned()));
    }
    let whole = !printed.contains("Search not completed") && !printed.contains("max search depth too small");
    let states = printed.lines().find_map(|line| line.trim().strip_suffix(" states, stored"))?;
    (whole && printed.contains("errors: 0")).then(|| Outcome::Holds { states: states.to_owned() })
}

/// The mutants that the model names.
fn mutants(model: &str) -> BTreeSet<&str> {
    let words = model.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    words.filter(|word| word.starts_with("MUTANT_") && !word.ends_with('_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_whatever_the_model_calls_so() {
        let model = "/* Each MUTANT_... */\n#ifdef MUTANT_B\n#if !defined(MUTANT_A) && !defined(MUTANT_B)\n";
        assert_eq!(mutants(model), BTreeSet::from(["MUTANT_A", "MUTANT_B"]));
    }

    #[test]
    fn an_incomplete_search_has_no_outcome() {
        let whole = "State-vector 131 byte, depth reached 104, errors: 0\n  2353187 states, stored\n";
        assert_eq!(outcome(whole), Some(Outcome::Holds { states: "2353187".into() }));
        assert_eq!(outcome(&format!("error: max search depth too small\n{whole}")), None);
        assert_eq!(outcome("pan: reached -DMEMLIM bound\nWarning: Search not completed\n"), None);
        let red = "pan:1: invalid end state (at depth 32)\nWarning: Search not completed\nerrors: 1\n";
        assert_eq!(outcome(red), Some(Outcome::Fails("invalid end state (at depth 32)".into())));
    }
}
