//! A shard: one lock, and the queues of the words that hash to it.

mod ahead;
mod bucket;
#[cfg(feature = "observe")]
mod charge;
mod copy;
mod guard;
mod hash;
mod lock;
#[cfg(any(waitword_loom, waitword_shuttle))]
pub(crate) mod model_addresses;
mod occupancy;
mod place;
mod queues;
mod resize;
mod stalled;

#[cfg(feature = "observe")]
pub(crate) use charge::Crowd;
pub(crate) use copy::{Copying, Next, STAY};
pub(crate) use guard::{Locked, Shard, Unlocked};
pub(crate) use hash::{Hasher, Key};
#[cfg(test)]
pub(crate) use occupancy::bit;
