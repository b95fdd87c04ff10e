//! Who is called and stays in line, and the sweeps that call those behind it if it does not look (`call.rs`).
//!
//! A shard is *watched* if a sweep may find something to do there. It is watched too much rather than too little: whoever
//! puts somebody behind one who was called sets the mark, and only a sweep that has found nobody takes it back.

use std::pin::Pin;
use std::ptr::NonNull;

use super::Locked;
use crate::sync::broken;
use crate::table::Key;
use crate::waiter::{ASKING, CALLED, OVERDUE, PASSED, QUEUED, Waiter, with};
use crate::wake::{Wake, WakeBatch};

/// So many buckets are swept in one stay under the lock.
const BUCKETS_AT_A_TIME: usize = 16;

impl Locked<'_> {
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

    /// The next sweep is to call `node`, if it is queued and was not called anyway, and if somebody stands behind it by then.
    pub(crate) fn ask(&mut self, key: Key, node: Pin<&Waiter>) {
        if node.state() == QUEUED && self.is_queued(key, node) {
            node.set_state(ASKING);
            let len = self.len(key);
            self.with(|queues, end| queues.watch(len > 1, end));
        }
    }

    /// Somebody stands behind one who was called, as was found in an earlier stay.
    pub(crate) fn watch_too(&mut self, watch: bool) {
        self.end.watch |= watch;
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
