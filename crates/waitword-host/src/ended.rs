//! How a program ended: its exit code, the error of a script, and the abandoned waits. Plain data, which can cross threads and be printed.

use crate::agent_name::{AgentName, ThreadId};

/// How a program ended: the result of [`Program::run`](crate::Program::run).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it says whether the program failed"]
pub struct Ended {
    /// The exit code for the process.
    pub exit_code: i32,
    /// The error that ended the program.
    pub failure: Option<Failure>,
    /// The waits that were pending at the standstill or at the timeout.
    pub abandoned: Vec<AbandonedWait>,
    /// The agents that were alive at the timeout.
    pub alive: Vec<AliveAgent>,
    /// Whether the program came to a standstill: all agents that were left slept or were blocked, and nothing could wake them.
    pub is_standstill: bool,
    /// Whether the [timeout](crate::Program::timeout) ended the program.
    pub is_timed_out: bool,
    /// Whether the main module still awaited, at its top level, a promise that can never be settled.
    pub is_awaiting: bool,
}

/// A wait that was pending when the program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedWait {
    /// The agent that waited.
    pub agent: AgentName,
    /// `true` if it was blocked in `Atomics.wait`, `false` for a promise of `Atomics.waitAsync`.
    pub is_blocked: bool,
    /// The block of shared memory: equal numbers mean the same block, and nothing else.
    pub block: usize,
    /// The word's offset in the block, in bytes.
    pub byte_index: usize,
    /// The line of the script that waited, as `file:line:column`, if the stack contains it.
    pub place: Option<String>,
}

/// An agent that was alive at the timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliveAgent {
    /// The agent.
    pub agent: AgentName,
    /// What it was doing.
    pub activity: Activity,
}

/// What an agent was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It was running a script, or starting.
    Running,
    /// It was sleeping in its event loop, until a timer, a message or a notify.
    Sleeping,
    /// It was blocked in `Atomics.wait`.
    Blocked,
}

/// The exit code of a program whose main module awaits a promise that can never be settled.
pub(crate) const EXIT_UNSETTLED_AWAIT: i32 = 13;
/// The exit code of a program that [timed out](crate::Program::timeout): 124, as of the command `timeout`.
pub const EXIT_TIMED_OUT: i32 = 124;
/// The exit code of a program whose standard output was closed: the code that a shell shows for a program ended by SIGPIPE.
pub(crate) const EXIT_OUTPUT_CLOSED: i32 = 141;

/// An error that ended an agent, and with it the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The agent in which the error occurred.
    pub agent: AgentName,
    /// The kind of the error.
    pub kind: FailureKind,
    /// The thrown value as text, in one line or a few: `TypeError: not a function`.
    pub message: String,
    /// The position in the source text, if the error contains it.
    pub place: Option<Place>,
    /// The lines of the stack, innermost first: `at lock (/home/me/lock.js:12:5)`. Frames of the host are left out.
    pub stack: Vec<String>,
    /// Further properties of the error (its cause, a code), as `console.log` would show them, or empty.
    pub details: String,
}

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A script or one of its imports could not be found, read or parsed.
    Load,
    /// An exception was not caught.
    Uncaught,
    /// The rejection of a promise was not handled.
    UnhandledRejection,
    /// The memory limit was reached and the error was not caught, or a script continued until no memory was left.
    OutOfMemory,
    /// The host itself failed: it panicked, or could not get the memory or the thread for an agent.
    Internal,
}

/// A position in source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or a name for text without a file, such as `[worker eval]`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, in characters from 1, if known.
    pub column: Option<u32>,
    /// The line itself, if it could be read.
    pub text: Option<String>,
}

impl Failure {
    pub(crate) fn internal(agent: ThreadId, message: String) -> Self {
        Self::plain(agent, FailureKind::Internal, message)
    }

    /// The failure of a script that continued after an out-of-memory error until there was no memory for another.
    pub(crate) fn out_of_memory(agent: ThreadId) -> Self {
        Self::plain(agent, FailureKind::OutOfMemory, format!("{OUT_OF_MEMORY}, even for the error"))
    }

    /// A failure with nothing but a message.
    pub(crate) fn plain(agent: ThreadId, kind: FailureKind, message: String) -> Self {
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

/// The text of the error that the engine throws when it has no memory.
pub(crate) const OUT_OF_MEMORY: &str = "InternalError: out of memory";
