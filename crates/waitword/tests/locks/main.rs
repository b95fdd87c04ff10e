//! What is special to one lock, from outside. What holds for all of them is in `tests/laws`.

#[path = "../../../waitword-core/tests/common/alone.rs"]
mod alone;
mod async_lock;
mod barrier;
#[path = "../common/mod.rs"]
mod common;
mod condvar;
mod event;
mod execute_locked;
mod foreign_panics;
mod guards;
mod mutex;
mod once;
#[path = "../common/rows.rs"]
mod rows;
mod rwlock;
mod semaphore;
mod wait_group;
