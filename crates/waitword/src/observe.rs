//! Snapshots of all waiters of the process: what each waits for, where, and since when.
//!
//! Blocking threads, async tasks and JavaScript agents are in the same queues, so one snapshot shows all of them. It takes no lock of
//! yours, polls nothing and wakes nobody: it copies the queues, in critical sections of some microseconds.
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
//! An acquisition that does not wait costs nothing. A waiter costs no memory: its site lies in spare bits of its node, and its age is its
//! ticket. With the clock on ([`start_clock`]), each enqueue reads it: 20 to 40 ns for each wait.

use waitword_core::Table;
pub use waitword_core::observe::{Actor, Site, WaiterSeen, WaiterState, WaitsFor, start_clock, stop_clock};

pub use crate::holders::LockType;
use crate::raw_rwlock::RawRwLock;

/// For an observer: what it is told of holders.
pub mod holders {
    pub use crate::holders::{AcquiredByTask, Change, Hold, HoldId, Observer, set_observer};
}

/// All waiters of the process: of all locks of this crate, and of waits on words. See [`Table::snapshot`], which also shows those
/// of a table of your own.
///
/// An upgrade of an `RwLock` waits on a word of its own, in no queue: [`lock_of`] says for which lock.
pub fn snapshot() -> Vec<WaiterSeen> {
    Table::global().snapshot()
}

/// The address of the lock that a waiter on `word` waits for: for an upgrade of an `RwLock` that of the lock, otherwise `word` itself.
pub const fn lock_of(word: usize, waits_for: WaitsFor) -> usize {
    match waits_for {
        WaitsFor::Upgrade => RawRwLock::state_of_drain(word),
        _ => word,
    }
}
