//! What a worker posts to its parent.

use waitword_agents::Charge;

use crate::channel::Message;
use crate::clone::SerializedMessage;
use crate::failure::Failure;

/// What a worker posts to its parent.
pub(crate) enum WorkerEvent {
    /// Its script is about to start.
    Online,
    Message(Message),
    /// It has printed something: the stream, the text, and what that costs the worker until it is read.
    Printed(i32, String, Option<Charge>),
    /// It failed; what was thrown, if that could be copied.
    Failed(Box<Failure>, Option<SerializedMessage>),
    /// It is gone, and with it all its waits.
    Exited(i32),
}
