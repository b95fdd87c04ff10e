//! A shard: one lock, and the queues of the words that hash to it.
//!
//! [`Locked`] is the proof that the lock is held: what may only be done under it is a method of that guard (`guard.rs`, `stalled.rs`,
//! `copy.rs`), from which no foreign code can be reached. Memory is allocated and freed after the lock: unlocking returns the work that is
//! left ([`Unlocked`]) to the caller.

mod bucket;
pub(crate) mod copy;
#[cfg(all(unix, not(waitword_loom)))]
pub(crate) mod fork;
mod guard;
pub(crate) mod hash;
pub(crate) mod lock;
mod queues;
mod stalled;

use std::fmt;

use self::bucket::Bucket;
use self::hash::Hasher;
use self::lock::{Lock, bit};
use self::queues::{Changes, Queues};
use crate::sync::UnsafeCell;

/// Aligned so that two shards share no cache line, nor a pair of lines that the processor fetches together. Fields are in the order of use:
/// most calls need only the first such pair.
#[repr(C, align(128))]
pub(crate) struct Shard {
    lock: Lock,
    queues: UnsafeCell<Queues>,
}

// SAFETY: `queues` and the nodes linked there are reached only by the holder of `lock` (I2).
unsafe impl Send for Shard {}
// SAFETY: as for `Send` (I2).
unsafe impl Sync for Shard {}

impl Shard {
    pub(crate) fn new(hasher: Hasher) -> Self {
        Self { lock: Lock::new(), queues: UnsafeCell::new(Queues::new(hasher)) }
    }

    /// It is of the process's table, over which the watchdog makes passes. Before there is a waiter.
    pub(crate) fn has_watchdog(&self) {
        self.lock().with(|queues, _| queues.has_watchdog = true);
    }

    /// Whether words of this hash have no waiters, asked without the lock by a notifier that stored to a word before
    /// ([`protocol`](crate::protocol), section 2).
    #[inline]
    pub(crate) fn is_idle(&self, hash: u64) -> bool {
        self.lock.is_vacant(bit(hash))
    }

    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked { shard: self, changes: Changes::since(self.lock.lock()) }
    }

    /// Gives the shard `size` buckets, and another secret if it needs one, unless another thread was faster. Buckets are allocated and
    /// freed without the lock.
    ///
    /// Without memory, the old buckets stay. (Nothing may unwind here: linked nodes are on stacks further up.)
    #[cold]
    pub(crate) fn resize(&self, size: usize) {
        let mut better_size = Some(size);
        while let Some(size) = better_size {
            let Some(mut spare) = empty_buckets(size) else { return };
            let mut locked = self.lock();
            better_size = locked.with(|queues, _| {
                if queues.better_size() != Some(size) {
                    return None;
                }
                queues.rehash(&mut spare);
                queues.better_size()
            });
            drop(locked);
        }
    }
}

fn empty_buckets(size: usize) -> Option<Box<[Bucket]>> {
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(size).ok()?;
    buckets.resize_with(size, Bucket::default);
    Some(buckets.into_boxed_slice())
}

/// A shard whose lock is held: everything that I2 gives to the holder.
pub(crate) struct Locked<'a> {
    shard: &'a Shard,
    changes: Changes,
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.shard.lock.unlock(self.changes.occupancy);
    }
}

impl<'a> Locked<'a> {
    /// Unlocks. The caller sees to the work that is left, after more urgent work.
    #[inline]
    pub(crate) fn unlock(self) -> Unlocked<'a> {
        let Changes { better_size, watch, .. } = self.changes;
        let shard = self.shard;
        drop(self);
        Unlocked { shard, better_size, watch }
    }

    #[inline(always)]
    fn with<R>(&mut self, access: impl FnOnce(&mut Queues, &mut Changes) -> R) -> R {
        // SAFETY: we hold the lock, and `access` has `self` borrowed as long as it runs.
        self.shard.queues.with_mut(|queues| access(unsafe { &mut *queues }, &mut self.changes))
    }
}

/// Work that a critical section leaves for after the lock.
#[must_use = "the number of buckets follows that of the words, and stalled waiters are watched, only if this is done"]
pub(crate) struct Unlocked<'a> {
    pub(crate) shard: &'a Shard,
    /// How many buckets the shard should have, if it has another number.
    pub(crate) better_size: Option<usize>,
    /// A waiter is queued behind a signalled one, so the watchdog has to run.
    pub(crate) watch: bool,
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("lock", &self.lock).finish_non_exhaustive()
    }
}
