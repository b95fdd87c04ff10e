//! Whether a program has memory that `Atomics` has to ask about before each access.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has made memory that has to be asked about. Of all agents, because memory that grows goes from
/// one to another.
static IS_UNUSUAL_MADE: AtomicBool = AtomicBool::new(false);

/// Memory that can grow or shrink, or that must not be written to, is about to be made: from now on each access asks.
pub(crate) fn expect_unusual_memory() {
    // Another agent gets the memory by a way that synchronizes; this store need not.
    IS_UNUSUAL_MADE.store(true, Ordering::Relaxed);
}

/// Whether there may be such memory.
#[inline(always)]
pub(crate) fn is_unusual_memory_made() -> bool {
    IS_UNUSUAL_MADE.load(Ordering::Relaxed)
}
