//! The critical section: the locked shard of one word, and all operations on its waiters. No foreign code is called from here.
//!
//! ```text
//!   Section::begin ─ compare, enqueue │ leave │ complete │ detach │ signal ... ─ end: unlock, tell the observer, wake, resize, watch
//! ```
//! A section ends once, with [`unlock`](Section::unlock) if waiters are to be woken, otherwise by being dropped.
//!
//! # Leaving
//! "Did I leave the queue, or was I notified?" Timeout, drop and termination all call [`leave`](Section::leave).
//!
//! ```text
//!   waiter whose deadline passed          notifier
//!   ────────────────────────────          ────────────────────────────
//!                                         lock; dequeue the waiter; unlock
//!   lock; it is not in the queue          wake it
//!   → it was counted: Notified
//!
//!   lock; it is in the queue: unlink
//!   unlock → TimedOut                     lock; it is not there: count another
//! ```
//! The first of the two to take the lock decides for both. Being in the queue is the state; there is no second one that could disagree with it.

use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;

use super::key::Key;
use super::node::{
    GONE, IDLE, Links, NOTIFIED, NOTIFIED_FIRST, NOTIFIED_LAST, PASSED, QUEUED, SIGNALLED, SKIPPED, Waiter,
    entry, is_queued, is_signalled, next, node_of, prev, with,
};
use super::shard::{Queues, Shard};
use crate::inbox::{Completed, Inbox};
use crate::list::{Detached, unlink};
use crate::observe::{self, PASS, extras};
use crate::outcome::Cancelled;
use crate::sync::mutant;
use crate::wake::{BATCH, Wake, WakeBatch};

/// The locked shard of a word.
pub(crate) struct Section<'a> {
    shard: &'a Shard,
    pub(crate) key: Key,
}

/// Which waiter a notify of one dequeues.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The head.
    First,
    /// The tail.
    Last,
}

impl<'a> Section<'a> {
    #[inline(always)]
    pub(crate) fn begin(shard: &'a Shard, key: Key) -> Self {
        shard.lock.lock();
        Self { shard, key }
    }

    #[inline(always)]
    pub(crate) fn with<R>(&mut self, access: impl FnOnce(&mut Queues, Key) -> R) -> R {
        let key = self.key;
        // SAFETY: we hold the lock (I2), and `access` has `self` borrowed as long as it runs.
        self.shard.queues.with_mut(|queues| access(unsafe { &mut *queues }, key))
    }

    /// Unlocks. Then the caller tells the observer, wakes, and does what is [left](Left::follow_up), in this order.
    #[inline(always)]
    pub(crate) fn unlock(self) -> Left<'a> {
        ManuallyDrop::new(self).unlock_in_place()
    }

    #[inline(always)]
    fn unlock_in_place(&mut self) -> Left<'a> {
        Left { shard: self.shard, todo: self.shard.unlock() }
    }
}

impl Drop for Section<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.unlock_in_place().follow_up();
    }
}

/// The work that a section leaves for after the lock.
#[must_use]
pub(crate) struct Left<'a> {
    shard: &'a Shard,
    todo: usize,
}

impl Left<'_> {
    /// Does this work. Does not unwind.
    #[inline(always)]
    pub(crate) fn follow_up(self) {
        if self.todo != 0 {
            self.shard.follow_up(self.todo);
        }
    }
}

