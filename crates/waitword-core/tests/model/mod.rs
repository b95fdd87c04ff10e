//! What the queue does without concurrency, and a driver that takes a table through the same history.

mod driver;
mod history;
mod sequential;
mod world;

pub(crate) use driver::run;
pub(crate) use history::History;
use sequential::{Id, Model, State};
