//! Condition variables: a bounded queue, and a herd that is woken at once.

pub(super) mod bounded_queue;
pub(super) mod herd;
