//! One lock, and the queues of the words behind it.
//!
//! [`Locked`] is the proof that the lock is held: what may only be done under it is a method of that guard, and
//! nothing foreign can be reached from there. Memory is allocated and freed after the lock (`release`).

use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::call;
use crate::cancel::Cancelled;
use crate::inbox::Inbox;
use crate::lock::Lock;
use crate::presence::{self, Presence};
use crate::queue::{Bucket, List, Pushed, unlink};
use crate::sync::{MODEL, UnsafeCell, broken};
use crate::table::{Hasher, Key};
use crate::waiter::{
    ASKING, CALLED, IDLE, NOTIFIED, OVERDUE, PASSED, QUEUED, TIMED_OUT, Waiter, is_called, is_queued, with,
};
use crate::wake::{BATCH, Wake, WakeBatch};

/// A shard never has fewer buckets. One in a model, so that three words make it grow.
const FEWEST_BUCKETS: usize = if MODEL { 1 } else { 4 };

/// With no more words than buckets, chance puts more queues than this into one bucket once in 10^13 times (Poisson). Where
/// there are, somebody knows the secret, or the secret does not suit the words; it takes another one either way.
const MOST_IN_A_BUCKET: usize = 16;

/// So many buckets are swept in one stay under the lock.
const BUCKETS_AT_A_TIME: usize = 16;

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
    /// Somebody may stand behind one who was called and has not looked, or asks to be called (`call.rs`).
    watched: bool,
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
            watched: false,
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
        Locked { shard: self, end: End { presence: self.lock.lock(), better_size: None, watch: false } }
    }

    /// Sweeps it (`call.rs`). Returns whether somebody there still waits behind one who was called.
    pub(crate) fn call_overdue(&self, batch: &mut WakeBatch) -> bool {
        let mut first = Some(0);
        let mut locked = self.lock();
        while let Some(bucket) = first {
            first = locked.call_overdue(bucket, batch);
            drop(locked);
            batch.ring();
            locked = self.lock();
        }
        locked.is_watched()
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

    /// The next sweep is to call `node`, if it is queued and was not called anyway, and if somebody stands behind it by then.
    pub(crate) fn ask(&mut self, key: Key, node: Pin<&Waiter>) {
        if node.state() == QUEUED && self.is_queued(key, node) {
            node.set_state(ASKING);
            let len = self.len(key);
            self.with(|queues, end| queues.watch(len > 1, end));
        }
    }

    /// Whether `node`, whose state is `QUEUED`, is in the queue of its word, and not in limbo.
    fn is_queued(&mut self, key: Key, node: Pin<&Waiter>) -> bool {
        // SAFETY: we hold the lock of the word's shard (I2).
        self.with(|queues, _| unsafe {
            queues.bucket(key).find(key.address).is_some_and(|head| is_in_queue_of(head, node))
        })
    }

    /// Takes the wake of the first waiter in the queue of `key` that was not called yet and is no agent's. It stays where
    /// it is. Returns how many are in the queue, too.
    pub(crate) fn call_first(&mut self, key: Key) -> Option<(Wake, usize)> {
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, end| unsafe {
            let head = queues.bucket(key).find(key.address)?;
            let len = with(head, |links| links.len);
            let wake = find_in(head, |node| call(node))?;
            queues.watch(len > 1, end);
            Some((wake, len))
        })
    }

    /// Whether all in the queue of `key` have been passed over, if there are any. If not, the next sweep looks at them, as if
    /// somebody stood behind them.
    pub(crate) fn is_passed(&mut self, key: Key) -> bool {
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, end| unsafe {
            let Some(head) = queues.bucket(key).find(key.address) else { return true };
            let may_look = find_in(head, |node| (node.as_ref().state() != PASSED).then_some(())).is_some();
            queues.watch(may_look, end);
            !may_look
        })
    }

    /// One stay of a sweep (`call.rs`), at the buckets from `first` on. Returns the one to go on with.
    pub(crate) fn call_overdue(&mut self, first: usize, batch: &mut WakeBatch) -> Option<usize> {
        self.with(|queues, _| {
            if first == 0 && !std::mem::take(&mut queues.watched) {
                return None;
            }
            let end = queues.buckets.len().min(first + BUCKETS_AT_A_TIME);
            for bucket in queues.buckets.get(first..end).unwrap_or_default() {
                // SAFETY: we hold the lock (I2).
                queues.watched |= unsafe { bucket.any(|head| call_behind_overdue(head, batch)) };
            }
            (end < queues.buckets.len()).then_some(end)
        })
    }

    /// Whether the next sweep has to look here.
    pub(crate) fn is_watched(&mut self) -> bool {
        self.with(|queues, _| queues.watched)
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
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn longest_chain(&mut self) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| queues.buckets.iter().map(|bucket| unsafe { bucket.len() }).max().unwrap_or(0))
    }

    /// Unlocks, and does what remains to be done.
    #[inline]
    pub(crate) fn release(self) {
        self.unlock().settle();
    }

    /// Somebody stands behind one who was called, as was found in an earlier stay.
    pub(crate) fn watch_too(&mut self, watch: bool) {
        self.end.watch |= watch;
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

impl Queues {
    #[inline]
    fn bucket(&mut self, key: Key) -> &mut Bucket {
        let hash = if self.has_own_secret { self.hasher.hash(key.address) } else { key.hash };
        let index = hash as usize & (self.buckets.len() - 1);
        &mut self.buckets[index]
    }

    /// Puts `node` at the end of the line of `key`.
    ///
    /// # Safety
    /// The node is unlinked and the caller's.
    #[inline]
    unsafe fn join(&mut self, key: Key, node: NonNull<Waiter>, end: &mut End) {
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
    fn lost(&mut self, key: Key, end: &mut End) {
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
    fn watch(&mut self, watched: bool, end: &mut End) {
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
        // A sweep may be under way, and a queue have moved to where it has been: once more.
        self.watched = true;
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

/// Takes the wake of a task or thread that was not called yet, which it is now.
///
/// # Safety
/// The node is queued under a lock that the caller holds.
unsafe fn call(node: NonNull<Waiter>) -> Option<Wake> {
    // SAFETY: says the caller; who is in a queue is alive (I1).
    unsafe {
        let wake = with(node, |links| links.wake.take_task())?;
        node.as_ref().set_state(CALLED);
        Some(wake)
    }
}

/// A sweep looks at the queue of `head`: those at the front who were called become overdue; if they all were, the next is
/// called, if the batch has room; so is the first if it asks for it, even alone, since somebody may be trying without
/// getting in line. Returns whether anybody stands behind them.
///
/// # Safety
/// As [`call`].
unsafe fn call_behind_overdue(head: NonNull<Waiter>, batch: &mut WakeBatch) -> bool {
    let mut all_overdue = true;
    // SAFETY: says the caller.
    let waits = unsafe {
        find_in(head, |node| match node.as_ref().state() {
            PASSED => None,
            OVERDUE => {
                node.as_ref().set_state(PASSED);
                None
            }
            CALLED => {
                node.as_ref().set_state(OVERDUE);
                all_overdue = false;
                None
            }
            _ => with(node, |links| links.wake.is_task()).then_some(node),
        })
    };
    let Some(next) = waits else { return false };
    // SAFETY: as above.
    let (asks, is_alone) =
        unsafe { (next.as_ref().state() == ASKING, with(next, |links| links.next) == next) };
    if next == head && !asks {
        return false;
    }
    if all_overdue && !batch.is_full() && !broken!("sweep") {
        // SAFETY: as above.
        unsafe { call(next) }.into_iter().for_each(|wake| batch.push(wake));
    }
    !is_alone
}

/// The first in the queue of `head` that `choose` chooses.
///
/// # Safety
/// As [`call`]; `choose` links and unlinks nothing.
unsafe fn find_in<R>(
    head: NonNull<Waiter>,
    mut choose: impl FnMut(NonNull<Waiter>) -> Option<R>,
) -> Option<R> {
    let mut node = head;
    loop {
        if let Some(chosen) = choose(node) {
            return Some(chosen);
        }
        // SAFETY: says the caller.
        node = unsafe { with(node, |links| links.next) };
        if node == head {
            return None;
        }
    }
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
