//! What the loop of one agent knows.

use std::cell::Cell;

use waitword_quickjs::{JsAgent, Realm};

use crate::agent_host::Host;

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