/// Enqueueing, leaving and completing.
impl Section<'_> {
    /// Puts a waiter, whose wake has been set, at the tail of the word's queue.
    ///
    /// # Safety
    /// `node` is idle and pinned, and its owner makes it leave before its memory is freed (I1). The lists keep this very pointer: through
    /// that of an agent's wait, the token beside the node is reached too.
    #[inline(always)]
    pub(crate) unsafe fn enqueue(&mut self, node: NonNull<Waiter>) {
        self.with(|queues, key| {
            // SAFETY: we hold the lock of the word's shard (I2), and the idle node's owner lends it to us (I5).
            unsafe { queues.append(key, node) };
            mutant!("watch-enqueue" => queues.state &= !super::shard::WATCH);
        });
        // SAFETY: alive (I1).
        self.tell_queued(unsafe { node.as_ref() });
    }

    /// Tells the observer that `node` is queued now.
    #[inline(always)]
    fn tell_queued(&self, node: &Waiter) {
        observe::queued(|| self.key.address(), || node.waits_for(), || node.ticket());
    }

    /// How every waiter gives up: dequeues `node`, unless a notify has counted it already. Afterwards the node is in no list of this shard,
    /// and belongs to its owner (if it was completed, to its inbox).
    #[inline(always)]
    pub(crate) fn leave(&mut self, node: Pin<&Waiter>) -> Cancelled {
        let state = node.state();
        if !is_queued(state) {
            return Cancelled::AfterNotify;
        }
        if self.dequeue(node) {
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

    /// Moves `node` to the inbox of its agent, as timed out, unless a notify has counted it already. Returns its wake, to be dropped after
    /// the lock.
    ///
    /// # Safety
    /// The caller keeps the node alive and pinned until it has left its inbox (I1).
    pub(crate) unsafe fn expire(&mut self, pointer: NonNull<Waiter>) -> Option<Wake> {
        // SAFETY: alive and pinned, as the caller says.
        let node = unsafe { Pin::new_unchecked(pointer.as_ref()) };
        if node.state() != QUEUED || !self.dequeue(node) {
            return None;
        }
        // SAFETY: just unlinked, under the lock that owned it (I2); nobody notified it.
        Some(unsafe { complete(pointer, GONE, None) })
    }

    /// Dequeues one waiter and completes it. Returns its wake, to be run after the lock.
    #[inline(always)]
    pub(crate) fn complete(&mut self, which: Which, notifier: Option<&Inbox>) -> Option<Wake> {
        let node = self.with(|queues, key| {
            // SAFETY: we hold the lock (I2); the tail is the head's predecessor.
            unsafe {
                let head = queues.bucket(key).find(key)?;
                let node = if which == Which::First { head } else { prev(head) };
                queues.remove(key, head, node);
                Some(node)
            }
        })?;
        let outcome = if which == Which::First { NOTIFIED_FIRST } else { NOTIFIED_LAST };
        // SAFETY: unlinked just now under this lock (I2), and alive, as every node in a queue (I1).
        Some(unsafe { complete(node, outcome, notifier) })
    }

    /// Dequeues the first `count` waiters, or all there are, in one step: a waiter that comes later is not among them. They are counted now,
    /// and detached until they are [completed](Self::complete_batch) or [moved](Self::move_tasks).
    pub(crate) fn detach(&mut self, count: usize, detached: Pin<&Detached>) -> usize {
        // SAFETY: we hold the lock (I2); `detached` is given to us.
        self.with(|queues, key| unsafe {
            match queues.bucket(key).find(key) {
                Some(head) => queues.detach(key, head, count, detached),
                None => 0,
            }
        })
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
        let more = unsafe {
            let push = |entry| batch.push(complete(node_of(entry), NOTIFIED, notifier));
            detached.list().pop_many(BATCH, push)
        };
        if !more {
            self.worked_off(detached);
        }
        more
    }

    /// Of up to a batch of detached waiters, puts tasks at the tail of the queue of this word, and completes threads, whose wakes it adds to
    /// the batch, which is empty. Returns how many it moved, and whether any are left.
    ///
    /// # Safety
    /// `detached` was filled by [`detach`](Self::detach) under a lock that the caller holds too.
    pub(crate) unsafe fn move_tasks(
        &mut self,
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
                self.with(|queues, key| queues.append(key, node));
                node.as_ref().moved();
                self.tell_queued(node.as_ref());
            }
        }
        // SAFETY: the list belongs to the locks that the caller holds (I2).
        (moved, unsafe { !list.is_empty() })
    }

    /// The notify that [detached](Self::detach) waiters from this word is over: the list is empty.
    pub(crate) fn worked_off(&mut self, detached: Pin<&Detached>) {
        let over = NonNull::from(detached.get_ref());
        self.with(|queues, _| {
            if queues.detached == Some(over) {
                queues.detached = detached.next.get();
                return;
            }
            let mut known = queues.detached;
            while let Some(before) = known {
                // SAFETY: a list is alive until it is completed, and belongs to the lock that we hold (I2).
                let before = unsafe { before.as_ref() };
                known = before.next.get();
                if known == Some(over) {
                    return before.next.set(detached.next.get());
                }
            }
        });
    }

    /// How many waiters the queue has.
    pub(crate) fn len(&mut self) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, key| unsafe { queues.bucket(key).find(key).map_or(0, |head| len(head)) })
    }

    /// Whether the word has no queue.
    #[inline(always)]
    pub(crate) fn is_empty(&mut self) -> bool {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, key| unsafe { queues.bucket(key).find(key).is_none() })
    }

    /// Dequeues `node` if it is in its queue, and returns whether it was.
    #[inline(always)]
    fn dequeue(&mut self, node: Pin<&Waiter>) -> bool {
        // SAFETY: we hold the lock of the node and of its word (I2).
        self.with(
            #[inline(always)]
            |queues, key| unsafe {
                let head = queues.bucket(key).find_with(key, node.pointer());
                if let Some(head) = head {
                    queues.remove(key, head, node.pointer());
                }
                head.is_some()
            },
        )
    }
}

