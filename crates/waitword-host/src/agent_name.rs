//! The number of an agent, and its name in messages.

use std::fmt;

/// The number of an agent: `threadId` in scripts.
pub(crate) type ThreadId = u32;

/// The main agent.
pub(crate) const MAIN: ThreadId = 0;

/// The name of an agent in messages: `main`, `worker 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentName(pub(crate) ThreadId);

impl AgentName {
    /// Returns the agent's `threadId`: 0 for the main agent, from 1 for workers in the order of creation.
    pub fn thread_id(self) -> u32 {
        self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            MAIN => f.write_str("main"),
            id => write!(f, "worker {id}"),
        }
    }
}
