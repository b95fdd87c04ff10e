//! `waitword test262`: runs the conformance suite of ECMA-262 on the engine with waitword's queue.
//!
//! The suite is a checkout of the user's, which is not modified (`suite.rs`). The front matter of a test says how to run it
//! (`front_matter.rs`): as one or two cases (`plan.rs`). Each case runs in a process of its own (`run.rs`), which runs the test
//! (`case/`) and prints the outcome (`outcome.rs`). The results are compared with snapshots of earlier ones (`snapshot/`) and
//! shown.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod args;
mod case;
mod front_matter;
mod outcome;
mod plan;
mod run;
mod snapshot;
mod suite;

pub(crate) use args::{Test262, Test262Case};
pub(crate) use case::run as run_case;
use outcome::Outcome;
use plan::Planned;
use run::{Runner, Tested};
use snapshot::{Snapshot, Total};
use suite::Suite;

const AS_EXPECTED: i32 = 0;
const NOT_AS_EXPECTED: i32 = 1;
const MISTAKE: i32 = 2;

/// Runs the command. Returns its exit code.
pub(crate) fn run(command: &Test262) -> i32 {
    match try_run(command) {
        Ok(true) => AS_EXPECTED,
        Ok(false) => NOT_AS_EXPECTED,
        Err(error) => {
            eprintln!("error: {error}");
            MISTAKE
        }
    }
}

/// Returns whether everything was as expected.
fn try_run(command: &Test262) -> Result<bool, String> {
    let suite = Suite::open(&command.dir)?;
    let folder = snapshot_folder(command)?;
    let mut snapshots = snapshot::load_all(folder)?;
    let paths = paths(command, &suite, &snapshots)?;
    let mut updated: Vec<&mut Snapshot> =
        snapshots.iter_mut().filter(|snapshot| command.update && snapshot.is_whole_in(&paths)).collect();
    if command.update && updated.is_empty() {
        return Err(format!(
            "no snapshot in {} has all its paths among those to be run: leave out the paths, or begin a snapshot with \
             a line such as `path {}`",
            folder.display(),
            paths.first().map_or("test/built-ins/Atomics", String::as_str)
        ));
    }
    let start = Instant::now();
    let tested = run_all(command, &suite, &plan::plan(&suite, &files(&suite, &paths)?)?)?;
    let version = suite.version();
    for snapshot in &mut updated {
        snapshot.update(&version, &tested);
        snapshot.save()?;
    }
    let differences = match command.update {
        true => Vec::new(),
        false => snapshot::compare(&snapshots, &paths, &tested),
    };
    let report = Report {
        suite: &version,
        tested: &tested,
        snapshots: &snapshots,
        differences: &differences,
        time: start.elapsed(),
    };
    let text = if command.json { report.json() } else { report.text() };
    // Ignored: without a reader, the exit code still reports the result.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(differences.is_empty())
}

/// The folder of the snapshots. The default folder need not exist; one that the user names must.
fn snapshot_folder(command: &Test262) -> Result<&Path, String> {
    match &command.snapshots {
        Some(folder) if !folder.is_dir() => {
            Err(format!("no folder {}: create it, or leave out --snapshots", folder.display()))
        }
        Some(folder) => Ok(folder),
        None => Ok(Path::new("conformance")),
    }
}

/// The paths to run, in the suite's spelling: those that the user names, else those that the snapshots cover, else all.
fn paths(command: &Test262, suite: &Suite, snapshots: &[Snapshot]) -> Result<Vec<String>, String> {
    if !command.paths.is_empty() {
        return command.paths.iter().map(|path| suite.normal(path)).collect();
    }
    let covered: Vec<String> = snapshots.iter().flat_map(|snapshot| snapshot.paths.clone()).collect();
    Ok(if covered.is_empty() { vec!["test".to_owned()] } else { covered })
}

/// Every test below the paths, once.
fn files(suite: &Suite, paths: &[String]) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(suite.tests(path)?);
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn run_all(command: &Test262, suite: &Suite, plan: &[Planned]) -> Result<Vec<Tested>, String> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| format!("cannot find this program's executable: {error}"))?;
    let cores = || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let jobs = command.jobs.unwrap_or_else(cores).get();
    let runner = Runner { program: &program, suite: suite.root(), jobs, time_limit: command.time_limit };
    let is_shown = std::io::stderr().is_terminal();
    let counts = Mutex::new((0, 0));
    let tested = runner.run(plan, |outcome| {
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.0 += 1;
        counts.1 += usize::from(matches!(outcome, Outcome::Failed(_)));
        if is_shown {
            eprint!("\r{} of {}, {} failed", counts.0, plan.len(), counts.1);
        }
    });
    if is_shown {
        eprint!("{CLEAR_LINE}");
    }
    Ok(tested)
}

/// Moves a terminal's cursor to the beginning of the line, and clears the line.
const CLEAR_LINE: &str = "\r\x1b[K";

/// The results of a run.
struct Report<'a> {
    /// The version of the suite.
    suite: &'a str,
    tested: &'a [Tested],
    snapshots: &'a [Snapshot],
    differences: &'a [String],
    time: Duration,
}

impl Report<'_> {
    /// The failures, each with its error and its cause, then what is not as expected, and the totals at the end,
    /// where a terminal shows them.
    fn text(&self) -> String {
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
    fn json(&self) -> String {
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
