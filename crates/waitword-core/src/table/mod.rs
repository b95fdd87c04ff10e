//! From a word to the shard that holds its waiters, and what every kind of wait needs there: compare and enqueue in one
//! step, the work after the lock, and the watchdog of waiters that do not respond.

mod enqueue;
mod location;
mod shards;
mod snapshot;
#[cfg(test)]
mod tests;
mod watchdog;

pub(crate) use enqueue::{FollowUp, enqueue_while_equal, lock_if_equal, release, unlock};
pub(crate) use location::address;
pub use location::{At, Location};
pub use shards::Table;
pub use snapshot::{charge_release, count_threads};
pub use watchdog::STALL_TIMEOUT;
#[cfg(not(waitword_loom))]
pub use watchdog::{disable_watchdog, is_watchdog_running};
