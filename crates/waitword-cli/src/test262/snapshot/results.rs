//! The contents of a snapshot, its update from a run, and the differences between the two.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use crate::test262::outcome::Outcome;
use crate::test262::plan::Case;
use crate::test262::run::Tested;

/// How many cases ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

/// One file of results.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) file: PathBuf,
    /// The paths that it covers, in the suite's spelling.
    pub(crate) paths: Vec<String>,
    /// The version of the suite, for readers of the file.
    pub(super) suite: String,
    /// `None` in a new file.
    pub(super) total: Option<Total>,
    /// The cases that do not pass.
    pub(super) entries: BTreeMap<Case, Entry>,
}

/// A case that does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) outcome: Outcome,
    /// Why it fails, written by hand.
    pub(super) because: Option<String>,
}

impl Snapshot {
    /// Replaces the contents with the results of a run over all covered paths.
    pub(crate) fn update(&mut self, suite: &str, tested: &[Tested]) {
        self.suite = format!("test262, {suite}");
        self.total = Some(self.total_of(tested));
        let covered = tested.iter().filter(|tested| self.covers(&tested.case.file));
        let entries = covered.filter_map(|Tested { case, outcome, .. }| {
            // The outcome of a skipped case has its reason already.
            let is_failure = matches!(outcome, Outcome::Failed(_));
            let because = self.because(case).filter(|_| is_failure).map(str::to_owned);
            let entry = Entry { outcome: outcome.clone(), because };
            (*outcome != Outcome::Passed).then(|| (case.clone(), entry))
        });
        self.entries = entries.collect();
    }

    /// Whether a run over `paths` runs all that this covers.
    pub(crate) fn is_whole_in(&self, paths: &[String]) -> bool {
        self.paths.iter().all(|own| paths.iter().any(|path| is_below(own, path)))
    }

    /// Why a case fails, if that is known.
    pub(crate) fn because(&self, case: &Case) -> Option<&str> {
        self.entries.get(case)?.because.as_deref()
    }

    pub(super) fn covers(&self, file: &str) -> bool {
        self.paths.iter().any(|path| is_below(file, path))
    }

    pub(super) fn expected(&self, case: &Case) -> &'static str {
        self.entries.get(case).map_or(&Outcome::Passed, |entry| &entry.outcome).word()
    }

    pub(super) fn total_of(&self, tested: &[Tested]) -> Total {
        Total::of(tested.iter().filter(|tested| self.covers(&tested.case.file)))
    }
}

impl Total {
    pub(crate) fn of<'a>(tested: impl IntoIterator<Item = &'a Tested>) -> Self {
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

/// The differences between a run over `paths` and the snapshots, for the user. Tests that no snapshot covers are expected to pass.
pub(crate) fn compare(snapshots: &[Snapshot], paths: &[String], tested: &[Tested]) -> Vec<String> {
    let mut differences = Vec::new();
    for Tested { case, outcome, .. } in tested {
        let covering = snapshots.iter().find(|snapshot| snapshot.covers(&case.file));
        // Skipping is not a failure, so a case that no snapshot covers may be skipped.
        let expected = match (covering, outcome) {
            (Some(snapshot), _) => snapshot.expected(case),
            (None, Outcome::Skipped(_)) => "skipped",
            (None, _) => "passed",
        };
        if expected != outcome.word() {
            differences.push(format!("{case}: {}, expected: {expected}", outcome.word()));
        }
    }
    let present: HashSet<&Case> = tested.iter().map(|tested| &tested.case).collect();
    for snapshot in snapshots {
        let file = snapshot.file.display();
        let is_run = |case: &&Case| paths.iter().any(|path| is_below(&case.file, path));
        let gone = snapshot.entries.keys().filter(is_run).filter(|case| !present.contains(case));
        differences.extend(gone.map(|case| format!("{case}: in {file}, but not in the suite")));
        // A different number of tests is a difference, too.
        let found = snapshot.total_of(tested);
        if let Some(expected) = snapshot.total
            && snapshot.is_whole_in(paths)
            && expected != found
        {
            differences.push(format!("{file}: {found}, expected: {expected}"));
        }
    }
    differences
}

fn is_below(file: &str, path: &str) -> bool {
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
