//! One lock, and the queues of the words behind it.
//!
//! [`Locked`] is the proof that the lock is held: what may only be done under it is a method of that guard, and
//! nothing foreign can be reached from there. Memory is allocated and freed after the lock (`release`).
//!
//! Here is how one gets in line and off it. Who is called and stays is in `sweep.rs`, where the queues are, and how many
//! buckets they have, in `queues.rs`.

mod queues;
mod sweep;

use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::call;
use crate::cancel::Cancelled;
use crate::inbox::Inbox;
use crate::lock::Lock;
use crate::presence;
use crate::queue::{List, unlink};
use crate::sync::{UnsafeCell, broken};
use crate::table::{Hasher, Key};
use crate::waiter::{IDLE, NOTIFIED, NOTIFIED_LAST, QUEUED, TIMED_OUT, Waiter, is_called, is_queued, with};
use crate::wake::{BATCH, Wake, WakeBatch};
use queues::Queues;

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

impl Shard {
    pub(crate) fn new(hasher: Hasher) -> Self {
        Self { lock: Lock::new(), queues: UnsafeCell::new(Queues::new(hasher)) }
    }

    /// Rule 2: whether nobody waits on words of this hash, asked without the lock by someone who stored to a word before.
    #[inline]
    pub(crate) fn is_idle(&self, hash: u64) -> bool {
        self.lock.none_present(presence::bit(hash))
    }

    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked { shard: self, end: End { presence: self.lock.lock(), better_size: None, watch: false } }
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
    /// Whether somebody stands behind one who was called, as of now.
    watch: bool,
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
            // SAFETY: we hold the lock of `key`'s shard (I2), and the idle node's owner lends it to us (I5).
            unsafe { queues.join(key, node.pointer(), end) };
        });
    }

    /// Puts detached waiters at the end of the line of `key`, up to a batch of them. Returns whether any are left.
    ///
    /// # Safety
    /// `list` was filled by [`detach`](Self::detach) under a lock that the caller holds too.
    pub(crate) unsafe fn adopt(&mut self, key: Key, list: Pin<&List>) -> bool {
        for _ in 0..BATCH {
            // SAFETY: the list and what is in it belong to the locks that the caller holds (I2), and is alive (I1).
            let Some(node) = (unsafe { list.pop() }) else { return false };
            self.with(|queues, end| {
                // SAFETY: as above, and unlinked just now.
                unsafe { queues.join(key, node, end) };
            });
        }
        // SAFETY: as above.
        unsafe { !list.is_empty() }
    }

    /// Rule 4, the one question: takes `node` out of its queue, unless a notify has counted it already. Afterwards
    /// it is in no list of this shard, and its owner's (or, if it was settled, its inbox's).
    pub(crate) fn leave(&mut self, key: Key, node: Pin<&Waiter>) -> Cancelled {
        let state = node.state();
        if !is_queued(state) {
            return Cancelled::AfterNotify;
        }
        let queued = self.take_out(key, node);
        if !queued && !broken!("limbo-unlink") {
            // SAFETY: in limbo: linked in a detached list, which belongs to this lock (I2).
            unsafe { unlink(node.pointer()) };
        }
        node.set_state(IDLE);
        match queued {
            true if is_called(state) && !broken!("call-left") => Cancelled::AfterCall,
            true => Cancelled::BeforeNotify,
            false => Cancelled::AfterNotify,
        }
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
        if is_queued(node.state()) && self.is_queued(key, node) {
            // SAFETY: queued under this lock (I2).
            return Some(unsafe { with(node.pointer(), |links| look(&mut links.wake)) });
        }
        let _ = self.leave(key, node);
        None
    }

    /// Gives a queued node another wake in exchange for what it has. Returns whether it had been called, which is answered
    /// now. `None` when a notify counted it; then it has left.
    pub(crate) fn exchange_wake(&mut self, key: Key, node: Pin<&Waiter>, wake: &mut Wake) -> Option<bool> {
        self.with_wake(key, node, |old| std::mem::swap(old, wake))?;
        let was_called = is_called(node.state());
        // Who asks to be called still does.
        if was_called {
            node.set_state(QUEUED);
        }
        Some(was_called)
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

    /// As [`settle_first`](Self::settle_first), of the last waiter: the tail, which the head knows.
    pub(crate) fn settle_last(&mut self, key: Key) -> Option<Wake> {
        // SAFETY: the head is queued under this lock, which owns its links (I2).
        let last = self.remove(key, |head| Some(unsafe { with(head, |links| links.prev) }))?;
        // SAFETY: unlinked just now, under the lock that owned it (I2), and who was in a queue is alive (I1).
        unsafe {
            with(last, |links| links.len = NOTIFIED_LAST);
            Some(give_verdict(last, NOTIFIED, None))
        }
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

    /// Unlocks, and does what remains to be done.
    #[inline]
    pub(crate) fn release(self) {
        self.unlock().settle();
    }

    /// Unlocks. What remains to be done is the caller's to settle, when it has done what is more urgent.
    #[inline]
    pub(crate) fn unlock(self) -> After<'a> {
        let after = After { shard: self.shard, better_size: self.end.better_size, watch: self.end.watch };
        drop(self);
        after
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

/// What remains to be done after a stay under the lock.
#[must_use = "the buckets follow the words, and sweeps are made, only if this is settled"]
pub(crate) struct After<'a> {
    shard: &'a Shard,
    better_size: Option<usize>,
    watch: bool,
}

impl After<'_> {
    #[inline]
    pub(crate) fn settle(self) {
        drop(self);
    }

    /// Does what cannot unwind, and returns what is left: whether sweeps have to be made.
    pub(crate) fn settle_but_watch(mut self) -> bool {
        std::mem::take(&mut self.watch)
    }
}

/// Also when the one panics who was called: those behind it count on the sweeps.
impl Drop for After<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(size) = self.better_size {
            self.shard.resize(size);
        }
        if self.watch {
            call::watch();
        }
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("lock", &self.lock).finish_non_exhaustive()
    }
}

/// Whether `node`, whose state is `QUEUED`, is in the queue of its word, which is that of `head`, and not in limbo.
///
/// Waiters enter at the back, with rising tickets, and a notify detaches from the front. So whoever is still in the
/// queue is not older than its head, and whoever was detached is. (A notify of the last waiter takes the tail, and gives it its
/// outcome under the same lock: it is never asked about.)
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
