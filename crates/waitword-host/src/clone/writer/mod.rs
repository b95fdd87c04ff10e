//! From values to the tape: `walk.rs` is the way through the graph, `kinds.rs` how each kind of value is written.

mod kinds;
mod walk;

pub(crate) use walk::write;
