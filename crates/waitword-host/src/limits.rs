//! What the agents of a program may use.

use std::sync::Arc;

use waitword_agents::MemoryBudget;

/// How many workers of a program may be alive at a time unless [set otherwise](crate::Program::max_workers).
///
/// Each is a thread with an engine, which takes about a MiB of memory before its script has made anything.
pub const DEFAULT_MAX_WORKERS: usize = 1024;

/// What the agents of a program may use.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of memory of each agent.
    pub(crate) memory: Option<usize>,
    /// Bytes of memory of all agents.
    pub(crate) whole: Option<Arc<MemoryBudget>>,
    /// Pending `waitAsync` promises of each agent.
    pub(crate) waits: Option<usize>,
    /// Workers of the program that are alive.
    pub(crate) workers: usize,
}
