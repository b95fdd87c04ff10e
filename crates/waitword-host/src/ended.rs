//! How a program ended: its exit code, its failure, the waits that it left behind.

use crate::agent_name::AgentName;
use crate::failure::Failure;

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

/// The exit code of a program whose main module awaits what will never come.
pub(crate) const EXIT_UNSETTLED_AWAIT: i32 = 13;
/// The exit code of a program whose time is up: that of the command `timeout`.
pub const EXIT_TIMED_OUT: i32 = 124;
/// The exit code of a program whose standard output was closed: what a shell shows for a program ended by SIGPIPE.
pub(crate) const EXIT_OUTPUT_CLOSED: i32 = 141;
