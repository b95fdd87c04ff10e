//! The queues behind one lock: which bucket has a word's queue, how many buckets there are, and which secret spreads the words.
//!
//! A critical section that finds that there should be more buckets, or fewer, says so when it ends ([`Changes`]); the buckets are exchanged
//! after it ([`Shard::resize`](super::Shard::resize)).

use std::ptr::NonNull;

use super::bucket::{Bucket, Pushed};
use super::hash::{Hasher, Key};
use super::lock::Occupancy;
use crate::observe::ticket_after;
use crate::sync::{MODEL, mutant};
use crate::waiter::list::Detached;
use crate::waiter::node::{Waiter, next};

/// A shard never has fewer buckets. One in a model, so that three words make it grow.
const FEWEST_BUCKETS: usize = if MODEL { 1 } else { 4 };

/// With no more words than buckets, chance puts more queues than this into one bucket once in 10^13 times (Poisson). If a bucket has more,
/// an attacker knows the secret, or the secret does not suit the words; either way the shard draws another one.
const MOST_IN_A_BUCKET: usize = 16;

/// What a critical section changes for threads outside it, and the work that it leaves.
pub(super) struct Changes {
    /// Which words have waiters, for the state of the lock.
    pub(super) occupancy: usize,
    /// How many buckets there should be, if a word came or went and that changes the number.
    pub(super) better_size: Option<usize>,
    /// A waiter is now queued behind a signalled one, in the table of the process.
    pub(super) watch: bool,
}

impl Changes {
    /// None yet.
    #[inline]
    pub(super) fn since(occupancy: usize) -> Self {
        Self { occupancy, better_size: None, watch: false }
    }
}

#[repr(C)]
pub(super) struct Queues {
    pub(super) buckets: Box<[Bucket]>,
    /// How many words have a queue.
    words: usize,
    /// The ticket of the waiter that was enqueued last.
    last_ticket: u64,
    /// A bucket was found with too many queues.
    needs_secret: bool,
    /// A waiter may be queued behind one that is signalled or requests a signal (`table/watchdog.rs`).
    pub(super) watched: bool,
    /// Whether the watchdog of the process makes passes here.
    pub(super) has_watchdog: bool,
    has_own_secret: bool,
    occupancy: Occupancy,
    /// Spreads the words over the buckets: the table's, until another secret was needed.
    hasher: Hasher,
    /// Where a snapshot goes on.
    pub(super) place: Place,
    /// What notifies have detached and not worked off: a chain.
    pub(super) detached: Option<NonNull<Detached>>,
}

impl Queues {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self {
            buckets: (0..FEWEST_BUCKETS).map(|_| Bucket::default()).collect(),
            words: 0,
            last_ticket: 0,
            needs_secret: false,
            watched: false,
            has_watchdog: false,
            has_own_secret: false,
            occupancy: Occupancy::new(),
            hasher,
            place: Place::default(),
            detached: None,
        }
    }

    #[inline]
    pub(super) fn bucket(&mut self, key: Key) -> &mut Bucket {
        self.bucket_and_place(key).0
    }

    /// As [`bucket`](Self::bucket), with the place where a snapshot goes on, which a leaving waiter may have to move.
    #[inline]
    pub(super) fn bucket_and_place(&mut self, key: Key) -> (&mut Bucket, &mut Place) {
        let hash = if self.has_own_secret { self.hasher.hash(key.address) } else { key.hash };
        let index = hash as usize & (self.buckets.len() - 1);
        (&mut self.buckets[index], &mut self.place)
    }

    /// Puts `node` at the tail of the queue of `key`.
    ///
    /// # Safety
    /// The node is unlinked and the caller's.
    #[inline]
    pub(super) unsafe fn append(&mut self, key: Key, node: NonNull<Waiter>, changes: &mut Changes) {
        let ticket = ticket_after(self.last_ticket);
        self.last_ticket = ticket;
        // SAFETY: `self` is reached through the lock (I2), and the node is the caller's.
        let pushed = unsafe { self.bucket(key).push(key.address, ticket, node) };
        match pushed {
            Pushed::First { others } => self.word_added(key, others, changes),
            Pushed::Behind { watched } => self.watch(watched, changes),
        }
    }

    /// `key` has a queue now, in a bucket with `others`.
    #[inline]
    fn word_added(&mut self, key: Key, others: usize, changes: &mut Changes) {
        self.words += 1;
        if others >= MOST_IN_A_BUCKET {
            self.needs_secret = true;
        }
        changes.better_size = self.better_size();
        mutant!("occupancy-bit" => return);
        changes.occupancy = self.occupancy.enter(key.hash, changes.occupancy);
    }

    /// `key` has no queue any more.
    #[inline]
    pub(super) fn word_gone(&mut self, key: Key, changes: &mut Changes) {
        self.words -= 1;
        changes.occupancy = self.occupancy.leave(key.hash, changes.occupancy);
        if self.words == 0 && changes.occupancy != 0 {
            self.occupancy.clear();
            changes.occupancy = 0;
        }
        changes.better_size = self.better_size();
    }

    /// Notes whether a waiter is queued behind one that is signalled or requests a signal.
    #[inline]
    pub(super) fn watch(&mut self, watched: bool, changes: &mut Changes) {
        self.watched |= watched;
        changes.watch |= watched && self.has_watchdog;
    }

    /// No word has a queue: the buckets were emptied.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn forget_all(&mut self) {
        (self.words, self.occupancy) = (0, Occupancy::new());
    }

    /// How many words have a queue.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// How many buckets there should be, if there are more or fewer.
    #[inline]
    pub(super) fn better_size(&self) -> Option<usize> {
        let size = self.buckets.len();
        if self.words > size {
            Some(4 * size)
        } else if size > FEWEST_BUCKETS && 8 * self.words < size {
            Some((size / 4).max(FEWEST_BUCKETS))
        } else {
            self.needs_secret.then_some(size)
        }
    }

    /// Moves all queues to `spare` and exchanges the two; under a new secret, if one is needed.
    pub(super) fn rehash(&mut self, spare: &mut Box<[Bucket]>) {
        let draws = std::mem::take(&mut self.needs_secret);
        if draws {
            (self.hasher, self.has_own_secret) = (self.hasher.another(), true);
        }
        let shrinks = spare.len() < self.buckets.len();
        for bucket in &mut self.buckets {
            // SAFETY: `self` is reached through the lock (I2); a queue is moved as a whole, and its key is
            // nowhere else.
            unsafe {
                while let Some((key, head)) = bucket.take_queue() {
                    let index = self.hasher.hash(key) as usize & (spare.len() - 1);
                    spare[index].put_queue(key, head);
                }
            }
        }
        std::mem::swap(&mut self.buckets, spare);
        self.place.rehashed();
        // A queue may have moved to a bucket that a pass of the watchdog has already checked: another pass is due.
        self.watched = true;
        // Queues of four buckets may be too many in the one bucket that replaces them; and one secret in two or three hundred does not suit
        // words that lie side by side.
        // SAFETY: `self` is reached through the lock (I2).
        let is_full = |bucket: &Bucket| unsafe { bucket.len() } > MOST_IN_A_BUCKET;
        self.needs_secret = (shrinks || draws) && self.buckets.iter().any(is_full);
    }
}

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
            // SAFETY: as the caller guarantees.
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
    // SAFETY: as the caller guarantees.
    let behind = unsafe { next(node) };
    (behind != head).then_some(behind)
}
