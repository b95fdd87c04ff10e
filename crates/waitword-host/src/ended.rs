//! How a program ended: its exit code, what went wrong in a script, the waits that were left behind; plain data that crosses threads and
//! that a command line can show.

use crate::agent_name::{AgentName, ThreadId};

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it says whether the program failed"]
pub struct Ended {
    /// What the process should exit with.
    pub exit_code: i32,
    /// The error that ended it.
    pub failure: Option<Failure>,
    /// The waits that were pending when nothing could happen any more, or when time was up.
    pub abandoned: Vec<AbandonedWait>,
    /// The agents that there were when time was up.
    pub alive: Vec<AliveAgent>,
    /// The program came to a standstill before its agents were done: all of them slept or were blocked.
    pub is_standstill: bool,
    /// Its [time](crate::Program::timeout) was up.
    pub is_timed_out: bool,
    /// The main module still awaited something: `await` at its top level, of a promise that can never be settled.
    pub is_awaiting: bool,
}

/// A wait that nobody can end any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedWait {
    /// The agent that waits.
    pub agent: AgentName,
    /// Whether it is blocked in `Atomics.wait`, or awaits the promise of `Atomics.waitAsync`.
    pub is_blocked: bool,
    /// Which shared memory: equal for waits on the same block, and otherwise meaningless.
    pub block: usize,
    /// Where in the block, in bytes.
    pub byte_index: usize,
    /// The line of the script that waits: `file:line:column`, if the stack says so.
    pub place: Option<String>,
}

/// An agent that had not ended when time was up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliveAgent {
    /// The agent.
    pub agent: AgentName,
    /// What it did.
    pub activity: Activity,
}

/// What an agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It runs a script, or starts.
    Running,
    /// It sleeps in its event loop, until a timer, a message or a notify.
    Sleeping,
    /// It is blocked in `Atomics.wait`.
    Blocked,
}

/// The exit code of a program whose main module awaits what will never come.
pub(crate) const EXIT_UNSETTLED_AWAIT: i32 = 13;
/// The exit code of a program whose time is up: that of the command `timeout`.
pub const EXIT_TIMED_OUT: i32 = 124;
/// The exit code of a program whose standard output was closed: what a shell shows for a program ended by SIGPIPE.
pub(crate) const EXIT_OUTPUT_CLOSED: i32 = 141;

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
    pub(crate) fn internal(agent: ThreadId, message: String) -> Self {
        Self::plain(agent, FailureKind::Internal, message)
    }

    /// A script that went on after its error for lack of memory.
    pub(crate) fn out_of_memory(agent: ThreadId) -> Self {
        Self::plain(agent, FailureKind::OutOfMemory, format!("{OUT_OF_MEMORY}, also for the error"))
    }

    /// One of which there is nothing to show but the message.
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

/// What the engine throws when there is no memory, as text.
pub(crate) const OUT_OF_MEMORY: &str = "InternalError: out of memory";
