//! Mutexes: the uncontended one, one that is held, then contests among threads, among tasks, and among both.

pub(super) mod held;
pub(super) mod mixed;
pub(super) mod tasks;
pub(super) mod threads;
pub(super) mod uncontended;
