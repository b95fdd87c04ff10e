//! Whether the watchdog's next pass over the table of the process is set up (`watchdog.rs`).

use std::sync::atomic::{AtomicU8, Ordering};

/// Written when contention comes and goes.
pub(super) static STATE: AtomicU8 = AtomicU8::new(IDLE);

/// No pass is set up.
pub(super) const IDLE: u8 = 0;
/// No pass is set up, but one is due: the timer had no thread for it, or this is a forked child. Every critical section of a shard
/// tries again at its end.
pub(super) const WANTED: u8 = 1;
/// The next pass has been set up, or one is under way.
pub(super) const RUNNING: u8 = 2;
/// There will be no pass.
pub(super) const DISABLED: u8 = 3;

/// In the child of a fork (`shard/fork.rs`), while its only thread holds the locks of all shards: a pass that another thread was making or
/// setting up is over. A new one is due if this thread has waiters there.
#[cfg(unix)]
pub(super) fn in_child(has_waiters: bool) {
    if STATE.load(Ordering::SeqCst) != DISABLED {
        STATE.store(if has_waiters { WANTED } else { IDLE }, Ordering::SeqCst);
    }
}
