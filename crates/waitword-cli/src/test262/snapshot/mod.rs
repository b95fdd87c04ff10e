//! What the suite said when somebody last looked, kept as text files beside the code: a change of conformance is a diff.
//!
//! A snapshot names the paths it covers and lists every case below them that does not pass, with the first line of its
//! error and, by hand, with the cause. Two runs agree when the same cases pass, fail and are skipped; the texts of errors
//! may differ.
//!
//! ```text
//! suite test262, commit be13516fb644
//! path test/built-ins/Atomics
//! total 760 passed, 1 failed, 0 skipped
//!
//! failed test/built-ins/Atomics/some-test.js (sloppy, strict)
//!     error Test262Error: Expected a TypeError
//!     because the engine does not look at the index first
//! ```
//!
//! `text.rs` reads and writes the files, `compare.rs` finds the differences.

mod compare;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::Case;
use super::run::Tested;
use super::verdict::Outcome;

pub(super) use compare::{Difference, compare};

/// How many cases ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

/// One file of results.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) file: PathBuf,
    /// What it covers, in the suite's spelling.
    pub(super) paths: Vec<String>,
    /// The version of the suite, for its readers.
    suite: String,
    /// `None` in a file that was just begun.
    total: Option<Total>,
    /// The cases that do not pass.
    entries: BTreeMap<Case, Entry>,
}

/// A case that does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    /// The first line of the error; none for a case that is skipped.
    error: Option<String>,
    /// Why it is so: of a failure, by hand.
    because: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Failed,
    Skipped,
}

/// The snapshots in a folder, `*.txt`, sorted by name. A folder that is not there has none.
///
/// # Errors
/// A file that cannot be read or understood.
pub(super) fn load_all(folder: &Path) -> Result<Vec<Snapshot>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<io::Result<Vec<_>>>().map_err(unreadable)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    files.into_iter().map(Snapshot::load).collect()
}

impl Snapshot {
    fn load(file: PathBuf) -> Result<Self, String> {
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::parse(file, &text)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn save(&self) -> Result<(), String> {
        let written = fs::write(&self.file, self.to_string());
        written.map_err(|error| format!("cannot write {}: {error}", self.file.display()))
    }

    /// Takes over the results of a run over all it covers.
    pub(super) fn update(&mut self, suite: &str, tested: &[Tested]) {
        self.suite = format!("test262, {suite}");
        self.total = Some(self.total_of(tested));
        let covered = tested.iter().filter(|tested| self.covers(&tested.case.file));
        let entries = covered.filter_map(|Tested { case, outcome, .. }| {
            let because = || self.because(case).map(str::to_owned);
            let entry = match outcome {
                Outcome::Passed => return None,
                Outcome::Failed(error) => {
                    Entry { kind: Kind::Failed, error: Some(error.clone()), because: because() }
                }
                Outcome::Skipped(reason) => {
                    Entry { kind: Kind::Skipped, error: None, because: Some(reason.clone()) }
                }
            };
            Some((case.clone(), entry))
        });
        self.entries = entries.collect();
    }

    /// Whether a run over `paths` ran all that this covers.
    pub(super) fn is_whole_in(&self, paths: &[String]) -> bool {
        self.paths.iter().all(|own| paths.iter().any(|path| is_below(own, path)))
    }

    /// Why a case fails, as far as somebody has found out.
    pub(super) fn because(&self, case: &Case) -> Option<&str> {
        self.entries.get(case).filter(|entry| entry.kind == Kind::Failed)?.because.as_deref()
    }

    fn covers(&self, file: &str) -> bool {
        self.paths.iter().any(|path| is_below(file, path))
    }

    fn expected(&self, case: &Case) -> &'static str {
        match self.entries.get(case).map(|entry| entry.kind) {
            None => "passed",
            Some(kind) => kind.word(),
        }
    }

    fn total_of(&self, tested: &[Tested]) -> Total {
        Total::of(tested.iter().filter(|tested| self.covers(&tested.case.file)))
    }
}

impl Total {
    pub(super) fn of<'a>(tested: impl IntoIterator<Item = &'a Tested>) -> Self {
        let mut total = Self::default();
        for tested in tested {
            match tested.outcome {
                Outcome::Passed => total.passed += 1,
                Outcome::Failed(_) => total.failed += 1,
                Outcome::Skipped(_) => total.skipped += 1,
            }
        }
        total
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

fn is_below(file: &str, path: &str) -> bool {
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
