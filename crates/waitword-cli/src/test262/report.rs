//! What a run has to say, for people and for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::run::Tested;
use super::snapshot::{Snapshot, Total};

/// Everything about a run that is over.
pub(super) struct Report<'a> {
    /// The version of the suite.
    pub(super) suite: &'a str,
    pub(super) tested: &'a [Tested],
    pub(super) snapshots: &'a [Snapshot],
    pub(super) differences: &'a [String],
    pub(super) time: Duration,
}

impl Report<'_> {
    /// The failures, each with its error and its cause, then what is not as expected, and the totals at the end, where a
    /// terminal shows them.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for Tested { case, outcome, .. } in self.tested {
            let Outcome::Failed(error) = outcome else { continue };
            // Writing to a String cannot fail.
            let _ = write!(text, "failed {case}\n    {error}\n");
            if let Some(because) = self.snapshots.iter().find_map(|snapshot| snapshot.because(case)) {
                let _ = writeln!(text, "    because {because}");
            }
        }
        if !self.differences.is_empty() {
            text += "\nNot as expected:\n";
        }
        for difference in self.differences {
            let _ = writeln!(text, "    {difference}");
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", Total::of(self.tested));
        text
    }

    /// The same as one JSON object, with every case.
    pub(super) fn json(&self) -> String {
        let tests: Vec<Value> = self.tested.iter().map(test).collect();
        let total = Total::of(self.tested);
        let report = json!({
            "suite": self.suite,
            "passed": total.passed,
            "failed": total.failed,
            "skipped": total.skipped,
            "asExpected": self.differences.is_empty(),
            "differences": self.differences,
            "seconds": self.time.as_secs_f64(),
            "tests": tests,
        });
        format!("{report:#}\n")
    }
}

fn test(Tested { case, outcome, time }: &Tested) -> Value {
    json!({
        "file": case.file,
        "mode": case.mode.to_string(),
        "outcome": outcome.word(),
        "detail": outcome.detail(),
        "seconds": time.as_secs_f64(),
    })
}
