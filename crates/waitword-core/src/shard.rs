//! One lock, and the queues of the words behind it.
//!
//! [`Locked`] is the proof that the lock is held: what may only be done under it is a method of that guard, and
//! nothing foreign can be reached from there. Memory is allocated and freed after the lock (`release`).

use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::cancel::Cancelled;
use crate::inbox::Inbox;
use crate::lock::Lock;
use crate::presence::{self, Presence};
use crate::queue::{Bucket, List, Pushed, unlink};
use crate::sync::{MODEL, UnsafeCell, broken};
use crate::table::{Hasher, Key};
use crate::waiter::{IDLE, NOTIFIED, QUEUED, TIMED_OUT, Waiter, with};
use crate::wake::{Wake, WakeBatch};

/// A shard never has fewer buckets. One in a model, so that three words make it grow.
const FEWEST_BUCKETS: usize = if MODEL { 1 } else { 4 };

/// With no more words than buckets, chance puts more queues than this into one bucket once in 10^13 times (Poisson). Where
/// there are, somebody knows the secret, or the secret does not suit the words; it takes another one either way.
const MOST_IN_A_BUCKET: usize = 16;

/// Aligned so that two shards share no cache line, nor a pair of lines that the processor fetches together. In the order of
/// use: the first such pair is all that most calls need.
#[repr(C, align(128))]
pub(crate) struct Shard {
    lock: Lock,
    queues: UnsafeCell<Queues>,
}

// SAFETY: `queues` and the nodes linked there (I2) are reached only by who holds `lock`.
unsafe impl Send for Shard {}
// SAFETY: as above.
unsafe impl Sync for Shard {}

#[repr(C)]
struct Queues {
    buckets: Box<[Bucket]>,
    /// How many words have a queue.
    words: usize,
    /// The ticket of the next waiter to enter.
    next_ticket: u64,
    /// A bucket was found with too many queues.
    needs_secret: bool,
    has_own_secret: bool,
    presence: Presence,
    /// Spreads the words over the buckets: the table's, until another secret was needed.
    hasher: Hasher,
}

impl Shard {
    pub(crate) fn new(hasher: Hasher) -> Self {
        let buckets = (0..FEWEST_BUCKETS).map(|_| Bucket::default()).collect();
        let queues = Queues {
            buckets,
            words: 0,
            next_ticket: 0,
            needs_secret: false,
            has_own_secret: false,
            presence: Presence::new(),
            hasher,
        };
        Self { lock: Lock::new(), queues: UnsafeCell::new(queues) }
    }

    /// Rule 2: whether nobody waits on words of this hash, asked without the lock by someone who stored to a word before.
    #[inline]
    pub(crate) fn is_idle(&self, hash: u64) -> bool {
        self.lock.none_present(presence::bit(hash))
    }

    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked { shard: self, end: End { presence: self.lock.lock(), better_size: None } }
    }

    /// Gives it `size` buckets, and another secret if it needs one, as somebody found who had the lock. The buckets are
    /// allocated, and the old ones freed, without the lock.
    ///
    /// If somebody was faster, ours are not needed; if there is no memory, the old ones serve. (To unwind is no choice:
    /// linked nodes are on stacks further up.)
    #[cold]
    fn resize(&self, size: usize) {
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

/// A shard whose lock is held: everything that I2 gives to the holder.
pub(crate) struct Locked<'a> {
    shard: &'a Shard,
    end: End,
}

/// What is to be said and done at the end of the critical section.
struct End {
    /// Who is present, for the state of the lock.
    presence: usize,
    /// How many buckets there should be, if a word came or went and there should be others.
    better_size: Option<usize>,
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.shard.lock.unlock(self.end.presence);
    }
}

impl<'a> Locked<'a> {
    /// Puts a waiter at the end of its word's line.
    ///
    /// # Safety
    /// `node` is idle and will leave before its memory goes (I1).
    #[inline]
    pub(crate) unsafe fn enqueue(&mut self, key: Key, node: Pin<&Waiter>) {
        node.set_state(QUEUED);
        self.with(|queues, end| {
            let ticket = queues.next_ticket;
            queues.next_ticket += 1;
            // SAFETY: we hold the lock of `key`'s shard (I2), and the idle node's owner lends it to us (I5).
            let pushed = unsafe { queues.bucket(key).push(key.address, ticket, node.pointer()) };
            if let Pushed::Founded { others } = pushed {
                queues.founded(key, others, end);
            }
        });
    }

