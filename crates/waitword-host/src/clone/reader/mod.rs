//! From the tape to values: `walk.rs` is the way along the tape, `kinds.rs` how each kind of value is made.

mod kinds;
mod walk;

pub(crate) use walk::read;
