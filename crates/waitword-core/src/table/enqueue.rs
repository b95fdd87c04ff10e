//! Compare and enqueue, in one step against every notify: [`protocol`](crate::protocol), sections 1 and 2. And what is done after a stay
//! under a shard's lock: other buckets, and the watchdog.
//!
//! ```text
//!   lock_if_equal: lock the word's shard, load the word ──► not equal: unlock, nothing is enqueued
//!                                  │
//!                                  ▼ Equal: the lock is still held
//!   Equal::enqueue: put the node at the tail, unlock
//! ```
//! A wait that is not to be enqueued (its timeout is zero, its thread must not block) ends after the first: the word is compared
//! under the lock all the same.

use std::pin::Pin;
use std::ptr::NonNull;

use super::location::{Location, address};
use super::watchdog;
use crate::shard::{Key, Locked, Unlocked};
use crate::sync::mutant;
use crate::waiter::node::Waiter;
use crate::word::load_bits;

/// A word that holds what a wait expects, with its shard locked. Dropped, it unlocks.
#[must_use = "the shard is locked"]
pub(crate) struct Equal<'a> {
    key: Key,
    locked: Locked<'a>,
}

/// Locks the shard of the word, and compares. `None` if the word does not hold `expected`; the shard is unlocked then.
///
/// A wait that ends here has been in the critical section of its queue all the same: it comes after every notify that went
/// through before.
#[inline]
pub(crate) fn lock_if_equal<L: Location>(at: &L, expected: u64) -> Option<Equal<'_>> {
    // Foreign code: not under the lock.
    let (table, word) = (at.table(), at.word());
    let key = table.key_of(address(at));
    // From here on a notify that finds the shard vacant (its fence N) is one whose store the load sees (operation W).
    mutant!("compare-under-lock" => return (load_bits(word) == expected).then(|| Equal { key, locked: table.lock(key) }));
    let locked = table.lock(key);
    (load_bits(word) == expected).then_some(Equal { key, locked })
}

impl Equal<'_> {
    /// Puts a node, whose wake has been set, at the tail of the word's queue, and unlocks. It gets the very pointer that the lists are to
    /// have: of an agent's wait it reaches what lies beside the node.
    ///
    /// # Safety
    /// The node is idle and pinned, and its owner makes it leave before its memory goes (I1).
    #[inline]
    pub(crate) unsafe fn enqueue(self, node: NonNull<Waiter>) {
        let Self { key, mut locked } = self;
        // SAFETY: idle, so in no list; the rest says the caller.
        unsafe { locked.enqueue(key, node) };
        mutant!("watch-enqueue" => return);
        release(locked);
    }
}

/// Compares, and enqueues `node`, whose wake has been set, and whose owner makes it leave before its memory goes (I1). Returns whether
/// the word was equal.
#[inline]
pub(crate) fn enqueue_while_equal<L: Location>(at: &L, expected: u64, node: Pin<&Waiter>) -> bool {
    let Some(equal) = lock_if_equal(at, expected) else { return false };
    // SAFETY: pinned and idle; and its owner makes it leave (I1).
    unsafe { equal.enqueue(node.pointer()) };
    true
}

/// What a stay under the lock has left to do, done when it is dropped. Does not unwind.
#[must_use = "dropped at once, it comes before the wake, which is more urgent"]
pub(crate) struct FollowUp<'a>(Unlocked<'a>);

/// Unlocks the shard. What is left to do is done when the result is dropped.
#[inline]
pub(crate) fn unlock(locked: Locked<'_>) -> FollowUp<'_> {
    FollowUp(locked.unlock())
}

/// Unlocks the shard, and does what is left to do.
#[inline]
pub(crate) fn release(locked: Locked<'_>) {
    drop(unlock(locked));
}

impl Drop for FollowUp<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(size) = self.0.better_size {
            self.0.shard.resize(size);
        }
        if self.0.watch || watchdog::is_wanted() {
            watchdog::start();
        }
    }
}
