//! The order in which locks are taken: potential deadlocks, from a run in which none happened.
//!
//! ```text
//!   thread "alpha"                thread "beta", later
//!   ──────────────────────────    ──────────────────────────
//!   lock A                        lock B
//!     lock B: the edge A → B        lock A: the edge B → A
//! ```
//! Had both run at once, each could have waited for the other. So each acquisition makes an edge from every lock that its actor holds to
//! the one it took, and a circle of edges is a potential deadlock.
//!
//! # From steps, not from a trace
//! A trace keeps the youngest 4,096 events of a thread, and the two orders may be an hour apart. Edges are few, however long the program
//! runs: a pair of places in the source and a pair of locks make one. So each step is followed as it happens ([`follow`]),
//! and the edges alone are kept. It takes a lock of the process for that, which is for tests; off, nothing is left of it.
//!
//! # What makes no alarm
//! A circle is a potential deadlock only if all its edges can stand at one moment:
//! - Each edge needs an **actor of its own**. One actor in both orders cannot wait for itself; if others run the same code, they make the
//!   edges too.
//! - No two actors hold a common third lock (a **gate**), unless both read it. An edge has all that its actor held.
//! - At each lock, what one holds excludes what the other wants. **Readers** do not exclude each other; that a writer may be queued
//!   between them is not considered.
//! - An acquirer that **gives up** (`try_`, `_for`, `_until`) makes no edge to the lock it took: its wait ends by itself. Linux's lockdep
//!   does the same with trylocks. It holds the lock as any other does.
//! - The lock at an address is another one after a drop, after a holder that never released it, or as another kind. Edges go with their
//!   lock; what was found stays.
//! - Edges count once their lock was released **by the actor that took it**, so a guard that was sent away makes none. Of a task that is known by
//!   its waker alone this cannot be checked: `identify` gives it a number.
//! - A lock that was **held when the check began** may be a gate, and nobody saw it taken. So of an edge of a thread that is older than the
//!   check, each lock that others hold and that was seen for the first time after the edge was made counts as a gate. The edge is as
//!   good as new when it is made again.
//!
//! # More than mutexes
//! | | |
//! |---|---|
//! | a cell, while its initialiser runs | held by the one that runs it. An edge leads to it from what one holds that waits for the value, and from what the next initialiser holds after one that failed. A value that is there already is found by one load, which tells nobody |
//! | an upgrade | an edge to the lock from all else that its holder holds; it waits for readers, not for others that upgrade: those are excluded |
//! | an `AsyncLock` | as a mutex. What a script releases has no step: such a hold counts for nothing. The end of its memory has none: another `AsyncLock` in its place counts as the same lock |
//! | a semaphore | makes no edges, with one permit either: another may add one, or give back what it has not acquired, so its holders are not what an acquirer waits for |

mod graph;
mod holds;

use std::fmt;
use std::task::Waker;

use serde::{Deserialize, Serialize};
use waitword_core::observe::{Site, WaitsFor};

pub(crate) use graph::Acquirer;
pub(crate) use holds::{follow, start, stop};

use crate::finding::{Finding, PotentialDeadlock};
use crate::record::{holders, thread_number};
use crate::tasks;

/// Without a deadline, this thread, or the task with this waker, waits for what it will not hold by having it.
pub(crate) fn awaited(word: usize, waits_for: WaitsFor, site: &'static Site, task: Option<&Waker>) {
    let by = acquirer(match task {
        Some(task) => Acquirer::Task(task.data().addr()),
        None => Acquirer::Thread(thread_number()),
    });
    follow(|order| order.awaited(word, waits_for, site, by));
}

/// What runs on this thread: what it is identified as, or the acquirer that is known otherwise.
pub(crate) fn acquirer(otherwise: Acquirer) -> Acquirer {
    tasks::of_this_thread().map_or(otherwise, Acquirer::Identified)
}

/// What has been found since [`check_lock_order`](crate::check_lock_order).
///
/// ```
/// use std::thread;
///
/// use waitword::Mutex;
///
/// static ACCOUNTS: Mutex<u32> = Mutex::new(0);
/// static LEDGER: Mutex<u32> = Mutex::new(0);
///
/// waitword_observe::check_lock_order();
/// let pay = || *ACCOUNTS.lock() += *LEDGER.lock();
/// let audit = || *LEDGER.lock() += *ACCOUNTS.lock();
/// // One after the other, so there is no deadlock. There might have been one.
/// thread::spawn(pay).join().unwrap();
/// thread::spawn(audit).join().unwrap();
///
/// let order = waitword_observe::lock_order();
/// assert_eq!(order.potential_deadlocks.len(), 1);
/// println!("{order}");
/// ```
pub fn lock_order() -> LockOrder {
    let (potential_deadlocks, lost) = holds::found();
    let unrecorded = holders().map_or(0, |holders| holders.unrecorded);
    LockOrder { potential_deadlocks, left_out: lost + unrecorded }
}

/// What is known of the order in which locks were taken.
///
/// Its [`Display`](fmt::Display) is for a terminal of 100 columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LockOrder {
    /// The orders that may lead to a deadlock, in the order in which they were found: each set of places in the source once, however many
    /// locks are taken there. 64 at most.
    pub potential_deadlocks: Vec<PotentialDeadlock>,
    /// How many acquisitions, edges and searches were left out because there was no room. 0: nothing was missed.
    pub left_out: u64,
}

impl fmt::Display for LockOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.potential_deadlocks.is_empty() {
            writeln!(f, "no potential deadlock was found in the order of locks")?;
        }
        for found in &self.potential_deadlocks {
            writeln!(f, "{}", Finding::PotentialDeadlock(found.clone()))?;
        }
        match self.left_out {
            0 => Ok(()),
            1 => writeln!(f, "1 acquisition was left out: there was no room"),
            count => writeln!(f, "{count} acquisitions were left out: there was no room"),
        }
    }
}

/// As findings, if locks are checked.
pub(crate) fn findings() -> impl Iterator<Item = Finding> {
    holds::found().0.into_iter().map(Finding::PotentialDeadlock)
}

/// For the end of a test: that no two actors took locks in opposite orders in this process since [`check_lock_order`](crate::check_lock_order).
///
/// # Panics
/// With all potential deadlocks, as [`lock_order`] prints them; or if the order is not checked.
///
/// ```
/// use waitword::Mutex;
///
/// waitword_observe::check_lock_order();
/// let (accounts, ledger) = (Mutex::new(1), Mutex::new(2));
/// *ledger.lock() += *accounts.lock();
/// waitword_observe::assert_lock_order();
/// ```
#[track_caller]
pub fn assert_lock_order() {
    assert!(holds::is_on(), "the order of locks is not checked: call `check_lock_order` first");
    let order = lock_order();
    assert!(order.potential_deadlocks.is_empty(), "{order}");
}
