//! The order in which locks are acquired: potential deadlocks, from a run in which none happened.
//!
//! ```text
//!   thread "alpha"                thread "beta", later
//!   ──────────────────────────    ──────────────────────────
//!   lock A                        lock B
//!     lock B: the edge A → B        lock A: the edge B → A
//! ```
//! If both had run at the same time, each could have waited for the other. So each acquisition makes an edge from every lock that its actor
//! holds to the one that it acquired, and a cycle of edges is a potential deadlock.
//!
//! # From steps, not from a trace
//! A trace keeps the youngest 4,096 events of a thread, but the two orders may be an hour apart. Edges are few, however long the program
//! runs: there is one per pair of places in the source and pair of locks. So each step is followed as it happens ([`follow`]), and only the
//! edges are kept. That takes a process-wide lock, which is acceptable in tests. While the check is off, it costs nothing.
//!
//! # What is not reported
//! A cycle is a potential deadlock only if all its edges can exist at the same moment:
//! - Each edge needs an **actor of its own**. One actor that uses both orders cannot wait for itself. If other actors run the same code, they
//!   make the edges, too.
//! - No two actors hold a common third lock (a **gate**), unless both read it. An edge has all locks that its actor held.
//! - At each lock, the access that one actor holds excludes what the other wants. **Readers** do not exclude each other. (That a writer may
//!   be queued between them is not considered.)
//! - An acquirer that **gives up** (`try_`, `_for`, `_until`) makes no edge to the lock that it acquired, because its wait ends by itself.
//!   Linux's lockdep treats trylocks alike. Edges from that lock are made as usual.
//! - After a drop, after a holder that never released it, or if the kind has changed, the lock at an address is another one. The edges of a
//!   lock are removed with it; findings stay.
//! - Edges count once their lock was released **by the actor that acquired it**, so a guard that was sent away makes none. For a task that
//!   is known only by its waker this cannot be checked; `identify` gives it a number.
//! - A lock that was **held when the check began** may be a gate, and its acquisition was not seen. So if a thread older than the check made
//!   an edge, each lock that other actors hold and that was first seen after the edge was made counts as a gate. If the thread makes the edge
//!   again, only locks first seen after that count.
//!
//! # More than mutexes
//! | | |
//! |---|---|
//! | a cell, while its initialiser runs | held by the actor that runs it. An edge leads to the cell from the locks of an actor that waits for the value, and from those of the next initialiser after one that failed. If the value exists, one load finds it, which is not followed |
//! | an upgrade | an edge to the lock from all other locks of its holder. It waits for readers, and not for other upgrades, which are excluded |
//! | an `AsyncLock` | as a mutex. A release by a script is not followed, and such a hold does not count. The end of the lock's memory is not followed either: another `AsyncLock` at the address counts as the same lock |
//! | a semaphore | makes no edges, not even with one permit. Any actor may add a permit, or give back one that it has not acquired, so an acquirer does not wait for the holders |

mod graph;
mod holds;

use std::fmt;
use std::task::Waker;

use serde::{Deserialize, Serialize};
use waitword_core::observe::{Site, WaitsFor};

pub(crate) use graph::Acquirer;
pub(crate) use holds::{follow, start, stop};

use crate::finding::{Finding, PotentialDeadlock};
use crate::record::{thread_number, unrecorded};
use crate::tasks;

/// This thread, or the task with this waker, waits without a deadline for something that it does not hold afterwards.
pub(crate) fn awaited(word: usize, waits_for: WaitsFor, site: &'static Site, task: Option<&Waker>) {
    let by = acquirer(match task {
        Some(task) => Acquirer::Task(task.data().addr()),
        None => Acquirer::Thread(thread_number()),
    });
    follow(|order| order.awaited(word, waits_for, site, by));
}

/// The actor that runs on this thread: the task that `identify` numbers, or `otherwise`.
pub(crate) fn acquirer(otherwise: Acquirer) -> Acquirer {
    tasks::of_this_thread().map_or(otherwise, Acquirer::Identified)
}

/// Returns the potential deadlocks since [`check_lock_order`](crate::check_lock_order).
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
    LockOrder { potential_deadlocks, left_out: lost + unrecorded() }
}

/// The result of [`lock_order`].
///
/// Its [`Display`](fmt::Display) is for a terminal of 100 columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LockOrder {
    /// The potential deadlocks, the first found first. Each set of places in the source is listed once, however many locks are acquired
    /// there. At most 64.
    pub potential_deadlocks: Vec<PotentialDeadlock>,
    /// How many checks of the order were left out (of an acquisition, of a pair of locks or of a cycle) because a limit was reached. 0: nothing was missed.
    pub left_out: u64,
}

impl fmt::Display for LockOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.potential_deadlocks.is_empty() {
            writeln!(f, "no potential deadlock was found in the lock order")?;
        }
        for found in &self.potential_deadlocks {
            writeln!(f, "{}", Finding::PotentialDeadlock(found.clone()))?;
        }
        match self.left_out {
            0 => Ok(()),
            1 => writeln!(f, "1 check of the order was left out because a limit was reached"),
            count => writeln!(f, "{count} checks of the order were left out because a limit was reached"),
        }
    }
}

/// The potential deadlocks as findings, if the order is checked.
pub(crate) fn findings() -> impl Iterator<Item = Finding> {
    holds::found().0.into_iter().map(Finding::PotentialDeadlock)
}

/// Asserts that no two threads or tasks of this process acquired locks in opposite orders since
/// [`check_lock_order`](crate::check_lock_order). For the end of a test.
///
/// # Panics
/// If there are potential deadlocks, with all of them in the message, as [`lock_order`] prints them; or if the lock order is not checked.
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
    assert!(holds::is_on(), "the lock order is not checked: call `check_lock_order` first");
    let order = lock_order();
    assert!(order.potential_deadlocks.is_empty(), "{order}");
}
