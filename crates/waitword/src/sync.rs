//! The one door to atomics for the words that `tests/models.rs` compiles a second time, for a model checker.

pub(crate) use std::sync::atomic;
