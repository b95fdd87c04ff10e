//! Where a run and the snapshots disagree.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

use super::results::{Snapshot, Total, is_below};
use crate::test262::outcome::Outcome;
use crate::test262::plan::Case;
use crate::test262::run::Tested;

/// Where a run and a snapshot disagree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// One case ends otherwise.
    Outcome { case: Case, expected: &'static str, found: Outcome },
    /// A case that the snapshot lists was not found in the suite.
    Gone { case: Case, file: PathBuf },
    /// The counts of a snapshot: a test more or less is a change, too.
    Total { file: PathBuf, expected: Total, found: Total },
}

/// Compares the results of a run over `paths` with what the snapshots have for them. What no snapshot covers has to
/// pass.
pub(crate) fn compare(snapshots: &[Snapshot], paths: &[String], tested: &[Tested]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for Tested { case, outcome, .. } in tested {
        let covering = snapshots.iter().find(|snapshot| snapshot.covers(&case.file));
        // To skip is no failure, so a case that no snapshot knows may be skipped.
        let expected = covering.map_or(
            match outcome {
                Outcome::Skipped(_) => "skipped",
                _ => "passed",
            },
            |snapshot| snapshot.expected(case),
        );
        if expected != outcome.word() {
            differences.push(Difference::Outcome { case: case.clone(), expected, found: outcome.clone() });
        }
    }
    let present: HashSet<&Case> = tested.iter().map(|tested| &tested.case).collect();
    for snapshot in snapshots {
        let is_run = |file: &str| paths.iter().any(|path| is_below(file, path));
        let gone = snapshot.entries.keys().filter(|case| is_run(&case.file) && !present.contains(case));
        let gone = gone.map(|case| Difference::Gone { case: case.clone(), file: snapshot.file.clone() });
        differences.extend(gone);
        let found = snapshot.total_of(tested);
        if let Some(expected) = snapshot.total
            && snapshot.is_whole_in(paths)
            && expected != found
        {
            differences.push(Difference::Total { file: snapshot.file.clone(), expected, found });
        }
    }
    differences
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome { case, expected, found } => {
                write!(f, "{case}: {}, expected: {expected}", found.word())
            }
            Self::Gone { case, file } => write!(f, "{case}: in {}, but not in the suite", file.display()),
            Self::Total { file, expected, found } => {
                write!(f, "{}: {found}, expected: {expected}", file.display())
            }
        }
    }
}
