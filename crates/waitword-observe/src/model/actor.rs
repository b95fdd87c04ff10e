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
    /// A JavaScript agent. One that blocks is a [`BlockedAgent`](Self::BlockedAgent), or its thread where its host does not say more.
    Agent {
        /// A number in order of first appearance, as that of a task. Of one with a name, what scripts call its `threadId`.
        number: u64,
        /// Its name, if one is known.
        name: Option<String>,
    },
    /// A JavaScript agent whose thread blocks in `Atomics.wait`.
    BlockedAgent {
        /// What scripts call its `threadId`.
        number: u64,
        /// Its name.
        name: String,
    },
}

impl Actor {
    /// Whether it does nothing else while it waits. A task may await something else at the same time (`select!`), and an agent
    /// runs other jobs.
    pub fn blocks(&self) -> bool {
        matches!(self, Self::Thread { .. } | Self::BlockedAgent { .. })
    }
}
