//! A shard across a fork (`sync/fork.rs`). The thread that forks holds its lock, so that no other thread is in a critical section. In the
//! child the shard keeps the waiters of that thread and forgets all others, because these lie on stacks that the child reuses, or belong to
//! tasks that no thread runs.
//!
//! ```text
//!   queued in the parent                                in the child
//!   ────────────────────────────────────────────────    ────────────────────────────────────────────────────
//!   by the forking thread                               queued in the same order, on the same words
//!   the same, detached by another thread's notify       queued: that notify counts nobody here
//!   detached by a notify of the forking thread          detached: that notify continues
//!   by another thread, wherever                         `GONE`, or idle if it is an agent's: in no list
//! ```
//! What another thread was about to do with a waiter is never done in the child. So the first waiter of each word requests a signal
//! (`watchdog.rs`), because a lock may have been released without the signal that would have followed. A waiter whose wake another thread
//! was about to call is not woken; its next poll finds the outcome or the signal.
//!
//! All memory that is linked is as it was at the fork, because no thread of the child has started yet.

use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::LocalKey;

use super::node::{self, GONE, QUEUED, REQUESTED, Waiter, next, node_of, with};
use super::shard::{DISABLED, IDLE, PASSES, Queues, SNAPSHOTS, Shard, TODO};
use crate::list::{self, unlink};
use crate::observe::{PASS, set_extra};
use crate::park::register_threads;
use crate::sync::Mutex;
use crate::sync::by_address::ByAddress;
use crate::sync::fork::{AtFork, Slot, at_fork};
use crate::timer::register_timer;
use crate::wake::Wake;

/// The shards of all tables, by address. Taken before the locks of the shards.
static TABLES: Mutex<ByAddress<Known>> = Mutex::new(ByAddress::new());

struct Known(NonNull<[Shard]>);

// SAFETY: a pointer to what is shared between threads (S1 in `table.rs`).
unsafe impl Send for Known {}

/// From now on, a fork locks these.
pub(super) fn enter(shards: NonNull<[Shard]>) {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    // All that a wait needs, before the first one: a fork may be under way later.
    register_threads();
    register_timer();
    at_fork::<Held>(&IS_REGISTERED);
    TABLES.lock().insert(shards.addr().get(), Known(shards));
}

/// These are about to be freed.
pub(super) fn leave(shards: NonNull<[Shard]>) {
    TABLES.lock().remove(shards.addr().get());
}

/// All of them, locked. Dropped in this order.
struct Held {
    shards: Vec<Forking>,
    _tables: MutexGuard<'static, ByAddress<Known>>,
    _snapshots: MutexGuard<'static, ()>,
}

thread_local!(static HELD: Slot<Held> = const { Slot::new(None) });

impl AtFork for Held {
    fn hold() -> Self {
        // Before the shards, which a snapshot locks.
        let snapshots = SNAPSHOTS.lock();
        let tables = TABLES.lock();
        let mut shards = Vec::new();
        // In the order of their addresses, as everywhere that two shards are locked (`requeue.rs`).
        for known in tables.values() {
            // SAFETY: entered, so not freed before it leaves (S1), which takes the lock that is held as long as these are.
            let all: &'static [Shard] = unsafe { known.0.as_ref() };
            shards.extend(all.iter().map(Forking::hold));
        }
        Self { shards, _tables: tables, _snapshots: snapshots }
    }

    fn in_child(&mut self) {
        let mut kept = false;
        for shard in &mut self.shards {
            kept |= shard.keep_own();
        }
        // A pass that another thread was making or setting up is over. A new one is due if this thread has waiters here.
        if PASSES.load(Ordering::SeqCst) != DISABLED {
            set_extra(PASS, kept);
            PASSES.store(IDLE, Ordering::SeqCst);
        }
    }

    fn slot() -> &'static LocalKey<Slot<Self>> {
        &HELD
    }
}

/// A shard whose lock is held by a thread that forks. Dropping it releases the lock.
pub(crate) struct Forking {
    shard: &'static Shard,
    /// Held too, because a thread that sleeps until the shard's lock is free may not exist in the child.
    sleepers: Option<MutexGuard<'static, ()>>,
}

impl Forking {
    /// Takes the lock.
    pub(crate) fn hold(shard: &'static Shard) -> Self {
        shard.lock.lock();
        Self { shard, sleepers: Some(shard.lock.hold_sleepers()) }
    }