/// Operations of the owners on their queued nodes.
impl Section<'_> {
    /// Whether a queued node is woken by `waker`. `None` if a notify has counted it: it has left its list then.
    pub(crate) fn will_wake(&mut self, node: Pin<&Waiter>, waker: &Waker) -> Option<bool> {
        node.owner.set_here();
        self.with_links(node, |links| links.wake.will_wake(waker))
    }

    /// Exchanges the wake of a queued node. Returns whether the node was signalled: the exchange acknowledges the signal. `None` if a
    /// notify has counted it: it has left its list then.
    pub(crate) fn exchange_wake(&mut self, node: Pin<&Waiter>, wake: &mut Wake) -> Option<bool> {
        node.owner.set_here();
        self.with_links(node, |links| std::mem::swap(&mut links.wake, wake))?;
        let was_signalled = is_signalled(node.state());
        // A requested signal stays requested.
        if was_signalled {
            node.change_queued(QUEUED);
        }
        Some(was_signalled)
    }

    /// Runs `access` on the links of a queued node; `None` as in [`will_wake`](Self::will_wake).
    fn with_links<R>(&mut self, node: Pin<&Waiter>, access: impl FnOnce(&mut Links) -> R) -> Option<R> {
        if is_queued(node.state()) && self.is_queued(node) {
            // SAFETY: queued under this lock (I2).
            return Some(unsafe { with(node.pointer(), access) });
        }
        let _ = self.leave(node);
        None
    }

    /// Whether `node`, whose state is that of a queued one, is in the queue of its word, and not detached.
    fn is_queued(&mut self, node: Pin<&Waiter>) -> bool {
        // SAFETY: we hold the lock of the word's shard (I2).
        self.with(|queues, key| unsafe { queues.bucket(key).find_with(key, node.pointer()).is_some() })
    }

    /// Gives `node` this state, `REQUESTED` or `PASSED`, if it is queued and not signalled. The next pass of the watchdog checks it if
    /// a waiter is queued behind it by then.
    pub(crate) fn mark(&mut self, node: Pin<&Waiter>, state: u64) {
        if node.state() == QUEUED && self.is_queued(node) {
            node.change_queued(state);
            let has_more = self.len() > 1;
            mutant!("watch-request" => return);
            self.with(|queues, _| queues.watch(has_more));
        }
    }
}

