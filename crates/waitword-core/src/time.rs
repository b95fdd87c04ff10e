//! The clock that deadlines are counted on.

pub use std::time::Duration;

/// A moment: the standard library's `Instant`.
///
/// On `wasm32-unknown-unknown` the standard library has no clock. There it is a type of this crate with the same methods,
/// that reads the host's clock (`waitword-web`) and counts from one origin in all agents.
pub use crate::sync::Instant;
