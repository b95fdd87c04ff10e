//! Threads, tasks and agents; what they did, where, and how long ago.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::nanos;

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
        /// The number of [`identify`](crate::identify), or else one in order of first appearance, which the task keeps as long as each
        /// snapshot sees it.
        number: u64,
        /// Its name, if one is known.
        name: Option<String>,
    },
    /// A JavaScript agent that does not block. One that blocks is a [`BlockedAgent`](Self::BlockedAgent), or its thread if the host does not
    /// name the agent.
    Agent {
        /// A number in order of first appearance, as for a task; for an agent with a name, its `threadId` in scripts.
        number: u64,
        /// Its name, if one is known.
        name: Option<String>,
    },
    /// A JavaScript agent whose thread blocks in `Atomics.wait`.
    BlockedAgent {
        /// Its `threadId` in scripts.
        number: u64,
        /// Its name.
        name: String,
    },
}

impl Actor {
    /// Returns `true` if it does nothing else while it waits. A task may await something else at the same time (`select!`), and an agent may
    /// run other jobs.
    pub fn blocks(&self) -> bool {
        matches!(self, Self::Thread { .. } | Self::BlockedAgent { .. })
    }
}

/// A place in the source. It prints as `file:line`; a place in a script as `file:line:column`, because a script may be a single line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The path of the file that was passed to the compiler.
    pub file: Cow<'static, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file().into(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line_and_column())
    }
}

impl Site {
    pub(crate) fn line_and_column(&self) -> String {
        match self.file.ends_with(".rs") {
            true => self.line.to_string(),
            false => format!("{}:{}", self.line, self.column),
        }
    }
}

/// The last change of a word, or its last notify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// Who did it. An agent may have ended since then.
    pub actor: Actor,
    /// Where it was done.
    pub site: Option<Site>,
    /// How long ago it was done.
    #[serde(rename = "ago_ns", with = "nanos")]
    pub ago: Duration,
    /// How many waiters a notify woke; `None` for a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken: Option<usize>,
}

/// An actor that has ended and still holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The actor.
    pub actor: Actor,
    /// How long ago it ended.
    #[serde(rename = "ago_ns", with = "nanos")]
    pub ago: Duration,
}