/// Signals (`notify.rs`).
impl Section<'_> {
    /// Signals the first waiter that is neither signalled yet nor an agent's, and, if the signal `goes_past` them, not [`PASSED`]: takes its
    /// wake, and leaves the waiter queued. Also returns how many are in the queue.
    #[inline(always)]
    pub(crate) fn signal(&mut self, goes_past: bool) -> Option<(Wake, usize)> {
        // SAFETY: we hold the lock of the word's shard (I2).
        self.with(|queues, key| unsafe {
            let head = queues.bucket(key).find(key)?;
            let len = len(head);
            let is_passed = |node: NonNull<Waiter>| goes_past && node.as_ref().state() == PASSED;
            let wake = find_in(head, |node| if is_passed(node) { None } else { signal(node) })?;
            mutant!("watch-signal" => return Some((wake, len)));
            queues.watch(len > 1 || extras() & PASS != 0);
            Some((wake, len))
        })
    }

    /// Whether all waiters have been skipped, except those that let others pass. If not, the next pass checks them, as if another waiter
    /// were queued behind them.
    pub(crate) fn is_stalled(&mut self) -> bool {
        // SAFETY: we hold the lock of the word's shard (I2).
        self.with(|queues, key| unsafe {
            let Some(head) = queues.bucket(key).find(key) else { return true };
            let is_ahead = |node: NonNull<Waiter>| !matches!(node.as_ref().state(), SKIPPED | PASSED);
            let may_respond = find_in(head, |node| is_ahead(node).then_some(())).is_some();
            mutant!("watch-question" => return !may_respond);
            queues.watch(may_respond);
            !may_respond
        })
    }
}

/// Signals a task or thread that is not signalled yet: takes its wake.
///
/// # Safety
/// The node is queued under a lock that the caller holds (I2).
#[inline(always)]
pub(crate) unsafe fn signal(node: NonNull<Waiter>) -> Option<Wake> {
    // SAFETY: its links belong to the caller's lock (I2), and a node in a queue is alive (I1).
    unsafe {
        if is_signalled(node.as_ref().state()) {
            return None;
        }
        let wake = with(node, |links| links.wake.take_task())?;
        node.as_ref().change_queued(SIGNALLED);
        Some(wake)
    }
}

/// What `choose` returns for the first waiter in the queue of `head` that it accepts.
///
/// # Safety
/// The queue belongs to a lock that the caller holds (I2); `choose` links and unlinks nothing.
#[inline(always)]
pub(crate) unsafe fn find_in<R>(
    head: NonNull<Waiter>,
    mut choose: impl FnMut(NonNull<Waiter>) -> Option<R>,
) -> Option<R> {
    let mut node = head;
    loop {
        if let Some(chosen) = choose(node) {
            return Some(chosen);
        }
        // SAFETY: in a queue that belongs to the caller's lock (I2).
        node = unsafe { next(node) };
        if node == head {
            return None;
        }
    }
}

/// How many waiters the queue of `head` has.
///
/// # Safety
/// The queue belongs to a lock that the caller holds (I2).
#[inline(always)]
pub(super) unsafe fn len(head: NonNull<Waiter>) -> usize {
    // SAFETY: as the caller guarantees.
    unsafe { with(head, |links| links.len) as usize }
}

/// Stores a node's outcome. Returns its wake, to be run after the lock.
///
/// # Safety
/// The node is alive, and was unlinked under the lock that owned it (I2), which the caller still holds. When this returns, it no longer
/// belongs to the caller (I3, I4).
#[inline(always)]
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
    let rings = outcome != GONE && list == Completed::Elsewhere;
    // SAFETY: alive, and the caller's until it is in the inbox (I4).
    unsafe { inbox.push(entry(node), list, rings, || node.as_ref().set_state(outcome)) };
}
