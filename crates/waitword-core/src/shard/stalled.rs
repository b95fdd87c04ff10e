//! Waiters that are woken and stay in their queue: signalled ones (`notify/signal.rs`), and those that are woken ahead of their signal
//! (`notify/requeue.rs`); and the pass of the watchdog over those that do not respond (`table/watchdog.rs`).
//!
//! A shard is *watched* if a pass may find something to do there. It is watched too often rather than too seldom: enqueuing
//! behind a signalled waiter sets the mark, and only a pass that has found no such waiter clears it.

use std::pin::Pin;
use std::ptr::NonNull;

use super::Locked;
use super::hash::Key;
use crate::sync::mutant;
use crate::waiter::node::{OVERDUE, QUEUED, SIGNAL_REQUESTED, SIGNALLED, SKIPPED, Waiter, next, with};
use crate::waiter::wake::{Wake, WakeBatch};

/// How many buckets a pass checks in one stay under the lock.
const BUCKETS_AT_A_TIME: usize = 16;

/// How many are woken at once.
const AHEAD: usize = 2;

/// How many waiters are looked at for them: those at the front were woken before, and are about to leave.
const LOOKED_AT: usize = 32;

impl Locked<'_> {
    /// Signals the first waiter in the queue of `key` that is not signalled yet and is no agent's: takes its wake, and leaves
    /// it where it is. Returns how many are in the queue, too.
    pub(crate) fn signal_first(&mut self, key: Key) -> Option<(Wake, usize)> {
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, changes| unsafe {
            let head = queues.bucket(key).find(key.address)?;
            let len = with(head, |links| links.len) as usize;
            let wake = find_in(head, |node| signal(node))?;
            mutant!("watch-signal" => return Some((wake, len)));
            queues.watch(len > 1, changes);
            Some((wake, len))
        })
    }

    /// What wakes the first threads in the queue of `key` that were moved there in a crowd (`notify/requeue.rs`), are not signalled (a signal
    /// takes the waker), and were not returned here before. They stay queued.
    pub(crate) fn ahead(&mut self, key: Key) -> [Option<Wake>; AHEAD] {
        let mut wakes = [const { None }; AHEAD];
        let (mut found, mut looked_at) = (0, 0);
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, _| unsafe {
            let Some(head) = queues.bucket(key).find(key.address) else { return };
            let _ = find_in(head, |node| {
                looked_at += 1;
                if node.as_ref().is_in_crowd()
                    && let Some(wake) = with(node, |links| links.wake.another_of_thread())
                {
                    node.as_ref().leave_crowd();
                    wakes[found] = Some(wake);
                    found += 1;
                }
                (found == AHEAD || looked_at == LOOKED_AT).then_some(())
            });
        });
        wakes
    }

    /// Whether all waiters in the queue of `key` have been skipped, if there are any. If not, the next pass checks them, as
    /// if another waiter were queued behind them.
    pub(crate) fn is_stalled(&mut self, key: Key) -> bool {
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, changes| unsafe {
            let Some(head) = queues.bucket(key).find(key.address) else { return true };
            let may_respond =
                find_in(head, |node| (node.as_ref().state() != SKIPPED).then_some(())).is_some();
            queues.watch(may_respond, changes);
            !may_respond
        })
    }

    /// Has the next pass signal `node`, if it is queued and not signalled anyway, and if a waiter is queued behind it by then.
    pub(crate) fn request_signal(&mut self, key: Key, node: Pin<&Waiter>) {
        if node.state() == QUEUED && self.is_queued(key, node) {
            node.change_queued(SIGNAL_REQUESTED);
            let len = self.len(key);
            self.with(|queues, changes| queues.watch(len > 1, changes));
        }
    }

    /// One stay of a pass, at the buckets from `first` on. Returns the one to go on with.
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

/// Takes the wake of a task or thread that is not signalled yet, which it is then.
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

/// Looks at the queue of `head` in a pass: signalled waiters at the front become overdue; if all of them were, the next one
/// is signalled, if the batch has room. The head is signalled if it requests that, even alone, since others may be trying
/// without being queued. Returns whether a waiter is queued behind them.
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

/// The first in the queue of `head` that `choose` chooses.
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
