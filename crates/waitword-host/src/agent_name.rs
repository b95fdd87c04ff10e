//! The number of an agent, and the name that people read.

use std::fmt;

/// The number of an agent: `threadId` in scripts.
pub(crate) type ThreadId = u32;

/// The main agent.
pub(crate) const MAIN: ThreadId = 0;

/// An agent as people call it: `main`, `worker 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentName(pub(crate) ThreadId);

impl AgentName {
    /// `threadId` in its scripts: 0 in the main agent, counted up in workers.
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
