//! The one door to atomics, locks and threads: the standard library's, or loom's under `--cfg loom`.
//!
//! Nobody in this crate imports them from anywhere else, so that the model checker sees every step.

#[cfg(not(loom))]
#[path = "std.rs"]
mod imp;

#[cfg(loom)]
#[path = "loom.rs"]
mod imp;

pub(crate) use imp::{Mutex, MutexGuard, UnsafeCell, atomic, thread};
