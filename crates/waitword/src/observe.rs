//! Snapshots of all waiters of the process: what each waits for, where, and since when.
//!
//! Blocking threads, async tasks and JavaScript agents are in the same queues, so one snapshot shows all of them. It acquires no lock of the
//! program, polls nothing and wakes nobody: it copies the queues, in critical sections of a few microseconds.
//!
//! ```
//! use std::thread;
//! use waitword::Mutex;
//! use waitword::observe::{self, Actor, WaiterSeen, WaitsFor};
//!
//! static ACCOUNTS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
//!
//! let is_audit = |seen: &WaiterSeen| matches!(&seen.actor, Actor::Thread(thread) if thread.name() == Some("audit"));
//! let guard = ACCOUNTS.lock();
//! thread::scope(|scope| {
//!     thread::Builder::new().name("audit".into()).spawn_scoped(scope, || ACCOUNTS.lock().push(1)).unwrap();
//!     let waiter = loop {
//!         match observe::snapshot().into_iter().find(is_audit) {
//!             Some(waiter) => break waiter,
//!             None => thread::yield_now(),
//!         }
//!     };
//!     assert_eq!(waiter.waits_for, WaitsFor::Mutex);
//!     println!("waits at {}", waiter.site.unwrap());
//!     drop(guard);
//! });
//! ```
//!
//! # Cost
//! An acquisition that does not wait costs nothing. A waiter costs no additional memory: its site is stored in spare bits of its node, and its
//! age follows from its ticket, the number with which it was enqueued. While the clock is on ([`start_clock`]), each enqueue reads it: 20
//! to 40 ns per wait.

use waitword_core::Table;
pub use waitword_core::observe::{Actor, Site, WaiterSeen, WaiterState, WaitsFor, start_clock, stop_clock};

pub use crate::holders::LockType;
use crate::raw_rwlock::RawRwLock;

/// For an observer: the events of holders.
pub mod holders {
    pub use crate::holders::{AcquiredByTask, Change, Hold, HoldId, Observer, set_observer};
}

/// Returns all waiters of the process: those of the locks of this crate, and of waits on words. For a table of your own, see
/// [`Table::snapshot`].
///
/// An upgrade of an `RwLock` waits on a separate word, not in the lock's queue: [`lock_of`] returns the lock.
pub fn snapshot() -> Vec<WaiterSeen> {
    Table::global().snapshot()
}

/// Returns the address of the lock that a waiter on `word` waits for. It is `word`, except for an upgrade of an `RwLock`, which
/// waits on a separate word.
pub const fn lock_of(word: usize, waits_for: WaitsFor) -> usize {
    match waits_for {
        WaitsFor::Upgrade => RawRwLock::state_of_drain(word),
        _ => word,
    }
}
