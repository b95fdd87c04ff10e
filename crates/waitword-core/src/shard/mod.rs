//! A shard: one lock, and the queues of the words that hash to it.

mod bucket;
mod copy;
mod guard;
mod hash;
mod lock;
mod place;
mod queues;
mod stalled;

pub(crate) use copy::{Copying, Next, STAY};
pub(crate) use guard::{Locked, Shard, Unlocked};
#[cfg(waitword_loom)]
pub(crate) use hash::model_addresses;
pub(crate) use hash::{Hasher, Key};
#[cfg(test)]
pub(crate) use lock::bit;