    /// In the child: forgets the waiters of other threads. Returns whether any waiter is left.
    pub(crate) fn keep_own(&mut self) -> bool {
        // SAFETY: we hold the lock (I2), and there is no other thread.
        self.shard.queues.with_mut(|queues| unsafe { (*queues).keep_own() })
    }
}

impl Drop for Forking {
    fn drop(&mut self) {
        self.sleepers = None;
        // What is to be done is left to the next section.
        // SAFETY: we hold the lock (I2).
        let state = self.shard.queues.with_mut(|queues| unsafe { (*queues).state });
        self.shard.lock.unlock(state & !TODO);
    }
}

impl Queues {
    /// # Safety
    /// The caller holds the lock (I2), in a process without another thread.
    unsafe fn keep_own(&mut self) -> bool {
        let mut queues = None;
        for bucket in &mut self.buckets {
            // SAFETY: the caller holds the lock.
            unsafe {
                while let Some((_, head)) = bucket.take_queue() {
                    with(head, |links| links.sibling = queues);
                    queues = Some(head);
                }
            }
        }
        self.forget_words();
        // SAFETY: all of these are linked under the lock that the caller holds (I2). A node is appended or forgotten once it has been passed,
        // and what is behind it was read before.
        unsafe {
            while let Some(head) = queues {
                queues = with(head, |links| links.sibling.take());
                let mut node = head;
                loop {
                    let behind = next(node);
                    if node.as_ref().owner.is_here() {
                        self.keep(node);
                    } else {
                        forget(node);
                    }
                    if behind == head {
                        break;
                    }
                    node = behind;
                }
            }
            self.keep_own_detached();
        }
        self.watched = self.words > 0;
        self.watched || self.detached.is_some()
    }

    /// # Safety
    /// As [`keep_own`](Self::keep_own).
    unsafe fn keep_own_detached(&mut self) {
        let mut lists = self.detached.take();
        while let Some(detached) = lists {
            // SAFETY: a list that is not completed yet is alive where it was pinned, and belongs to the lock that the caller holds (I2);
            // what is in it, too.
            unsafe {
                let notify = Pin::new_unchecked(detached.as_ref());
                lists = notify.next.get();
                let continues = notify.owner.is_here();
                if continues {
                    notify.next.set(self.detached.replace(detached));
                }
                let anchor = notify.list().anchor();
                let mut member = list::next(anchor);
                while member != anchor {
                    let (node, behind) = (node_of(member), list::next(member));
                    if !node.as_ref().owner.is_here() {
                        unlink(member);
                        forget(node);
                    } else if !continues {
                        self.keep(node);
                    }
                    member = behind;
                }
            }
        }
    }

    /// Puts a waiter of this thread back at the tail of the queue of its word.
    ///
    /// # Safety
    /// As [`keep_own`](Self::keep_own); and no list that is still used links to the node.
    unsafe fn keep(&mut self, node: NonNull<Waiter>) {
        // SAFETY: alive (I1), and the caller's.
        unsafe {
            self.append(node.as_ref().key(), node);
            let is_task = with(node, |links| links.wake.is_task());
            if node.as_ref().was_first() && node.as_ref().state() == QUEUED && is_task {
                node.as_ref().change_queued(REQUESTED);
            }
        }
    }
}

/// # Safety
/// The node is alive and in no list that is used any more.
unsafe fn forget(node: NonNull<Waiter>) {
    // SAFETY: as the caller guarantees. Its wake stays: to drop it would run foreign code.
    unsafe {
        let is_agent = with(node, |links| matches!(links.wake, Wake::Agent(_)));
        node.as_ref().set_state(if is_agent { node::IDLE } else { GONE });
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use super::*;

    /// In the child no thread would release it, and the next thread that has to sleep for the shard's lock would sleep for ever.
    #[test]
    fn no_other_thread_has_the_lock_of_the_sleepers_at_a_fork() {
        let shard: &Shard = Box::leak(Box::new(Shard::new(None)));
        let forking = Forking::hold(shard);
        let (takes, taken) = channel();
        let sleeper = std::thread::spawn(move || {
            let _sleepers = shard.lock.hold_sleepers();
            takes.send(()).unwrap();
        });
        assert_eq!(taken.recv_timeout(Duration::from_millis(30)), Err(RecvTimeoutError::Timeout));
        drop(forking);
        taken.recv().unwrap();
        sleeper.join().unwrap();
    }
}
