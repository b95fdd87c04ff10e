//! Enqueue and dequeue, under the lock of the shard. Signalled waiters, which stay in their queue, are in `stalled.rs`.

use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;

use super::Locked;
use super::hash::Key;
use crate::observe;
use crate::sync::mutant;
use crate::waiter::list::{Detached, unlink};
use crate::waiter::node::{
    IDLE, Links, NOTIFIED, NOTIFIED_FIRST, NOTIFIED_LAST, QUEUED, TIMED_OUT, Waiter, entry, is_queued,
    is_signalled, node_of, prev, with,
};
use crate::waiter::wake::{BATCH, Wake, WakeBatch};
use crate::waiter::{Cancelled, Completed, Inbox};

impl Locked<'_> {
    /// Puts a waiter at the tail of its word's queue.
    ///
    /// # Safety
    /// `node` is idle and will leave before its memory goes (I1).
    #[inline]
    pub(crate) unsafe fn enqueue(&mut self, key: Key, node: NonNull<Waiter>) {
        self.with(|queues, changes| {
            // SAFETY: we hold the lock of `key`'s shard (I2), and the idle node's owner lends it to us (I5).
            unsafe { queues.append(key, node, changes) };
        });
        // SAFETY: alive (I1).
        tell_queued(key, unsafe { node.as_ref() });
    }

    /// Of up to a batch of detached waiters, puts tasks at the tail of the queue of `key`, and completes threads, whose wakes it adds to the
    /// batch, which is empty. Returns how many it moved, and whether any are left.
    ///
    /// # Safety
    /// `detached` was filled by [`detach`](Self::detach) under a lock that the caller holds too.
    pub(crate) unsafe fn move_tasks(
        &mut self,
        key: Key,
        detached: Pin<&Detached>,
        threads: &mut WakeBatch,
    ) -> (usize, bool) {
        let (list, mut moved) = (detached.list(), 0);
        for _ in 0..BATCH {
            // SAFETY: the list and its members belong to the locks that the caller holds (I2), and are alive (I1). What is popped is
            // unlinked, and belongs to them still.
            unsafe {
                let Some(node) = list.pop().map(|entry| node_of(entry)) else { return (moved, false) };
                if with(node, |links| links.wake.is_of_thread()) {
                    threads.push(complete(node, NOTIFIED, None));
                    continue;
                }
                moved += 1;
                self.with(|queues, changes| queues.append(key, node, changes));
                node.as_ref().moved();
                tell_queued(key, node.as_ref());
            }
        }
        // SAFETY: the list belongs to the locks that the caller holds (I2).
        (moved, unsafe { !list.is_empty() })
    }

    /// How every waiter gives up: dequeues `node`, unless a notify has counted it already. Afterwards the node is in no list of this shard,
    /// and belongs to its owner (if it was completed, to its inbox).
    #[inline]
    pub(crate) fn leave(&mut self, key: Key, node: Pin<&Waiter>) -> Cancelled {
        let state = node.state();
        if !is_queued(state) {
            return Cancelled::AfterNotify;
        }
        if self.dequeue(key, node) {
            node.set_state(IDLE);
            mutant!("leave-signalled" => return Cancelled::BeforeNotify);
            return if is_signalled(state) { Cancelled::AfterSignal } else { Cancelled::BeforeNotify };
        }
        node.set_state(IDLE);
        mutant!("detached-unlink" => return Cancelled::AfterNotify);
        // SAFETY: detached: linked in the list of a notify, which belongs to this lock (I2).
        unsafe { unlink(entry(node.pointer())) };
        Cancelled::AfterNotify
    }

    /// Moves `node` to the inbox of its agent, as timed out, unless a notify has counted it already. Returns its
    /// wake, to be dropped after the lock.
    ///
    /// # Safety
    /// The caller keeps the node alive and pinned until it has left its inbox (I1).
    pub(crate) unsafe fn expire(&mut self, key: Key, pointer: NonNull<Waiter>) -> Option<Wake> {
        // SAFETY: alive and pinned, as the caller says.
        let node = unsafe { Pin::new_unchecked(pointer.as_ref()) };
        if node.state() != QUEUED || !self.dequeue(key, node) {
            return None;
        }
        // SAFETY: just unlinked, under the lock that owned it (I2); nobody notified it.
        Some(unsafe { complete(pointer, TIMED_OUT, None) })
    }

    /// Whether a queued node is woken by `waker`. `None` if a notify has counted it, so that it is no longer queued; it has left then.
    pub(crate) fn will_wake(&mut self, key: Key, node: Pin<&Waiter>, waker: &Waker) -> Option<bool> {
        node.owner.set_here();
        self.with_links(key, node, |links| links.wake.will_wake(waker))
    }

    /// Runs `access` on the links of a queued node; `None` as in [`will_wake`](Self::will_wake).
    fn with_links<R>(
        &mut self,
        key: Key,
        node: Pin<&Waiter>,
        access: impl FnOnce(&mut Links) -> R,
    ) -> Option<R> {
        if is_queued(node.state()) && self.is_queued(key, node) {
            // SAFETY: queued under this lock (I2).
            return Some(unsafe { with(node.pointer(), access) });
        }
        let _ = self.leave(key, node);
        None
    }

    /// Exchanges the wake of a queued node. Returns whether the node was signalled: the exchange acknowledges the signal. `None` if a
    /// notify has counted it; it has left then.
    pub(crate) fn exchange_wake(&mut self, key: Key, node: Pin<&Waiter>, wake: &mut Wake) -> Option<bool> {
        node.owner.set_here();
        self.with_links(key, node, |links| std::mem::swap(&mut links.wake, wake))?;
        let was_signalled = is_signalled(node.state());
        // A requested signal stays requested.
        if was_signalled {
            node.change_queued(QUEUED);
        }
        Some(was_signalled)
    }

    /// Whether `node`, whose state is `QUEUED`, is in the queue of its word, and not detached.
    pub(super) fn is_queued(&mut self, key: Key, node: Pin<&Waiter>) -> bool {
        // SAFETY: we hold the lock of the word's shard (I2).
        self.with(|queues, _| unsafe {
            queues.bucket(key).find(key.address).is_some_and(|head| is_in_queue_of(head, node))
        })
    }

    /// Dequeues the head waiter of `key` and completes it. Returns its wake, to be run after the lock.
    #[inline]
    pub(crate) fn complete_first(&mut self, key: Key, notifier: Option<&Inbox>) -> Option<Wake> {
        let first = self.remove(key, Some)?;
        // SAFETY: unlinked just now under this lock (I2), and alive, as every node in a queue (I1).
        Some(unsafe { complete(first, NOTIFIED_FIRST, notifier) })
    }

    /// As [`complete_first`](Self::complete_first), for the tail, which is the head's predecessor.
    pub(crate) fn complete_last(&mut self, key: Key) -> Option<Wake> {
        // SAFETY: the head is queued under this lock, which owns its entry (I2).
        let last = self.remove(key, |head| Some(unsafe { prev(head) }))?;
        // SAFETY: unlinked just now under this lock (I2), and alive, as every node in a queue (I1).
        Some(unsafe { complete(last, NOTIFIED_LAST, None) })
    }

    /// Dequeues the first `count` waiters of `key`, or all there are, in one step: a waiter that comes later is not among
    /// them. They are counted now, and detached until they are [completed](Self::complete_batch) or [moved](Self::move_tasks), and the list
    /// is [worked off](Self::worked_off).
    pub(crate) fn detach(&mut self, key: Key, count: usize, detached: Pin<&Detached>) -> usize {
        self.with(|queues, changes| {
            // SAFETY: we hold the lock of `key`'s shard (I2); `detached` is given to us.
            let (counted, gone) = unsafe {
                let (bucket, place) = queues.bucket_and_place(key);
                let Some(head) = bucket.find(key.address) else { return 0 };
                let (counted, gone) = bucket.detach(head, count, detached.list());
                place.detached(key, || bucket.find(key.address));
                (counted, gone)
            };
            if gone {
                queues.word_gone(key, changes);
            }
            detached.next.set(queues.detached.replace(NonNull::from(detached.get_ref())));
            counted
        })
    }

    /// The notify that [detached](Self::detach) them is over: the list is empty.
    pub(crate) fn worked_off(&mut self, detached: Pin<&Detached>) {
        let over = NonNull::from(detached.get_ref());
        self.with(|queues, _| {
            if queues.detached == Some(over) {
                queues.detached = detached.next.get();
                return;
            }
            let mut known = queues.detached;
            while let Some(before) = known {
                // SAFETY: a list is alive until it is worked off, and belongs to the lock that we hold (I2).
                let before = unsafe { before.as_ref() };
                known = before.next.get();
                if known == Some(over) {
                    return before.next.set(detached.next.get());
                }
            }
        });
    }

    /// Completes up to a batch of detached nodes and collects their wakes. Returns whether nodes are left.
    ///
    /// # Safety
    /// `detached` was filled by [`detach`](Self::detach) under the lock of this shard.
    pub(crate) unsafe fn complete_batch(
        &mut self,
        detached: Pin<&Detached>,
        batch: &mut WakeBatch,
        notifier: Option<&Inbox>,
    ) -> bool {
        // SAFETY: the list and its members belong to this lock (I2), and its members are alive (I1).
        unsafe {
            detached
                .list()
                .pop_many(batch.room(), |entry| batch.push(complete(node_of(entry), NOTIFIED, notifier)))
        }
    }

    /// How many waiters the queue of `key` has.
    pub(crate) fn len(&mut self, key: Key) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| unsafe {
            queues.bucket(key).find(key.address).map_or(0, |head| with(head, |links| links.len) as usize)
        })
    }

    /// Dequeues `node` if it is in its queue, and returns whether it was.
    #[inline]
    fn dequeue(&mut self, key: Key, node: Pin<&Waiter>) -> bool {
        // SAFETY: `head` is that of the node's word, and we hold the lock of both (I2).
        self.remove(key, |head| unsafe { is_in_queue_of(head, node) }.then_some(node.pointer())).is_some()
    }

    /// Dequeues the node that `choose` picks, given the head, from the queue of `key`.
    #[inline]
    fn remove(
        &mut self,
        key: Key,
        choose: impl FnOnce(NonNull<Waiter>) -> Option<NonNull<Waiter>>,
    ) -> Option<NonNull<Waiter>> {
        self.with(|queues, changes| {
            // SAFETY: we hold the lock (I2), and the node that is chosen is in the queue of the head.
            let (node, gone) = unsafe {
                let (bucket, place) = queues.bucket_and_place(key);
                let head = bucket.find(key.address)?;
                let node = choose(head)?;
                place.leaves(head, node);
                (node, bucket.remove(head, node))
            };
            if gone {
                queues.word_gone(key, changes);
            }
            Some(node)
        })
    }

    /// How many queues the fullest bucket has.
    #[cfg(test)]
    pub(crate) fn longest_chain(&mut self) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| queues.buckets.iter().map(|bucket| unsafe { bucket.len() }).max().unwrap_or(0))
    }
}

