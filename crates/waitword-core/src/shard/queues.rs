//! The queues behind one lock: in which bucket a word's is, how many buckets there are, and whose secret spreads the words.
//!
//! Whoever finds that there should be more buckets, or fewer, says so at the end of its stay (`End`), and sees to it
//! after the lock.

use std::ptr::NonNull;

#[cfg(test)]
use super::Locked;
use super::{End, Shard};
use crate::presence::Presence;
use crate::queue::{Bucket, Pushed};
use crate::sync::{MODEL, broken};
use crate::table::{Hasher, Key};
use crate::waiter::Waiter;

/// A shard never has fewer buckets. One in a model, so that three words make it grow.
const FEWEST_BUCKETS: usize = if MODEL { 1 } else { 4 };

/// With no more words than buckets, chance puts more queues than this into one bucket once in 10^13 times (Poisson). Where
/// there are, somebody knows the secret, or the secret does not suit the words; it takes another one either way.
const MOST_IN_A_BUCKET: usize = 16;

#[repr(C)]
pub(super) struct Queues {
    pub(super) buckets: Box<[Bucket]>,
    /// How many words have a queue.
    words: usize,
    /// The ticket of the next waiter to enter.
    next_ticket: u64,
    /// A bucket was found with too many queues.
    needs_secret: bool,
    /// Somebody may stand behind one who was called and has not looked, or asks to be called (`call.rs`).
    pub(super) watched: bool,
    has_own_secret: bool,
    presence: Presence,
    /// Spreads the words over the buckets: the table's, until another secret was needed.
    hasher: Hasher,
}

impl Queues {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self {
            buckets: (0..FEWEST_BUCKETS).map(|_| Bucket::default()).collect(),
            words: 0,
            next_ticket: 0,
            needs_secret: false,
            watched: false,
            has_own_secret: false,
            presence: Presence::new(),
            hasher,
        }
    }

    #[inline]
    pub(super) fn bucket(&mut self, key: Key) -> &mut Bucket {
        let hash = if self.has_own_secret { self.hasher.hash(key.address) } else { key.hash };
        let index = hash as usize & (self.buckets.len() - 1);
        &mut self.buckets[index]
    }

    /// Puts `node` at the end of the line of `key`.
    ///
    /// # Safety
    /// The node is unlinked and the caller's.
    #[inline]
    pub(super) unsafe fn join(&mut self, key: Key, node: NonNull<Waiter>, end: &mut End) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        // SAFETY: `self` is reached through the lock (I2); and says the caller.
        let pushed = unsafe { self.bucket(key).push(key.address, ticket, node) };
        match pushed {
            Pushed::Founded { others } => self.founded(key, others, end),
            Pushed::Joined { watched } => self.watch(watched, end),
        }
    }

    /// `key` has a queue now, in a bucket with `others`.
    #[inline]
    fn founded(&mut self, key: Key, others: usize, end: &mut End) {
        self.words += 1;
        if !broken!("presence") {
            end.presence = self.presence.enter(key.hash, end.presence);
        }
        if others >= MOST_IN_A_BUCKET {
            self.needs_secret = true;
        }
        end.better_size = self.better_size();
    }

    /// `key` has no queue any more.
    #[inline]
    pub(super) fn lost(&mut self, key: Key, end: &mut End) {
        self.words -= 1;
        end.presence = self.presence.leave(key.hash, end.presence);
        if self.words == 0 && end.presence != 0 {
            self.presence.clear();
            end.presence = 0;
        }
        end.better_size = self.better_size();
    }

    /// Whether somebody has come to stand behind one who was called or asks to be; or the other way round.
    #[inline]
    pub(super) fn watch(&mut self, watched: bool, end: &mut End) {
        self.watched |= watched;
        end.watch |= watched;
    }

    /// How many buckets there should be, if not those that there are.
    #[inline]
    fn better_size(&self) -> Option<usize> {
        let size = self.buckets.len();
        if self.words > size {
            Some(4 * size)
        } else if size > FEWEST_BUCKETS && 8 * self.words < size {
            Some((size / 4).max(FEWEST_BUCKETS))
        } else {
            self.needs_secret.then_some(size)
        }
    }

    /// Moves all queues to `spare` and exchanges the two; with another secret, if the old one is known.
    fn rehash(&mut self, spare: &mut Box<[Bucket]>) {
        let draws = std::mem::take(&mut self.needs_secret);
        if draws {
            (self.hasher, self.has_own_secret) = (self.hasher.another(), true);
        }
        let shrinks = spare.len() < self.buckets.len();
        for bucket in &mut self.buckets {
            // SAFETY: `self` is reached through the lock (I2); a queue is moved as a whole, and its key is
            // nowhere else.
            unsafe {
                while let Some((key, head)) = bucket.disown() {
                    let index = self.hasher.hash(key) as usize & (spare.len() - 1);
                    spare[index].adopt(key, head);
                }
            }
        }
        std::mem::swap(&mut self.buckets, spare);
        // A sweep may be under way, and a queue have moved to where it has been: once more.
        self.watched = true;
        // Queues that were few in each of four buckets may be too many in the one that took their place; and one secret in
        // two or three hundred does not suit words that lie side by side.
        // SAFETY: as above.
        let is_full = |bucket: &Bucket| unsafe { bucket.len() } > MOST_IN_A_BUCKET;
        self.needs_secret = (shrinks || draws) && self.buckets.iter().any(is_full);
    }
}

impl Shard {
    /// Gives it `size` buckets, and another secret if it needs one, as somebody found who had the lock. The buckets are
    /// allocated, and the old ones freed, without the lock.
    ///
    /// If somebody was faster, ours are not needed; if there is no memory, the old ones serve. (To unwind is no choice:
    /// linked nodes are on stacks further up.)
    #[cold]
    pub(super) fn resize(&self, size: usize) {
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

#[cfg(test)]
impl Locked<'_> {
    /// How many queues the fullest bucket has.
    pub(crate) fn longest_chain(&mut self) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| queues.buckets.iter().map(|bucket| unsafe { bucket.len() }).max().unwrap_or(0))
    }
}

fn empty_buckets(size: usize) -> Option<Box<[Bucket]>> {
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(size).ok()?;
    buckets.resize_with(size, Bucket::default);
    Some(buckets.into_boxed_slice())
}
