//! Whether an agent has seen the growth of all growable blocks.
//!
//! Some engines copy the length of a growable SharedArrayBuffer into objects of their own. When another agent has grown the block,
//! such an engine has to update the copies before a correctly synchronized program can notice. Programs synchronize by an operation
//! of `Atomics`, by a message or by a wait. So each agent compares one number, the epoch, after each of these, and checks its
//! blocks only if the epoch has changed.
//!
//! # The race
//! ```text
//!   grower                      observer                     agent with an old length
//!   len = 32
//!                               reads len: 32
//!                               Atomics.store(flag, 0, 1)
//!                                                            Atomics.load(flag, 0): 1
//!                                                            the epoch is unchanged: the view stays short
//!   epoch + 1
//! ```
//! The observer need not be the grower: `byteLength` is a sequentially consistent load, so an agent that has seen the new length
//! can publish it to others. Therefore the grower announces itself before it stores the length:
//! ```text
//!   growing + 1   (A)
//!   len = 32      (B)
//!   growing - 1, epoch + 1   (C)
//! ```
//! An agent that sees (B) sees (A). While a grower is between (A) and (C), no agent considers itself up to date: it checks its
//! blocks again at its next operation.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// For all blocks of the process. Growth in another program of the process costs an unnecessary check, and nothing else.
static GROWTH: Growth = Growth::new();

/// The low bits count the growers between (A) and (C): one per thread at most.
const GROWER: u64 = 1;
const GROWERS: u64 = 0xff_ffff;
/// The bits above them are the epoch. It wraps after 2^40 grows (18 minutes at one per nanosecond). An agent would miss growth only if
/// it executed no operation for an exact multiple of 2^40 grows.
const EPOCH: u64 = GROWERS + 1;

/// A value with a grower in it, which no up-to-date agent has stored.
const NEVER: u64 = GROWER;

/// On a cache line of its own, because all agents read it often and it is rarely written.
#[repr(align(64))]
struct Growth(AtomicU64);

/// A grower between (A) and (C): a block's length may change while this exists.
pub(crate) struct Growing<'a>(&'a Growth);

/// (A)
pub(crate) fn begin() -> Growing<'static> {
    GROWTH.begin()
}

impl Growth {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn begin(&self) -> Growing<'_> {
        // The length is stored with at least release ordering, so an acquire load of it also acquires this.
        self.0.fetch_add(GROWER, Ordering::Relaxed);
        Growing(self)
    }
}

impl Drop for Growing<'_> {
    fn drop(&mut self) {
        // (C). Release: an acquire load of the new epoch sees the length of (B).
        self.0.0.fetch_add(EPOCH - GROWER, Ordering::Release);
    }
}

/// Tracks whether an agent has seen the growth of all blocks.
///
/// For engines that copy the length of a growable block into objects of their own. After each operation by which a script
/// synchronizes with other agents, check [`is_behind`](Self::is_behind); if it is true, update the copies inside
/// [`catch_up`](Self::catch_up).
///
/// ```
/// use waitword_agents::{GrowthWatch, SharedBlock};
///
/// let block = SharedBlock::growable(8, 16)?;
/// let mut copy = block.len();
///
/// let watch = GrowthWatch::new();
/// block.grow(16)?;
/// assert!(watch.is_behind());
/// watch.catch_up(|| {
///     copy = block.len();
///     Ok::<(), ()>(())
/// }).unwrap();
/// assert_eq!(copy, 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GrowthWatch {
    seen: Cell<u64>,
}

impl GrowthWatch {
    /// Creates a watch for an agent that has no copies yet. It counts as up to date with all growth so far.
    pub fn new() -> Self {
        let watch = Self { seen: Cell::new(NEVER) };
        watch.advance(GROWTH.0.load(Ordering::Acquire));
        watch
    }

    /// Returns whether a block may have grown since the last [`catch_up`](Self::catch_up). The cost is one relaxed load; the ordering
    /// comes from the synchronizing operation before it.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.is_behind_of(&GROWTH)
    }

    /// Calls `update`, which reads the lengths of all blocks of which the agent has copies, and marks the watch as up to date.
    ///
    /// # Errors
    /// Returns the error of `update`; the watch stays behind then.
    pub fn catch_up<E>(&self, update: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.catch_up_with(&GROWTH, update)
    }

    #[inline]
    fn is_behind_of(&self, growth: &Growth) -> bool {
        growth.0.load(Ordering::Relaxed) != self.seen.get()
    }

    fn catch_up_with<E>(&self, growth: &Growth, update: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        // Before `update` reads the lengths: a length stored later belongs to a later epoch. Pairs with (C).
        let now = growth.0.load(Ordering::Acquire);
        update()?;
        self.advance(now);
        Ok(())
    }

    fn advance(&self, now: u64) {
        self.seen.set(if now & GROWERS == 0 { now } else { NEVER });
    }
}

impl Default for GrowthWatch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current(growth: &Growth) -> GrowthWatch {
        let watch = GrowthWatch { seen: Cell::new(NEVER) };
        watch.catch_up_with(growth, || Ok::<(), ()>(())).unwrap();
        watch
    }

    #[test]
    fn a_watch_is_behind_until_it_has_caught_up() {
        let growth = Growth::new();
        let watch = current(&growth);
        assert!(!watch.is_behind_of(&growth));
        drop(growth.begin());
        assert!(watch.is_behind_of(&growth));
        assert_eq!(watch.catch_up_with(&growth, || Err("no memory")), Err("no memory"));
        assert!(watch.is_behind_of(&growth), "a check that failed was none");
        watch.catch_up_with(&growth, || Ok::<(), ()>(())).unwrap();
        assert!(!watch.is_behind_of(&growth));
    }

    /// The race at the top of this file: others may know of the length before the grower is done.
    #[test]
    fn nobody_is_up_to_date_while_somebody_grows() {
        let growth = Growth::new();
        let watch = current(&growth);
        let (first, second) = (growth.begin(), growth.begin());
        assert!(watch.is_behind_of(&growth));
        let late = current(&growth);
        for growing in [first, second] {
            assert!(watch.is_behind_of(&growth) && late.is_behind_of(&growth));
            watch.catch_up_with(&growth, || Ok::<(), ()>(())).unwrap();
            assert!(watch.is_behind_of(&growth), "a length may be stored after the look");
            drop(growing);
        }
        assert!(watch.is_behind_of(&growth));
        watch.catch_up_with(&growth, || Ok::<(), ()>(())).unwrap();
        assert!(!watch.is_behind_of(&growth));
    }

    #[test]
    fn growth_during_the_look_is_not_taken_for_seen() {
        let growth = Growth::new();
        let watch = current(&growth);
        drop(growth.begin());
        let look = || {
            drop(growth.begin());
            Ok::<(), ()>(())
        };
        watch.catch_up_with(&growth, look).unwrap();
        assert!(watch.is_behind_of(&growth));
    }
}
