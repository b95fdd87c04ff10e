//! What went wrong in a script, as plain data that crosses threads and that a command line can show.

use crate::agent_name::{AgentName, ThreadId};

/// An error that ended an agent, and with it the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The agent in which it happened.
    pub agent: AgentName,
    /// What kind of error it was.
    pub kind: FailureKind,
    /// What was thrown, in one line or a few: `TypeError: not a function`.
    pub message: String,
    /// Where in the source text, if the error says so.
    pub place: Option<Place>,
    /// The lines of the stack, innermost first: `at lock (/home/me/lock.js:12:5)`. Frames of the host are left out.
    pub stack: Vec<String>,
    /// What else the script put on the error (its cause, a code), as `console.log` would show it; or empty.
    pub details: String,
}

/// The ways in which a script can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A script, or something it imports, could not be read, or parsed, or found.
    Load,
    /// Nobody caught an exception.
    Uncaught,
    /// Nobody handled the rejection of a promise.
    UnhandledRejection,
    /// The memory limit was reached, and nobody caught the error; or a script went on until nothing was left.
    OutOfMemory,
    /// The host itself failed: a panic, or no memory or thread to start with.
    Internal,
}

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or what stands for it: `[worker eval]`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, in characters from 1, if known.
    pub column: Option<u32>,
    /// The line itself, if it could be read.
    pub text: Option<String>,
}

impl Failure {
    /// A failure to get at a script at all.
    pub(crate) fn load(agent: ThreadId, kind: FailureKind, message: String) -> Self {
        Self::plain(agent, kind, message)
    }

    pub(crate) fn internal(agent: ThreadId, message: String) -> Self {
        Self::plain(agent, FailureKind::Internal, message)
    }

    /// A script that went on after its error for lack of memory.
    pub(crate) fn out_of_memory(agent: ThreadId) -> Self {
        Self::plain(agent, FailureKind::OutOfMemory, format!("{OUT_OF_MEMORY}, also for the error"))
    }

    fn plain(agent: ThreadId, kind: FailureKind, message: String) -> Self {
        Self {
            agent: AgentName(agent),
            kind,
            message,
            place: None,
            stack: Vec::new(),
            details: String::new(),
        }
    }
}

/// What the engine throws when there is no memory, as text.
pub(crate) const OUT_OF_MEMORY: &str = "InternalError: out of memory";
