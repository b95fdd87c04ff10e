//! Waiters that are woken and stay in their queue, the signalled ones (`notify/signal.rs`); and the pass of the watchdog over those that do
//! not respond (`table/watchdog.rs`).
//!
//! A shard is *watched* if a pass may find something to do there. The mark errs on the safe side: enqueuing behind a signalled waiter sets
//! it, and only a pass that has found no such waiter clears it.

use std::pin::Pin;
use std::ptr::NonNull;

use super::Locked;
use super::hash::Key;
use crate::sync::mutant;
use crate::waiter::node::{
    OVERDUE, PASSED, QUEUED, SIGNAL_REQUESTED, SIGNALLED, SKIPPED, Waiter, next, with,
};
use crate::waiter::wake::{Wake, WakeBatch};

/// How many buckets a pass checks in one critical section.
const BUCKETS_AT_A_TIME: usize = 16;

impl Locked<'_> {
    /// Signals the first waiter in the queue of `key` that is neither signalled yet nor an agent's, and, if the signal `goes_past` them, not
    /// [`PASSED`]: takes its wake, and leaves the waiter queued. Also returns how many are in the queue.
    pub(crate) fn signal_first(&mut self, key: Key, goes_past: bool) -> Option<(Wake, usize)> {
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, changes| unsafe {
            let head = queues.bucket(key).find(key.address)?;
            let len = with(head, |links| links.len) as usize;
            let is_passed = |node: NonNull<Waiter>| goes_past && node.as_ref().state() == PASSED;
            let wake = find_in(head, |node| if is_passed(node) { None } else { signal(node) })?;
            mutant!("watch-signal" => return Some((wake, len)));
            queues.watch(len > 1, changes);
            Some((wake, len))
        })
    }

    /// Whether all waiters in the queue of `key` have been skipped, except those that let others pass. If not, the next pass checks them, as
    /// if another waiter were queued behind them.
    pub(crate) fn is_stalled(&mut self, key: Key) -> bool {
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, changes| unsafe {
            let Some(head) = queues.bucket(key).find(key.address) else { return true };
            let is_ahead = |node: NonNull<Waiter>| !matches!(node.as_ref().state(), SKIPPED | PASSED);
            let may_respond = find_in(head, |node| is_ahead(node).then_some(())).is_some();
            queues.watch(may_respond, changes);
            !may_respond
        })
    }

    /// Makes the next pass signal `node`, if the node is queued and not signalled, and a waiter is queued behind it by then.
    pub(crate) fn request_signal(&mut self, key: Key, node: Pin<&Waiter>) {
        if node.state() == QUEUED && self.is_queued(key, node) {
            node.change_queued(SIGNAL_REQUESTED);
            let len = self.len(key);
            self.with(|queues, changes| queues.watch(len > 1, changes));
        }
    }

    /// Signals may go past `node`, if it is queued and not signalled. The next pass checks the waiters behind it.
    pub(crate) fn let_pass(&mut self, key: Key, node: Pin<&Waiter>) {
        if node.state() == QUEUED && self.is_queued(key, node) {
            node.change_queued(PASSED);
            let len = self.len(key);
            self.with(|queues, changes| queues.watch(len > 1, changes));
        }
    }

    /// One critical section of a pass, over the buckets from `first` on. Returns the bucket to go on with.
    pub(crate) fn pass(&mut self, first: usize, batch: &mut WakeBatch) -> Option<usize> {
        self.with(|queues, _| {
            if first == 0 && !std::mem::take(&mut queues.watched) {
                return None;
            }
            let end = queues.buckets.len().min(first + BUCKETS_AT_A_TIME);
            for bucket in queues.buckets.get(first..end).unwrap_or_default() {
                // SAFETY: we hold the lock (I2).
                queues.watched |= unsafe { bucket.any(|head| signal_behind_overdue(head, batch)) };
            }
            mutant!("pass-bucket" => return (end < queues.buckets.len()).then_some(end + 1));
            (end < queues.buckets.len()).then_some(end)
        })
    }

    /// Whether the next pass has to check this shard.
    pub(crate) fn is_watched(&mut self) -> bool {
        self.with(|queues, _| queues.watched)
    }
}

/// Signals a task or thread that is not signalled yet: takes its wake.
///
/// # Safety
/// The node is queued under a lock that the caller holds (I2).
unsafe fn signal(node: NonNull<Waiter>) -> Option<Wake> {
    // SAFETY: its links belong to the caller's lock (I2), and a node in a queue is alive (I1).
    unsafe {
        let wake = with(node, |links| links.wake.take_task())?;
        node.as_ref().change_queued(SIGNALLED);
        Some(wake)
    }
}

/// Checks the queue of `head` in a pass, without those that let others pass: signalled waiters at the front become overdue; if all of them
/// already were, the next waiter is signalled, if the batch has room. A head that requests a signal gets it even if it is alone, since acquirers outside the queue may be
/// trying. Returns whether a waiter is queued behind them.
///
/// # Safety
/// As [`signal`].
unsafe fn signal_behind_overdue(head: NonNull<Waiter>, batch: &mut WakeBatch) -> bool {
    // An agent's wait cannot be signalled: a task behind agents alone is not behind a signalled waiter.
    let (mut is_behind, mut all_overdue) = (false, true);
    // SAFETY: the queue belongs to the caller's lock (I2).
    let first_waiting = unsafe {
        find_in(head, |node| {
            match node.as_ref().state() {
                PASSED => return None,
                SKIPPED => {}
                OVERDUE => node.as_ref().change_queued(SKIPPED),
                SIGNALLED => {
                    node.as_ref().change_queued(OVERDUE);
                    all_overdue = false;
                }
                _ => return with(node, |links| links.wake.is_task()).then_some(node),
            }
            is_behind = true;
            None
        })
    };
    let Some(waiting) = first_waiting else { return false };
    // SAFETY: as for the rest of the queue (I2).
    let (requests, is_alone) =
        unsafe { (waiting.as_ref().state() == SIGNAL_REQUESTED, next(waiting) == waiting) };
    if !is_behind && !requests {
        return false;
    }
    mutant!("watchdog-signal" => return !is_alone);
    if all_overdue && !batch.is_full() {
        // SAFETY: as for the rest of the queue (I2).
        unsafe { signal(waiting) }.into_iter().for_each(|wake| batch.push(wake));
    }
    !is_alone
}

/// What `choose` returns for the first waiter in the queue of `head` that it accepts.
///
/// # Safety
/// The queue belongs to a lock that the caller holds (I2); `choose` links and unlinks nothing.
unsafe fn find_in<R>(
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
