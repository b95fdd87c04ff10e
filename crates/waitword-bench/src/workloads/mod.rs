//! What is measured, one file each; `list.rs` has the order of the report.

mod agent_death;
mod blocking_round_trip;
mod collisions;
mod condvar;
mod deadlines;
mod growth;
mod list;
mod many_words;
mod memory;
mod mutex;
mod not_equal;
mod notify_all_stall;
mod notify_miss;
mod one_word;
mod rw_lock;
mod semaphore;
#[cfg(feature = "observe")]
mod snapshots;
mod task_round_trip;
mod thread_herd;
mod two_threads;
mod uncontended;

pub(crate) use list::{all, names};
