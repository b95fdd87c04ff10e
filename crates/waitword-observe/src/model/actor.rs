//! A waiter's or holder's identity.

use serde::{Deserialize, Serialize};

/// A thread, a task or an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Actor {
    /// A thread that blocks.
    Thread {
        /// The number of its [`ThreadId`](std::thread::ThreadId).
        id: u64,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// A task of an executor.
    Task {
        /// A number in order of first appearance. A task keeps its number as long as each snapshot sees it.
        number: u64,
        /// Its name, if one is known.
        name: Option<String>,
    },
    /// A JavaScript agent that waits in a promise. (An agent that blocks is seen as its thread.)
    Agent {
        /// A number in order of first appearance, as that of a task.
        number: u64,
        /// Its name, if one is known.
        name: Option<String>,
    },
}

impl Actor {
    /// Whether it does nothing else while it waits. A task may await something else at the same time (`select!`), and an agent
    /// runs other jobs.
    pub fn blocks(&self) -> bool {
        matches!(self, Self::Thread { .. })
    }
}
