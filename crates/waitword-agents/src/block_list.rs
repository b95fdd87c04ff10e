//! All blocks that have a table, so that a snapshot finds their waiters.
//!
//! A block enters when its table is made, and its last owner takes it out before it frees it: invariant B4 of `block.rs`.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::history::Histories;

/// The blocks by number. Nothing foreign runs under its lock, and no handle of a block is dropped there: the last one takes the lock.
static ALL: Mutex<All> = Mutex::new(All { last: 0, blocks: BTreeMap::new() });

struct All {
    last: u64,
    blocks: BTreeMap<u64, AtomicPtr<u8>>,
}

/// What the list has of a block.
pub(crate) struct Observed {
    /// Counted from 1 in the order of entering, and not used again.
    pub(crate) number: u64,
    pub(crate) histories: Histories,
}

impl Observed {
    /// Puts a block into the list.
    pub(crate) fn enter(data: NonNull<u8>) -> Self {
        let mut all = lock();
        all.last += 1;
        let number = all.last;
        all.blocks.insert(number, AtomicPtr::new(data.as_ptr()));
        Self { number, histories: Histories::default() }
    }

    /// The block is about to be freed.
    pub(crate) fn leave(&self) {
        lock().blocks.remove(&self.number);
    }
}

/// What `handle` makes of the address of each block, by ascending number, under the lock of the list.
pub(crate) fn collect<T>(handle: impl FnMut(NonNull<u8>) -> Option<T>) -> Vec<T> {
    let mut all = lock();
    all.blocks.values_mut().filter_map(|data| NonNull::new(*data.get_mut())).filter_map(handle).collect()
}

fn lock() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
