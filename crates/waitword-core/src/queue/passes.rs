//! Whether the watchdog's next pass over the table of the process is set up (`watchdog.rs`).

use std::sync::atomic::{AtomicU8, Ordering};

use crate::sync::MODEL;

/// Written when contention comes and goes.
pub(crate) static STATE: AtomicU8 = AtomicU8::new(IDLE);

/// No pass is set up.
pub(crate) const IDLE: u8 = 0;
/// No pass is set up, but one is due: the timer had no thread for it, or this is a forked child. The next enqueue or signal tries again.
pub(crate) const WANTED: u8 = 1;
/// The next pass has been set up, or one is under way.
#[cfg(not(waitword_loom))]
pub(crate) const RUNNING: u8 = 2;
/// There will be no pass.
#[cfg(not(waitword_loom))]
pub(crate) const DISABLED: u8 = 3;

/// Whether a pass is due that could not be set up.
#[inline(always)]
pub(crate) fn is_pass_wanted() -> bool {
    !MODEL && STATE.load(Ordering::Relaxed) == WANTED
}

/// In the child of a fork (`fork.rs`), while its only thread holds the locks of all shards: a pass that another thread was making or
/// setting up is over. A new one is due if this thread has waiters there.
#[cfg(all(unix, not(waitword_loom)))]
pub(crate) fn in_child(has_waiters: bool) {
    if STATE.load(Ordering::SeqCst) != DISABLED {
        STATE.store(if has_waiters { WANTED } else { IDLE }, Ordering::SeqCst);
    }
}