/// Tells the observer that `node` is queued now.
#[inline]
fn tell_queued(key: Key, node: &Waiter) {
    observe::queued(key.address, || node.waits_for(), || node.ticket());
}

/// Whether `node`, whose state is `QUEUED`, is in the queue of its word, which is that of `head`, and not detached.
///
/// Waiters enqueue at the back with rising tickets, and a notify detaches from the front. So a node that is still in the queue is not older
/// than the head, and a detached one is. (A notify of the last waiter completes the tail under the same lock, so that node is not `QUEUED`
/// here.)
///
/// # Safety
/// The caller holds the lock of their shard, which owns the links of every node that is `QUEUED` (I2).
#[inline]
unsafe fn is_in_queue_of(head: NonNull<Waiter>, node: Pin<&Waiter>) -> bool {
    mutant!("ticket" => return true);
    // SAFETY: a node in a queue is alive (I1).
    head == node.pointer() || unsafe { head.as_ref() }.is_before(node.get_ref())
}

/// Stores a node's outcome. Returns its wake, to be run after the lock.
///
/// # Safety
/// The node is alive, and was unlinked under the lock that owned it (I2), which the caller still holds. When this returns, it no longer
/// belongs to the caller (I3, I4).
#[inline]
unsafe fn complete(node: NonNull<Waiter>, outcome: u64, notifier: Option<&Inbox>) -> Wake {
    // SAFETY: alive and the caller's until the outcome is stored (I2, I3, I4).
    unsafe {
        mutant!("outcome-last" => node.as_ref().set_state(outcome));
        let wake = with(node, |links| links.wake.take_for_outcome());
        match &wake {
            Wake::Agent(Some(inbox)) => complete_into(inbox, node, outcome, notifier),
            // The last access (I3).
            _ => node.as_ref().set_state(outcome),
        }
        wake
    }
}

/// Stores the outcome of an agent's wait, and appends it to the agent's inbox.
///
/// # Safety
/// As [`complete`].
#[inline(never)]
unsafe fn complete_into(inbox: &Inbox, node: NonNull<Waiter>, outcome: u64, notifier: Option<&Inbox>) {
    let list = inbox.list_for(notifier);
    // The agent knows of its own notifies and deadlines without the doorbell.
    let rings = outcome != TIMED_OUT && list == Completed::Elsewhere;
    // SAFETY: alive, and the caller's until it is in the inbox (I4).
    unsafe { inbox.push(entry(node), list, rings, || node.as_ref().set_state(outcome)) };
}
