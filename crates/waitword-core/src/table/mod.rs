//! From a word to the shard that holds its waiters, and what every kind of wait needs there: compare and enqueue in one
//! step, the work after the lock, and the watchdog of waiters that do not respond.

mod enqueue;
mod follow_up;
mod location;
mod pair;
mod shards;
mod snapshot;
#[cfg(test)]
mod tests;
mod watchdog;

pub(crate) use enqueue::{enqueue_while_equal, lock_if_equal};
pub(crate) use follow_up::{release, unlock};
pub(crate) use location::address;
pub use location::{At, Location};
pub use shards::Table;
pub use watchdog::STALL_TIMEOUT;
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
pub use watchdog::disable_watchdog;
