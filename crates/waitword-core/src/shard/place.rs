//! The place at which a snapshot goes on: `copy.rs` says why it moves when waiters leave.

use std::ptr::NonNull;

use super::hash::Key;
use crate::sync::mutant;
use crate::waiter::node::Waiter;

/// Where a snapshot goes on, if one is under way: at a waiter that is in a queue.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) next: Option<NonNull<Waiter>>,
    /// How often all queues have been moved.
    pub(super) rehashes: u64,
}

impl Place {
    /// `node` is about to leave the queue of `head`.
    ///
    /// # Safety
    /// Both are in that queue, under a lock that the caller holds (I2).
    #[inline]
    pub(super) unsafe fn leaves(&mut self, head: NonNull<Waiter>, node: NonNull<Waiter>) {
        mutant!("snapshot-removed" => return self.next = None);
        if self.next == Some(node) {
            // SAFETY: says the caller.
            self.next = unsafe { behind(head, node) };
        }
    }

    /// Waiters at the front of the queue of `key` have been detached. `head` finds the head that the queue has now.
    ///
    /// # Safety
    /// The caller holds the lock, and did while they were detached (I2).
    #[inline]
    pub(super) unsafe fn detached(&mut self, key: Key, head: impl FnOnce() -> Option<NonNull<Waiter>>) {
        mutant!("snapshot-detached" => return);
        // SAFETY: queued until just now, under the lock that the caller holds (I2), so alive (I1).
        let is_of_key = |node: &NonNull<Waiter>| unsafe { node.as_ref() }.address() == key.address;
        if let Some(node) = self.next.filter(is_of_key) {
            // Tickets rise from the head on: what is before the new head was detached.
            // SAFETY: as above, of both.
            let stays = |head: &NonNull<Waiter>| unsafe { !node.as_ref().is_before(head.as_ref()) };
            self.next = head().map(|head| if stays(&head) { node } else { head });
        }
    }

    /// All queues have been moved to other buckets.
    pub(super) fn rehashed(&mut self) {
        self.rehashes += 1;
    }
}

/// The waiter behind `node` in the queue of `head`, if it is not the tail.
///
/// # Safety
/// Both are in the same queue, under a lock that the caller holds (I2).
pub(super) unsafe fn behind(head: NonNull<Waiter>, node: NonNull<Waiter>) -> Option<NonNull<Waiter>> {
    // SAFETY: says the caller.
    let behind = unsafe { crate::waiter::node::next(node) };
    (behind != head).then_some(behind)
}
