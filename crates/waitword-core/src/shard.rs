//! One lock, and the queues of the words behind it.
//!
//! [`Locked`] is the proof that the lock is held: what may only be done under it is a method of that guard, and
//! nothing foreign can be reached from there. Memory is allocated and freed after the lock (`release`).

use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::cancel::Cancelled;
use crate::inbox::Inbox;
use crate::queue::{Bucket, List, unlink};
use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{MODEL, Mutex, MutexGuard};
use crate::table::{Hasher, Key};
use crate::waiter::{IDLE, NOTIFIED, QUEUED, TIMED_OUT, Waiter, with};
use crate::wake::{Wake, WakeBatch};

/// A shard never has fewer buckets. One in a model, so that three words make it grow.
const FEWEST_BUCKETS: usize = if MODEL { 1 } else { 4 };

/// Aligned so that two shards share no cache line, nor a pair of lines that the processor fetches together.
#[repr(align(128))]
pub(crate) struct Shard {
    /// How many waiters are queued here. Changed under the lock; read without it by every notify.
    waiters: AtomicUsize,
    queues: Mutex<Queues>,
}

struct Queues {
    buckets: Box<[Bucket]>,
    /// How many words have a queue.
    words: usize,
    /// The ticket of the next waiter to enter.
    next_ticket: u64,
}

impl Shard {
    pub(crate) fn new() -> Self {
        let buckets = (0..FEWEST_BUCKETS).map(|_| Bucket::default()).collect();
        Self {
            waiters: AtomicUsize::new(0),
            queues: Mutex::new(Queues { buckets, words: 0, next_ticket: 0 }),
        }
    }

    /// Rule 2: whether nobody waits here, asked without the lock by someone who stored to a word before.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        // Fence N, paired with fence W in `announce`. Of the two one comes first: either we see the waiter's
        // count, or the waiter sees our store.
        fence(Ordering::SeqCst);
        self.waiters.load(Ordering::Relaxed) == 0
    }

    #[inline]
    pub(crate) fn lock(&self, hasher: Hasher) -> Locked<'_> {
        Locked { shard: self, hasher, queues: self.queues.lock() }
    }

    /// Makes it have `size` buckets. They are allocated, and the old ones freed, without the lock.
    ///
    /// If somebody was faster, ours are not needed; if there is no memory, the old ones serve. (To unwind is no choice:
    /// linked nodes are on stacks further up.)
    #[cold]
    fn resize(&self, size: usize, hasher: Hasher) {
        let Some(mut spare) = empty_buckets(size) else { return };
        let mut queues = self.queues.lock();
        if queues.better_size() == Some(size) {
            queues.rehash(hasher, &mut spare);
        }
        drop(queues);
    }
}

/// A shard whose lock is held: everything that I2 gives to the holder.
pub(crate) struct Locked<'a> {
    shard: &'a Shard,
    hasher: Hasher,
    queues: MutexGuard<'a, Queues>,
}

