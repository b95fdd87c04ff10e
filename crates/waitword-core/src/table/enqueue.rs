//! Compare and enqueue, atomic with respect to every notify: [`protocol`](crate::protocol), sections 1 and 2. How a waiter leaves. And what
//! follows a critical section of a shard: other buckets, and the watchdog.
//!
//! ```text
//!   lock_if_equal: lock the word's shard, load the word ──► not equal: unlock, nothing is enqueued
//!                                  │
//!                                  ▼ Equal: the lock is still held
//!   Equal::enqueue: put the node at the tail, unlock
//! ```
//! A wait that is not to be enqueued (its timeout is zero, its thread must not block) ends after the first step: even then the word is
//! compared under the lock.
//!
//! # Leaving
//! "Did I leave the queue, or was I notified?" Timeout, drop and termination all ask [`leave`].
//!
//! ```text
//!   waiter whose deadline passed          notifier
//!   ────────────────────────────          ────────────────────────────
//!                                         lock; dequeue the waiter; unlock
//!   lock; it is not in the queue          wake it
//!   → it was counted: Notified
//!
//!   lock; it is in the queue: unlink
//!   unlock → TimedOut                     lock; it is not there: count another
//! ```
//! The first of the two to take the lock decides for both. Being in the queue is the state; there is no second one that
//! could disagree with it.

use std::pin::Pin;
use std::ptr::NonNull;

use super::{Location, Table, address, watchdog};
use crate::observe::{DELAYS, End, Ended, WaitsFor, asks, ended, nanos_of};
use crate::shard::hash::Key;
use crate::shard::{Locked, Unlocked};
use crate::sync::mutant;
use crate::waiter::Cancelled;
use crate::waiter::node::{Waiter, is_queued};
use crate::word::load_bits;

/// A word that holds what a wait expects, with its shard locked. Dropping it unlocks.
#[must_use = "the shard is locked"]
pub(crate) struct Equal<'a> {
    key: Key,
    locked: Locked<'a>,
}

/// Locks the shard of the word, and compares. `None` if the word does not hold `expected`; the shard is unlocked then.
///
/// Even a wait that ends here has been in the shard's critical section: it comes after every notify that was there before.
#[inline]
pub(crate) fn lock_if_equal<L: Location>(at: &L, expected: u64) -> Option<Equal<'_>> {
    // Foreign code: not under the lock.
    let (table, word) = (at.table(), at.word());
    let key = table.key_of(address(at));
    // The lock is operation W: from here on, the load sees the store of every notify that finds the shard vacant (its fence N).
    mutant!("compare-under-lock" => return (load_bits(word) == expected).then(|| Equal { key, locked: table.lock(key) }));
    let locked = table.lock(key);
    (load_bits(word) == expected).then_some(Equal { key, locked })
}

impl Equal<'_> {
    /// Puts a node, whose wake has been set, at the tail of the word's queue, and unlocks. The lists keep this very pointer: through that
    /// of an agent's wait, the token beside the node is reached too.
    ///
    /// # Safety
    /// The node is idle and pinned, and its owner makes it leave before its memory goes (I1).
    #[inline]
    pub(crate) unsafe fn enqueue(self, node: NonNull<Waiter>) {
        let Self { key, mut locked } = self;
        // SAFETY: idle, so in no list; the caller guarantees the rest.
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

/// Makes `node`, queued or completed, leave, and tells the observer how its wait ended. Its memory may be freed then.
pub(crate) fn leave(table: &Table, node: Pin<&Waiter>, end: End) -> Cancelled {
    let (cancelled, left) = leave_untold(table, node);
    tell_end(end, node, left);
    cancelled
}

/// Of a waiter that was queued until it left: what it waited for, and since when.
pub(crate) type LeftQueue = Option<(WaitsFor, Option<u64>)>;

/// As [`leave`], for a wait whose node an inbox may have; tells the observer nothing.
pub(crate) fn leave_untold(table: &Table, node: Pin<&Waiter>) -> (Cancelled, LeftQueue) {
    if !is_queued(node.state()) {
        return (Cancelled::AfterNotify, None);
    }
    let (key, mut locked) = table.lock_of(node);
    let was_queued = left_queue(&node);
    let cancelled = locked.leave(key, node);
    release(locked);
    (cancelled, was_queued.filter(|_| cancelled != Cancelled::AfterNotify))
}

/// For a waiter that is about to leave its queue; under the lock of that queue.
#[inline]
pub(crate) fn left_queue(node: &Waiter) -> LeftQueue {
    asks(DELAYS).then(|| (node.waits_for(), nanos_of(node.ticket())))
}

/// Tells the observer of the end of a wait. The node is not queued any more, and no inbox has it.
#[inline]
pub(crate) fn tell_end(end: End, node: Pin<&Waiter>, left: LeftQueue) {
    ended(|| Ended { end, word: node.address(), who: node.who(), site: node.site(), left });
}

/// The work that a critical section leaves, done on drop. Does not unwind.
#[must_use = "dropped at once, it comes before the wake, which is more urgent"]
pub(crate) struct FollowUp<'a>(Unlocked<'a>);

/// Unlocks the shard. The work that is left is done when the result is dropped.
#[inline]
pub(crate) fn unlock(locked: Locked<'_>) -> FollowUp<'_> {
    FollowUp(locked.unlock())
}

/// Unlocks the shard, and does the work that is left.
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
