//! The shards of a table, at one address for as long as the table exists: a thread that forks locks those of all tables (`sync/fork.rs`).

use std::ops::Deref;
use std::ptr::NonNull;

use super::shard::Shard;

/// Held by a snapshot of any table: a shard has one `Place`.
#[cfg(not(waitword_loom))]
pub(super) static SNAPSHOTS: crate::sync::Mutex<()> = crate::sync::Mutex::new(());

#[cfg(waitword_loom)]
crate::sync::lazy_static! {
    pub(super) static ref SNAPSHOTS: crate::sync::Mutex<()> = crate::sync::Mutex::new(());
}

/// The shards of a table.
///
/// Invariant S1: the pointer is that of a leaked box, which is freed with this value alone, after a fork knows it no more. It is shared until
/// then.
pub(super) struct Shards(NonNull<[Shard]>);

// SAFETY: a shared slice of what is `Send` and `Sync` (S1).
unsafe impl Send for Shards {}
// SAFETY: as for `Send` (S1).
unsafe impl Sync for Shards {}

impl Shards {
    pub(super) fn new(number: usize, watchdog: Option<fn()>) -> Self {
        let shards: Box<[Shard]> = (0..number).map(|_| Shard::new(watchdog)).collect();
        let shards = Self(NonNull::from(Box::leak(shards)));
        #[cfg(all(unix, not(waitword_loom)))]
        fork::enter(shards.0);
        shards
    }
}

impl Deref for Shards {
    type Target = [Shard];

    #[inline]
    fn deref(&self) -> &[Shard] {
        // SAFETY: alive as long as `self`, and shared (S1).
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        #[cfg(all(unix, not(waitword_loom)))]
        fork::leave(self.0);
        // SAFETY: the leaked box, which nobody else reaches any more (S1).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(all(unix, not(waitword_loom)))]
mod fork {
    use std::collections::BTreeMap;
    use std::ptr::NonNull;
    use std::sync::MutexGuard;
    use std::sync::atomic::AtomicBool;
    use std::thread::LocalKey;

    use super::{SNAPSHOTS, Shard};
    use crate::park::register_threads;
    use crate::queue::fork::Forking;
    use crate::queue::passes;
    use crate::sync::Mutex;
    use crate::sync::fork::{AtFork, Slot, at_fork};
    use crate::timer::register_timer;

    /// All of them, by address. Taken before the locks of the shards.
    static TABLES: Mutex<BTreeMap<usize, Known>> = Mutex::new(BTreeMap::new());

    struct Known(NonNull<[Shard]>);

    // SAFETY: a pointer to what is shared between threads (S1).
    unsafe impl Send for Known {}

    /// From now on, a fork locks these.
    pub(super) fn enter(shards: NonNull<[Shard]>) {
        static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
        // All that a wait needs, before the first one: a fork may be under way later.
        register_threads();
        register_timer();
        at_fork::<Held>(&IS_REGISTERED);
        TABLES.lock().insert(shards.addr().get(), Known(shards));
    }

    /// They are about to be freed.
    pub(super) fn leave(shards: NonNull<[Shard]>) {
        TABLES.lock().remove(&shards.addr().get());
    }

    /// All of them, locked. Dropped in this order.
    struct Held {
        shards: Vec<Forking>,
        _tables: MutexGuard<'static, BTreeMap<usize, Known>>,
        _snapshots: MutexGuard<'static, ()>,
    }

    thread_local!(static HELD: Slot<Held> = const { Slot::new(None) });

    impl AtFork for Held {
        fn hold() -> Self {
            // Before the shards, which a snapshot locks.
            let snapshots = SNAPSHOTS.lock();
            let tables = TABLES.lock();
            let mut shards = Vec::new();
            // In the order of their addresses, as who locks two shards (`requeue.rs`).
            for known in tables.values() {
                // SAFETY: entered, so not freed before it leaves (S1), which takes the lock that is held as long as these are.
                let all: &'static [Shard] = unsafe { known.0.as_ref() };
                shards.extend(all.iter().map(Forking::hold));
            }
            Self { shards, _tables: tables, _snapshots: snapshots }
        }

        fn in_child(&mut self) {
            let mut kept = false;
            for shard in &mut self.shards {
                kept |= shard.keep_own();
            }
            passes::in_child(kept);
        }

        fn slot() -> &'static LocalKey<Slot<Self>> {
            &HELD
        }
    }
}
