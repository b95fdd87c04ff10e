//! Copying the waiters of a shard, for a snapshot: in short critical sections, between which waiters come and go.
//!
//! ```text
//!   snapshot                                    others
//!   ─────────────────────────────────────       ──────────────────────────────────
//!   lock; copy A, B; place = C; unlock
//!                                               lock; C leaves: place = D; unlock
//!   lock; copy D, E; ...
//! ```
//! Between two critical sections the place is a waiter that is still queued ([`Place`](super::queues::Place)): its removal moves the place
//! to the waiter behind it, which costs each removal a comparison. If its queue is gone, the copy goes on with the bucket's next word in
//! the order of addresses, so it need not remember which words it has copied. If all queues were moved to other buckets (`Queues::rehash`),
//! the shard is copied anew.
//!
//! So a waiter that is queued on one word all the time is copied exactly once, and one that comes or goes at most once. One that is
//! requeued meanwhile may be copied twice or not at all.

use std::ptr::NonNull;

use super::Locked;
use super::hash::Key;
use super::queues::behind;
use crate::observe::{Copied, Front, WaiterState, nanos_of};
use crate::sync::MODEL;
use crate::waiter::node::{OVERDUE, SIGNALLED, SKIPPED, Tagged, Waiter, next, with};
use crate::waiter::wake::Wake;

/// How many waiters are copied in one critical section: some microseconds, if none of them is in a cache.
pub(crate) const STAY: usize = if MODEL { 1 } else { 64 };

/// How many buckets are visited in one critical section.
const BUCKETS: usize = 256;

/// How far the copy of a shard has come.
#[derive(Debug, Default)]
pub(crate) struct Copying {
    bucket: usize,
    /// The word whose queue is copied, or was copied last; none is at address 0.
    word: usize,
    rehashes: u64,
}

/// What follows a critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on with the copy.
    GoOn,
    /// Discard what was copied of this shard, and start it anew.
    Again,
    /// The next shard.
    End,
}

impl Locked<'_> {
    /// One critical section: calls `copied` with up to [`STAY`] waiters. One snapshot at a time; `copied` must not allocate.
    pub(crate) fn copy(&mut self, copying: &mut Copying, mut copied: impl FnMut(Copied)) -> Next {
        self.with(|queues, _| {
            if (copying.bucket, copying.word) == (0, 0) {
                (queues.place.next, copying.rehashes) = (None, queues.place.rehashes);
            }
            if copying.rehashes != queues.place.rehashes {
                *copying = Copying::default();
                return Next::Again;
            }
            let end = copying.bucket + BUCKETS;
            let mut left = STAY;
            while copying.bucket < queues.buckets.len().min(end) {
                let bucket = &queues.buckets[copying.bucket];
                // SAFETY: we hold the lock (I2), under which the place is kept in a queue of this bucket.
                unsafe {
                    if let Some(mut node) = queues.place.next.take() {
                        let Some(head) = bucket.find(copying.word) else { continue };
                        loop {
                            if left == 0 {
                                queues.place.next = Some(node);
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
                        Some((word, head)) => (copying.word, queues.place.next) = (word, Some(head)),
                        None => (copying.bucket, copying.word) = (copying.bucket + 1, 0),
                    }
                }
            }
            if copying.bucket < queues.buckets.len() { Next::GoOn } else { Next::End }
        })
    }
}

impl Locked<'_> {
    /// The front of the queue of `key`, if there is one. `who` is filled with the identities of its first waiters.
    pub(crate) fn front(&mut self, key: Key, who: &mut [usize]) -> Option<Front> {
        // SAFETY: we hold the lock (I2), for the queue and for all of its nodes, which are alive (I1).
        self.with(|queues, _| unsafe {
            let head = queues.bucket(key).find(key.address)?;
            let len = with(head, |links| links.len as usize);
            let mut node = head;
            for who in who.iter_mut().take(len) {
                *who = with(node, |links| links.wake.identity());
                node = next(node);
            }
            let Copied { waits_for, site, ticket, .. } = copy_of(head);
            Some(Front { len, waits_for, site, since: nanos_of(ticket) })
        })
    }
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
            ticket: node.as_ref().ticket(),
            waits_for: node.as_ref().waits_for(),
            site: links.site.get(),
            is_timed: node.as_ref().is_timed(),
            who: links.wake.identity(),
            // `InboxWait::enqueue` alone gives a node such a wake, and a pointer to the whole of its `Tagged`, which lives as long (I1).
            token: matches!(links.wake, Wake::Agent(Some(_))).then(|| node.cast::<Tagged>().as_ref().token),
            state,
            was_seen_so: state != WaiterState::Queued && links.wake.mark_taken(),
            releases: node.as_ref().releases(),
        })
    }
}
