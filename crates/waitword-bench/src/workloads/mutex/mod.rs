//! Mutexes: the uncontended one, then contests among threads, among tasks, and among both.

pub(super) mod mixed;
pub(super) mod tasks;
pub(super) mod threads;
pub(super) mod uncontended;
