//! The list of all blocks that have a table, so that a snapshot finds their waiters.
//!
//! A block is added when its table is created. Its last owner removes it before freeing it: invariant B4 of `block.rs`.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::history::Histories;

/// The blocks by number. Under its lock no foreign code runs, and no handle of a block is dropped, because dropping the last one takes
/// this lock.
static ALL: Mutex<All> = Mutex::new(All { last: 0, blocks: BTreeMap::new() });

struct All {
    last: u64,
    blocks: BTreeMap<u64, AtomicPtr<u8>>,
}

/// A block's entry in the list.
pub(crate) struct Observed {
    /// Counts from 1, in the order of creation of the entries; never reused.
    pub(crate) number: u64,
    pub(crate) histories: Histories,
}

impl Observed {
    /// Adds a block to the list.
    pub(crate) fn enter(data: NonNull<u8>) -> Self {
        let mut all = lock();
        all.last += 1;
        let number = all.last;
        all.blocks.insert(number, AtomicPtr::new(data.as_ptr()));
        Self { number, histories: Histories::default() }
    }

    /// Removes the block, which is about to be freed.
    pub(crate) fn leave(&self) {
        lock().blocks.remove(&self.number);
    }
}

/// Calls `handle` with the address of each block, by ascending number, under the list's lock, and returns the results.
pub(crate) fn collect<T>(handle: impl FnMut(NonNull<u8>) -> Option<T>) -> Vec<T> {
    let mut all = lock();
    all.blocks.values_mut().filter_map(|data| NonNull::new(*data.get_mut())).filter_map(handle).collect()
}

fn lock() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