    /// Rule 4, the one question: takes `node` out of its queue, unless a notify has counted it already. Afterwards
    /// it is in no list of this shard, and its owner's (or, if it was settled, its inbox's).
    pub(crate) fn leave(&mut self, key: Key, node: Pin<&Waiter>) -> Cancelled {
        if node.state() != QUEUED {
            return Cancelled::AfterNotify;
        }
        let queued = self.take_out(key, node);
        if !queued && !broken!("limbo-unlink") {
            // SAFETY: in limbo: linked in a detached list, which belongs to this lock (I2).
            unsafe { unlink(node.pointer()) };
        }
        node.set_state(IDLE);
        if queued { Cancelled::BeforeNotify } else { Cancelled::AfterNotify }
    }

    /// Moves `node` to the inbox of its agent, as timed out, unless a notify has counted it already. Returns its
    /// wake, to be dropped after the lock.
    pub(crate) fn expire(&mut self, key: Key, node: Pin<&Waiter>) -> Option<Wake> {
        if node.state() != QUEUED || !self.take_out(key, node) {
            return None;
        }
        // SAFETY: just unlinked, under the lock that owned it (I2); nobody notified it.
        Some(unsafe { give_verdict(node.pointer(), TIMED_OUT, None) })
    }

    /// Looks at the wake of a queued node. `None` when it is not queued any more because a notify counted it; then it has
    /// left.
    pub(crate) fn with_wake<R>(
        &mut self,
        key: Key,
        node: Pin<&Waiter>,
        look: impl FnOnce(&mut Wake) -> R,
    ) -> Option<R> {
        if node.state() == QUEUED && self.is_queued(key, node) {
            // SAFETY: queued under this lock (I2).
            return Some(unsafe { with(node.pointer(), |links| look(&mut links.wake)) });
        }
        let _ = self.leave(key, node);
        None
    }

    /// Whether `node`, whose state is `QUEUED`, is in the queue of its word, and not in limbo.
    fn is_queued(&mut self, key: Key, node: Pin<&Waiter>) -> bool {
        // SAFETY: we hold the lock of the word's shard (I2).
        self.with(|queues, _| unsafe {
            queues.bucket(key).find(key.address).is_some_and(|head| is_in_queue_of(head, node))
        })
    }

    /// Takes the first waiter off the queue of `key` and gives it its verdict. Returns whom to tell after the lock.
    #[inline]
    pub(crate) fn settle_first(&mut self, key: Key, notifier: Option<&Inbox>) -> Option<Wake> {
        let first = self.remove(key, Some)?;
        // SAFETY: unlinked just now, and who was in a queue is alive (I1).
        Some(unsafe { give_verdict(first, NOTIFIED, notifier) })
    }

    /// Rule 6: takes the first `count` waiters, or all who are there, off the queue of `key`. They are counted now,
    /// and in limbo on `list` until [`settle`](Self::settle) tells them.
    pub(crate) fn detach(&mut self, key: Key, count: usize, list: Pin<&List>) -> usize {
        self.with(|queues, end| {
            // SAFETY: we hold the lock of `key`'s shard (I2); `list` is given to us.
            let (detached, gone) = unsafe {
                let bucket = queues.bucket(key);
                let Some(head) = bucket.find(key.address) else { return 0 };
                bucket.detach(head, count, list)
            };
            if gone {
                queues.lost(key, end);
            }
            detached
        })
    }

    /// Gives up to a batch of detached nodes their verdict and collects their wakes. Returns whether nodes are left.
    ///
    /// # Safety
    /// `list` was filled by [`detach`](Self::detach) under the lock of this shard.
    pub(crate) unsafe fn settle(
        &mut self,
        list: Pin<&List>,
        batch: &mut WakeBatch,
        notifier: Option<&Inbox>,
    ) -> bool {
        while !batch.is_full() {
            // SAFETY: the list and what is in it belong to this lock (I2), and what is in it is alive (I1).
            let wake = unsafe { list.pop().map(|node| give_verdict(node, NOTIFIED, notifier)) };
            match wake {
                Some(wake) => batch.push(wake),
                None => return false,
            }
        }
        // SAFETY: as above.
        unsafe { !list.is_empty() }
    }