impl Locked<'_> {
    /// Raises the count of waiters for one who is about to load the word and, if it is equal, enter.
    pub(crate) fn announce(&mut self) {
        self.add_waiters(1);
        // Fence W, paired with fence N in `is_idle`.
        fence(Ordering::SeqCst);
    }

    /// Takes [`announce`](Self::announce) back.
    pub(crate) fn retract(&mut self) {
        self.add_waiters(1_usize.wrapping_neg());
    }

    /// Puts an announced waiter at the end of its word's line.
    ///
    /// # Safety
    /// `node` is idle and will leave before its memory goes (I1).
    pub(crate) unsafe fn enqueue(&mut self, key: Key, node: Pin<&Waiter>) {
        node.set_state(QUEUED);
        let ticket = self.queues.next_ticket;
        self.queues.next_ticket += 1;
        // SAFETY: we hold the lock of `key`'s shard (I2), and the idle node's owner lends it to us (I5).
        if unsafe { self.bucket(key).push(key.address, ticket, node.pointer()) } {
            self.queues.words += 1;
        }
    }

    /// Rule 4, the one question: takes `node` out of its queue, unless a notify has counted it already. Afterwards
    /// it is in no list of this shard, and its owner's (or, if it was settled, its inbox's).
    pub(crate) fn leave(&mut self, key: Key, node: Pin<&Waiter>) -> Cancelled {
        if node.state() != QUEUED {
            return Cancelled::AfterNotify;
        }
        let queued = self.take_out(key, node);
        if !queued {
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

    /// Gives a queued node another wake, by exchange, so that the old one is dropped after the lock. Returns
    /// `false` when the node is not queued any more because a notify counted it; then it has left.
    pub(crate) fn renew(&mut self, key: Key, node: Pin<&Waiter>, wake: &mut Wake) -> bool {
        if node.state() == QUEUED && self.head_of(key, node).is_some() {
            // SAFETY: queued under this lock (I2).
            unsafe { with(node.pointer(), |links| std::mem::swap(&mut links.wake, wake)) };
            return true;
        }
        let _ = self.leave(key, node);
        false
    }

    /// Takes the first waiter off the queue of `key` and gives it its verdict. Returns whom to tell after the lock.
    pub(crate) fn settle_first(&mut self, key: Key, notifier: Option<&Inbox>) -> Option<Wake> {
        // SAFETY: we hold the lock of `key`'s shard (I2), and who is in a queue is alive (I1).
        unsafe {
            let bucket = self.bucket(key);
            let head = bucket.find(key.address)?;
            let gone = bucket.remove(head, head);
            self.removed(1, gone);
            Some(give_verdict(head, NOTIFIED, notifier))
        }
    }

    /// Rule 6: takes the first `count` waiters, or all who are there, off the queue of `key`. They are counted now,
    /// and in limbo on `list` until [`settle`](Self::settle) tells them.
    pub(crate) fn detach(&mut self, key: Key, count: usize, list: Pin<&List>) -> usize {
        // SAFETY: we hold the lock of `key`'s shard (I2); `list` is given to us.
        unsafe {
            let bucket = self.bucket(key);
            let Some(head) = bucket.find(key.address) else { return 0 };
            let (detached, gone) = bucket.detach(head, count, list);
            self.removed(detached, gone);
            detached
        }
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
        unsafe { self.bucket(key).find(key.address).map_or(0, |head| with(head, |links| links.len)) }
    }

    /// Unlocks, and lets the number of buckets follow the number of words.
    #[inline]
    pub(crate) fn release(self) {
        let Locked { shard, hasher, queues } = self;
        let better_size = queues.better_size();
        drop(queues);
        if let Some(size) = better_size {
            shard.resize(size, hasher);
        }
    }

    /// Takes `node` out of its queue if it is in it, and says so.
    fn take_out(&mut self, key: Key, node: Pin<&Waiter>) -> bool {
        let Some(head) = self.head_of(key, node) else { return false };
        // SAFETY: we hold the lock (I2), and `node` is in the queue of `head`.
        let gone = unsafe { self.bucket(key).remove(head, node.pointer()) };
        self.removed(1, gone);
        true
    }

    /// The head of the queue that `node`, whose state is `QUEUED`, stands in; `None` when it is in limbo.
    ///
    /// Notifies take from the front and waiters enter at the back, with rising tickets. So whoever is still in the
    /// queue is not older than its head, and whoever was taken off is.
    fn head_of(&mut self, key: Key, node: Pin<&Waiter>) -> Option<NonNull<Waiter>> {
        // SAFETY: we hold the lock, which owns the links of every node that is `QUEUED` (I2).
        unsafe {
            let ticket = with(node.pointer(), |links| links.ticket);
            self.bucket(key)
                .find(key.address)
                .filter(|&head| head == node.pointer() || with(head, |links| links.ticket) < ticket)
        }
    }

    fn bucket(&mut self, key: Key) -> &mut Bucket {
        let index = key.hash as usize & (self.queues.buckets.len() - 1);
        &mut self.queues.buckets[index]
    }

    fn removed(&mut self, waiters: usize, queue_gone: bool) {
        self.add_waiters(waiters.wrapping_neg());
        self.queues.words -= usize::from(queue_gone);
    }

    /// Only the holder of the lock writes the count, so that a load and a store will do.
    fn add_waiters(&mut self, delta: usize) {
        let waiters = &self.shard.waiters;
        waiters.store(waiters.load(Ordering::Relaxed).wrapping_add(delta), Ordering::Relaxed);
    }
}

impl Queues {
    /// How many buckets there should be, if not as many as there are.
    #[inline]
    fn better_size(&self) -> Option<usize> {
        let size = self.buckets.len();
        if self.words > size {
            Some(4 * size)
        } else if size > FEWEST_BUCKETS && 8 * self.words < size {
            Some((size / 4).max(FEWEST_BUCKETS))
        } else {
            None
        }
    }

    /// Moves all queues to `spare` and exchanges the two.
    fn rehash(&mut self, hasher: Hasher, spare: &mut Box<[Bucket]>) {
        for bucket in &mut self.buckets {
            // SAFETY: `self` is reached through the lock (I2); a queue is moved as a whole, and its key is
            // nowhere else.
            unsafe {
                while let Some(head) = bucket.disown() {
                    let address = with(head, |links| links.key);
                    let index = hasher.hash(address) as usize & (spare.len() - 1);
                    spare[index].adopt(head);
                }
            }
        }
        std::mem::swap(&mut self.buckets, spare);
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("waiters", &self.waiters).finish_non_exhaustive()
    }
}

/// Gives a node its verdict. Returns whom to tell, after the lock.
///
/// # Safety
/// The node is alive, and was unlinked under the lock that owned it (I2), which the caller still holds. It is not the
/// caller's any more when this returns (I3, I4).
unsafe fn give_verdict(node: NonNull<Waiter>, verdict: u8, notifier: Option<&Inbox>) -> Wake {
    // SAFETY: says the caller.
    unsafe {
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
