//! Runs the cases: each in a process of its own, so that none can harm another, and a chosen number at a time.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::outcome::{self, Outcome};
use super::plan::{Case, Planned};

/// The subcommand that runs one case.
const COMMAND: &str = "test262-case";

/// A case that has ended.
#[derive(Clone, Debug)]
pub(super) struct Tested {
    pub(super) case: Case,
    pub(super) outcome: Outcome,
    pub(super) time: Duration,
}

/// How cases are run.
pub(super) struct Runner<'a> {
    /// This program, which runs one case with the subcommand [`COMMAND`].
    pub(super) program: &'a Path,
    /// The suite's folder.
    pub(super) suite: &'a Path,
    pub(super) jobs: usize,
    pub(super) time_limit: Duration,
}

impl Runner<'_> {
    /// Runs all cases. The results are in the order of the plan. `each` is called with every outcome when its case ends.
    pub(super) fn run(&self, plan: &[Planned], each: impl Fn(&Outcome) + Sync) -> Vec<Tested> {
        let next = AtomicUsize::new(0);
        let ended = Mutex::new(Vec::with_capacity(plan.len()));
        let work = || {
            while let Some((index, planned)) = take(&next, plan) {
                let tested = self.run_planned(planned);
                each(&tested.outcome);
                ended.lock().unwrap_or_else(PoisonError::into_inner).push((index, tested));
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.jobs.min(plan.len()) {
                // If the system cannot start more threads, fewer cases run at a time.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        ended.sort_by_key(|(index, _)| *index);
        ended.into_iter().map(|(_, tested)| tested).collect()
    }

    fn run_planned(&self, planned: &Planned) -> Tested {
        let start = Instant::now();
        let failed = |error| Outcome::Failed(format!("cannot start a process: {error}"));
        let outcome = planned.ahead.clone();
        let outcome = outcome.unwrap_or_else(|| self.run_case(&planned.case).unwrap_or_else(failed));
        Tested { case: planned.case.clone(), outcome, time: start.elapsed() }
    }

    fn run_case(&self, case: &Case) -> io::Result<Outcome> {
        let (mut output, input) = io::pipe()?;
        let (sender, receiver) = channel();
        let reader = thread::Builder::new().spawn(move || {
            let mut bytes = Vec::new();
            // Ignored: what was read before the error is used.
            let _ = output.read_to_end(&mut bytes);
            let _ = sender.send(());
            String::from_utf8_lossy(&bytes).into_owned()
        })?;
        // One pipe for all that the process prints. The command holds the ends that the process inherits, and is dropped before
        // we wait for the end of the output.
        let mut child = Command::new(self.program)
            .args([COMMAND.as_ref(), self.suite.as_os_str()])
            .args([&case.file, &case.mode.to_string()])
            .stdin(Stdio::null())
            .stdout(input.try_clone()?)
            .stderr(input)
            .spawn()?;
        let is_late = receiver.recv_timeout(self.time_limit) == Err(RecvTimeoutError::Timeout);
        if is_late {
            child.kill()?;
        }
        let status = child.wait()?;
        let output = reader.join().unwrap_or_default();
        Ok(outcome::find(&output).unwrap_or_else(|| {
            let how = match is_late {
                true => format!("timed out after {:?}", self.time_limit),
                false => format!("ended without an outcome ({status})"),
            };
            // Often the reason: the error of another agent, or the last output of the engine.
            let why = output.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
            Outcome::Failed(format!("{how}{why}"))
        }))
    }
}

fn take<'a>(next: &AtomicUsize, plan: &'a [Planned]) -> Option<(usize, &'a Planned)> {
    // Relaxed: the cases were read before the threads started, so the counter orders nothing.
    let index = next.fetch_add(1, Ordering::Relaxed);
    plan.get(index).map(|planned| (index, planned))
}
