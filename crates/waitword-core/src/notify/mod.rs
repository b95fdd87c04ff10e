//! Ends waits, or only wakes: notify, signal, requeue, and notify in one step with a change of the word.

mod ahead;
mod dequeue;
mod replace;
#[allow(unsafe_code)]
mod requeue;
mod signal;

pub use ahead::wake_ahead;
pub(crate) use dequeue::notify;
pub use dequeue::{notify_all, notify_last, notify_many, notify_one};
pub use replace::{notify_last_or_replace, notify_one_or_replace, replace_and_notify_all, replace_if_idle};
pub use requeue::requeue_while_equal;
pub use signal::{is_queue_stalled, signal_one};
