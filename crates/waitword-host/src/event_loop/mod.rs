//! The event loop of an agent: runs a job, its microtasks, the next job, and sleeps when there is none.
//!
//! `start.rs` runs the script, `jobs.rs` the jobs and their microtasks; `errors.rs` handles what a script does not catch.

use std::cell::Cell;
use std::time::Instant;

use waitword_quickjs::{JsAgent, PromiseState, Realm};

use crate::agent_host::Host;
use crate::agent_name::AgentName;
use crate::clone::SerializedMessage;
use crate::cluster::Woken;
use crate::ended::{AbandonedWait, Failure, FailureKind};
use crate::liveness::Reason;
use crate::mailbox::{Arrival, WorkerEvent};
use crate::worker_options::{Data, Entry};

mod errors;
mod jobs;
mod start;

/// Why an agent stopped.
pub(crate) enum Stop {
    /// It has nothing left to do.
    Done {
        /// The exit code that the script set.
        exit_code: i32,
        /// Whether its module still awaits a promise.
        is_awaiting: bool,
    },
    /// It called `process.exit`.
    Exit(i32),
    Terminated,
    /// It failed, with the thrown value for the parent.
    Failed(Box<Failure>, Option<SerializedMessage>),
}

/// The exit code of an agent that fails.
pub(crate) const FAILED: i32 = 1;

/// What is left to run in a turn, for each source. It is an upper bound, because a script may stop a timer.
#[derive(Clone, Copy, Default)]
struct Turn {
    /// How many waits may settle: the number that was pending when the turn began.
    waits: usize,
    /// The time at which the turn began. The timers due then are run. `None` if there were no timers.
    due: Option<Instant>,
    arrivals: usize,
}

/// The event loop of an agent.
pub(crate) struct EventLoop<'a> {
    pub(super) agent: &'a JsAgent,
    pub(super) host: &'a Host,
    turn: Cell<Turn>,
    /// The exit code if the agent fails.
    pub(crate) failure_code: Cell<i32>,
}

impl<'a> EventLoop<'a> {
    pub(crate) fn new(agent: &'a JsAgent, host: &'a Host) -> Self {
        Self { agent, host, turn: Cell::default(), failure_code: Cell::new(FAILED) }
    }

    pub(super) fn realm(&self) -> &Realm {
        self.agent.realm()
    }

    /// Runs the agent from its script to its end.
    pub(crate) fn run(&self, entry: Entry, data: Data) -> Stop {
        match self.run_to_end(entry, data) {
            Err(failed @ Stop::Failed(..)) => {
                // The last call of the script, which may still set another exit code. If this call fails as well, that is ignored.
                let chosen = self.host.call(self.realm(), "failing", &[]);
                let code = chosen.ok().and_then(|code| self.realm().to_i32(&code).ok());
                self.failure_code.set(code.unwrap_or(FAILED));
                self.host.exit.get().map_or(failed, Stop::Exit)
            }
            Ok(stop) | Err(stop) => stop,
        }
    }

    /// The waits that are still pending, for the report.
    pub(crate) fn abandoned(&self) -> Vec<AbandonedWait> {
        let agent = AgentName(self.host.id);
        let pending = self.agent.pending().into_iter();
        pending
            .map(|wait| AbandonedWait {
                agent,
                is_blocked: false,
                block: wait.block,
                byte_index: wait.byte_index,
                place: self.agent.call_site(wait.id),
            })
            .collect()
    }

    /// The first error of a worker that was never read.
    pub(crate) fn unread_failure(&self) -> Option<Stop> {
        std::iter::from_fn(|| self.host.links.mailbox.take()).find_map(|arrival| match arrival {
            Arrival::OfWorker(_, WorkerEvent::Failed((failure, thrown))) => {
                Some(Stop::Failed(failure, thrown))
            }
            _ => None,
        })
    }

    fn run_to_end(&self, entry: Entry, data: Data) -> Result<Stop, Stop> {
        let booted = self.boot(data);
        booted.map_err(|exception| self.stop(FailureKind::Internal, &exception))?;
        if let Some(parent) = &self.host.links.parent {
            parent.post(Arrival::OfWorker(self.host.id, WorkerEvent::Online));
            self.host.links.observed.goes_online();
        }
        let mut main_module = self.start(entry)?;
        if main_module.is_some() {
            // A module runs in a microtask itself, so the microtasks that it enqueued come before the `nextTick` callbacks.
            self.run_promise_jobs()?;
        }
        loop {
            // Before looking for work, so that a ring in the meantime is not lost.
            self.host.bell.clear();
            self.run_microtasks()?;
            if self.has_failed(main_module.as_ref())? {
                main_module = None;
                continue;
            }
            self.stopped().map_or(Ok(()), Err)?;
            if self.host.is_closing.get() {
                break;
            }
            if self.run_one_job()? {
                continue;
            }
            let Some(reason) = self.sleeps_for() else {
                if self.finds_more_to_do()? {
                    continue;
                }
                break;
            };
            self.agent.trim_after_a_crowd();
            self.host.links.observed.falls_idle();
            let woken = self.host.cluster.sleep(self.host.id, self.next_deadline(), reason);
            self.host.links.observed.wakes();
            if woken == Woken::Dismissed {
                break;
            }
        }
        // Emits `exit`. The script returns the exit code.
        let ending = self.host.call(self.realm(), "ending", &[]).and_then(|code| self.realm().to_i32(&code));
        let exit_code = ending.map_err(|exception| self.stop(FailureKind::Uncaught, &exception))?;
        let state = main_module.map(|promise| self.realm().promise_state(&promise));
        Ok(Stop::Done { exit_code, is_awaiting: matches!(state, Some(PromiseState::Pending)) })
    }

    /// Emits `beforeExit`, because nothing is left to do. Returns whether there is something to do after that.
    fn finds_more_to_do(&self) -> Result<bool, Stop> {
        self.call("idle", |_| Ok(Vec::new()))?;
        self.run_microtasks()?;
        Ok(self.run_one_job()? || self.sleeps_for().is_some())
    }

    fn next_deadline(&self) -> Option<Instant> {
        let timer = self.host.timers.borrow().next_due();
        [timer, self.agent.next_deadline()].into_iter().flatten().min()
    }

    /// Why the agent sleeps if there is no job; `None` if it has nothing left to do.
    fn sleeps_for(&self) -> Option<Reason> {
        let is_kept = self.host.timers.borrow().keep_alive()
            || self.agent.next_deadline().is_some()
            || self.host.workers.borrow().values().any(|worker| worker.keeps_alive)
            || self.host.links.ports().keep_alive()
            || !self.host.asked.borrow().is_empty();
        if is_kept {
            return Some(Reason::Messages);
        }
        (self.agent.pending_count() > 0).then_some(Reason::WaitsOnly)
    }
}
