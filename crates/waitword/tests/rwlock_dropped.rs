//! See `common/dropped.rs`. Readers and upgrades have more in `rwlock_drops.rs`.

mod common;

use common::dropped;
use waitword::RwLock;

#[test]
fn no_schedule_of_polls_and_drops_loses_a_wakeup() {
    dropped::no_schedule_of_polls_and_drops_loses_a_wakeup::<RwLock<()>>();
}

#[test]
fn a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock() {
    dropped::a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock::<RwLock<()>>();
}
