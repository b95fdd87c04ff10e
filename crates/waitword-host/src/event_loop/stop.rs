//! Why an agent stopped.

use crate::clone::SerializedMessage;
use crate::failure::Failure;

/// Why an agent stopped.
pub(crate) enum Stop {
    /// It has nothing left to do.
    Done {
        /// What the script wants the exit code to be.
        exit_code: i32,
        /// Its module still awaits something.
        is_awaiting: bool,
    },
    /// It called `process.exit`.
    Exit(i32),
    Terminated,
    /// It failed; what was thrown, for the parent.
    Failed(Box<Failure>, Option<SerializedMessage>),
}
