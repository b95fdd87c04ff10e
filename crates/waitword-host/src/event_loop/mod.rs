//! What an agent's thread does all day: one job, its microtasks, the next job; else sleep.
//!
//! `run.rs` is the loop, `start.rs` runs the script, `jobs.rs` the jobs and their microtasks; what a script does not catch goes to
//! `errors.rs`.

use std::cell::Cell;

use waitword_quickjs::{JsAgent, Realm};

use crate::agent_host::Host;
use crate::clone::SerializedMessage;
use crate::ended::Failure;

mod errors;
mod jobs;
mod run;
mod start;

/// Why an agent stopped.
pub(crate) enum Stop {
    /// It has nothing left to do.
    Done {
        /// What the script wants the exit code to be.
        exit_code: i32,
        /// Its module still awaits something.
        is_awaiting: bool,
    },
    /// It called `process.exit`.
    Exit(i32),
    Terminated,
    /// It failed; what was thrown, for the parent.
    Failed(Box<Failure>, Option<SerializedMessage>),
}

/// The exit code of an agent that fails.
pub(crate) const FAILED: i32 = 1;

/// The loop of one agent.
pub(crate) struct EventLoop<'a> {
    pub(super) agent: &'a JsAgent,
    pub(super) host: &'a Host,
    /// The source whose turn it is.
    pub(super) turn: Cell<usize>,
    /// The exit code if the agent fails.
    pub(super) failure_code: Cell<i32>,
}

impl<'a> EventLoop<'a> {
    pub(crate) fn new(agent: &'a JsAgent, host: &'a Host) -> Self {
        Self { agent, host, turn: Cell::new(0), failure_code: Cell::new(FAILED) }
    }

    /// The exit code of a failure.
    pub(crate) fn failure_code(&self) -> i32 {
        self.failure_code.get()
    }

    pub(super) fn realm(&self) -> &Realm {
        self.agent.realm()
    }
}
