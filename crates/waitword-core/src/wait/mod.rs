//! Waits: of a blocked thread, of a task, of an agent; and how each leaves the queue.

#[allow(unsafe_code)]
mod agent;
mod blocking;
#[allow(unsafe_code)]
mod future;
#[allow(unsafe_code)]
mod timed;

pub use agent::InboxWait;
pub use blocking::{wait, wait_for, wait_from, wait_interruptible, wait_until};
pub use future::{WaitAsync, wait_async, wait_async_from};
pub use timed::{WaitAsyncUntil, wait_async_for, wait_async_until};
