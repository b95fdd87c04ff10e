//! What the queue does without concurrency, and a driver that takes a table through the same history.

mod driver;
mod history;
mod sequential;
mod world;

// `verify/web/` runs it in a worker, and has threads of its own.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
use crate::threads as thread;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::thread;

pub(crate) use driver::run;
pub(crate) use history::History;
use sequential::{Id, Model, State};