    /// How many waiters the queue of `key` has.
    pub(crate) fn len(&mut self, key: Key) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| unsafe {
            queues.bucket(key).find(key.address).map_or(0, |head| with(head, |links| links.len))
        })
    }

    /// How many queues the fullest bucket has.
    #[cfg(test)]
    pub(crate) fn longest_chain(&mut self) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| queues.buckets.iter().map(|bucket| unsafe { bucket.len() }).max().unwrap_or(0))
    }

    /// Unlocks, and lets the number of buckets follow the number of words.
    #[inline]
    pub(crate) fn release(self) {
        self.unlock().settle();
    }

    /// Unlocks. The number of buckets is the caller's to settle, when it has done what is more urgent.
    #[inline]
    pub(crate) fn unlock(self) -> Size<'a> {
        let (shard, better) = (self.shard, self.end.better_size);
        drop(self);
        Size { shard, better }
    }

    /// Takes `node` out of its queue if it is in it, and says so.
    #[inline]
    fn take_out(&mut self, key: Key, node: Pin<&Waiter>) -> bool {
        // SAFETY: `head` is that of the node's word, and we hold the lock of both (I2).
        self.remove(key, |head| unsafe { is_in_queue_of(head, node) }.then_some(node.pointer())).is_some()
    }

    /// Takes the node that `choose` picks, given the head, out of the queue of `key`.
    #[inline]
    fn remove(
        &mut self,
        key: Key,
        choose: impl FnOnce(NonNull<Waiter>) -> Option<NonNull<Waiter>>,
    ) -> Option<NonNull<Waiter>> {
        self.with(|queues, end| {
            // SAFETY: we hold the lock (I2), and the node that is chosen is in the queue of the head.
            let (node, gone) = unsafe {
                let bucket = queues.bucket(key);
                let head = bucket.find(key.address)?;
                let node = choose(head)?;
                (node, bucket.remove(head, node))
            };
            if gone {
                queues.lost(key, end);
            }
            Some(node)
        })
    }

    #[inline(always)]
    fn with<R>(&mut self, access: impl FnOnce(&mut Queues, &mut End) -> R) -> R {
        // SAFETY: we hold the lock, and `access` has `self` borrowed as long as it runs.
        self.shard.queues.with_mut(|queues| access(unsafe { &mut *queues }, &mut self.end))
    }
}

/// How many buckets a shard should have, after a stay under its lock.
#[must_use = "the buckets follow the words only if this is settled"]
pub(crate) struct Size<'a> {
    shard: &'a Shard,
    better: Option<usize>,
}

impl Size<'_> {
    #[inline]
    pub(crate) fn settle(self) {
        if let Some(size) = self.better {
            self.shard.resize(size);
        }
    }
}

impl Queues {
    #[inline]
    fn bucket(&mut self, key: Key) -> &mut Bucket {
        let hash = if self.has_own_secret { self.hasher.hash(key.address) } else { key.hash };
        let index = hash as usize & (self.buckets.len() - 1);
        &mut self.buckets[index]
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
    fn lost(&mut self, key: Key, end: &mut End) {
        self.words -= 1;
        end.presence = self.presence.leave(key.hash, end.presence);
        if self.words == 0 && end.presence != 0 {
            self.presence.clear();
            end.presence = 0;
        }
        end.better_size = self.better_size();
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
        if std::mem::take(&mut self.needs_secret) {
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
        // Queues that were few in each of four buckets may be too many in the one that took their place.
        // SAFETY: as above.
        let is_full = |bucket: &Bucket| unsafe { bucket.len() } > MOST_IN_A_BUCKET;
        self.needs_secret = shrinks && self.buckets.iter().any(is_full);
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("lock", &self.lock).finish_non_exhaustive()
    }
}

/// Whether `node`, whose state is `QUEUED`, is in the queue of its word, which is that of `head`, and not in limbo.
///
/// Notifies take from the front and waiters enter at the back, with rising tickets. So whoever is still in the
/// queue is not older than its head, and whoever was taken off is.
///
/// # Safety
/// The caller holds the lock of their shard, which owns the links of every node that is `QUEUED` (I2).
#[inline]
unsafe fn is_in_queue_of(head: NonNull<Waiter>, node: Pin<&Waiter>) -> bool {
    // SAFETY: says the caller.
    let ticket = |node| unsafe { with(node, |links| links.ticket) };
    broken!("ticket") || head == node.pointer() || ticket(head) < ticket(node.pointer())
}

/// Gives a node its verdict. Returns whom to tell, after the lock.
///
/// # Safety
/// The node is alive, and was unlinked under the lock that owned it (I2), which the caller still holds. It is not the
/// caller's any more when this returns (I3, I4).
unsafe fn give_verdict(node: NonNull<Waiter>, verdict: usize, notifier: Option<&Inbox>) -> Wake {
    // SAFETY: says the caller.
    unsafe {
        if broken!("verdict-last") {
            node.as_ref().set_state(verdict);
        }
        let wake = with(node, |links| links.wake.take());
        match &wake {
            Wake::Agent(Some(inbox)) => inbox.accept(node, verdict, notifier),
            // The last access (I3).
            _ => node.as_ref().set_state(verdict),
        }
        wake
    }
}

fn empty_buckets(size: usize) -> Option<Box<[Bucket]>> {
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(size).ok()?;
    buckets.resize_with(size, Bucket::default);
    Some(buckets.into_boxed_slice())
}
