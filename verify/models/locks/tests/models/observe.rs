//! The records and the ring of an observer, which builds them on the atomics of the queue: sources of `waitword-observe`, built once more.

#![allow(dead_code, reason = "the models call a part")]

#[path = "../../../../../crates/waitword-observe/src/record/record.rs"]
pub(crate) mod record;
#[path = "../../../../../crates/waitword-observe/src/record/records.rs"]
pub(crate) mod records;
#[path = "../../../../../crates/waitword-observe/src/record/ring.rs"]
pub(crate) mod ring;
