//! Copying the waiters of a shard, for a snapshot: in short stays under its lock, between which waiters come and go.
//!
//! ```text
//!   snapshot                                    others
//!   ─────────────────────────────────────       ──────────────────────────────────
//!   lock; copy A, B; to_copy = C; unlock
//!                                               lock; C leaves: to_copy = D; unlock
//!   lock; copy D, E; ...
//! ```
//! Between two stays the place is a waiter that is still queued, [`Queues::to_copy`]: its removal moves the place to the waiter
//! behind it, which costs each removal a comparison. If its queue is gone, the place is the next word of the bucket, in the
//! order of the addresses, so nothing need be remembered of the words that were copied. If all queues were moved
//! to other buckets (`Queues::rehash`), the shard is copied anew.
//!
//! So a waiter that is queued all the time is copied exactly once, and one that comes or goes at most once.

use std::ptr::NonNull;

use super::guard::Locked;
use super::hash::Key;
use super::queues::Queues;
use crate::observe::{Copied, WaiterState};
use crate::sync::{MODEL, mutant};
use crate::waiter::node::{OVERDUE, SIGNALLED, SKIPPED, Waiter, next, with};
use crate::waiter::wake::Wake;

/// How many waiters are copied in one stay under the lock: some microseconds, if none of them is in a cache.
pub(crate) const STAY: usize = if MODEL { 1 } else { 64 };

/// How many buckets are visited in one stay.
const BUCKETS: usize = 256;

/// How far the copy of a shard has come.
#[derive(Debug, Default)]
pub(crate) struct Copying {
    bucket: usize,
    /// The word whose queue is copied, or was copied last; none is at address 0.
    word: usize,
    rehashes: u64,
}

/// What follows a stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another stay.
    GoOn,
    /// Forget what was copied of this shard; then another stay.
    Again,
    /// The next shard.
    End,
}

impl Locked<'_> {
    /// One stay: calls `copied` with up to [`STAY`] waiters. One snapshot at a time; `copied` allocates nothing.
    pub(crate) fn copy(&mut self, copying: &mut Copying, mut copied: impl FnMut(Copied)) -> Next {
        self.with(|queues, _| {
            if (copying.bucket, copying.word) == (0, 0) {
                (queues.to_copy, copying.rehashes) = (None, queues.rehashes);
            }
            if copying.rehashes != queues.rehashes {
                *copying = Copying::default();
                return Next::Again;
            }
            let end = copying.bucket + BUCKETS;
            let mut left = STAY;
            while copying.bucket < queues.buckets.len().min(end) {
                let bucket = &queues.buckets[copying.bucket];
                // SAFETY: we hold the lock (I2), under which the place is kept in a queue of this bucket.
                unsafe {
                    if let Some(mut node) = queues.to_copy.take() {
                        let Some(head) = bucket.find(copying.word) else { continue };
                        loop {
                            if left == 0 {
                                queues.to_copy = Some(node);
                                return Next::GoOn;
                            }
                            copied(copy_of(node));
                            left -= 1;
                            match behind(head, node) {
                                Some(behind) => node = behind,
                                None => break,
                            }
                        }
                    }
                    match bucket.find_above(copying.word) {
                        Some((word, head)) => (copying.word, queues.to_copy) = (word, Some(head)),
                        None => (copying.bucket, copying.word) = (copying.bucket + 1, 0),
                    }
                }
            }
            if copying.bucket < queues.buckets.len() { Next::GoOn } else { Next::End }
        })
    }
}

impl Queues {
    /// Waiters at the front of the queue of `key` have been detached, all of them if it is `gone`, and there is a place.
    ///
    /// # Safety
    /// The caller holds the lock, and did while they were detached.
    #[cold]
    pub(super) unsafe fn detached_while_copying(&mut self, key: Key, gone: bool) {
        mutant!("snapshot-detached" => return);
        // SAFETY: the caller holds the lock that owns the links, also of what it has just detached (I2).
        let (of_this, ticket) = unsafe {
            let ticket = |node| with(node, |links| links.ticket);
            (self.to_copy.filter(|node| node.as_ref().address() == key.address), ticket)
        };
        let Some(node) = of_this else { return };
        if gone {
            self.to_copy = None;
            return;
        }
        // Tickets rise from the head on: a place before the new head was detached.
        // SAFETY: as above; the queue is not gone.
        let head = unsafe { self.bucket(key).find(key.address) };
        self.to_copy = head.map(|head| if ticket(head) > ticket(node) { head } else { node });
    }
}

/// The waiter behind `node` in the queue of `head`, if it is not the tail.
///
/// # Safety
/// Both are in the same queue, under a lock that the caller holds (I2).
pub(super) unsafe fn behind(head: NonNull<Waiter>, node: NonNull<Waiter>) -> Option<NonNull<Waiter>> {
    // SAFETY: says the caller.
    let behind = unsafe { next(node) };
    (behind != head).then_some(behind)
}

/// # Safety
/// The node is queued under a lock that the caller holds (I2).
unsafe fn copy_of(node: NonNull<Waiter>) -> Copied {
    // SAFETY: alive (I1), and its links belong to the caller's lock (I2).
    unsafe {
        let state = match node.as_ref().state() {
            SIGNALLED => WaiterState::Signalled,
            OVERDUE => WaiterState::Overdue,
            SKIPPED => WaiterState::Skipped,
            _ => WaiterState::Queued,
        };
        let word = node.as_ref().address();
        with(node, |links| Copied {
            word,
            ticket: links.ticket,
            origin: links.origin,
            who: links.who,
            is_agent: matches!(links.wake, Wake::Agent(Some(_))),
            state,
        })
    }
}
