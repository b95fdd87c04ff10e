//! Snapshots beside waiters that come, go and are notified: one that is queued all the time is seen exactly once.

use std::collections::BTreeMap;
use std::pin::Pin;

use loom::sync::atomic::AtomicI32;
use waitword_core::observe::{Origin, WaitsFor};
use waitword_core::*;

use super::{Shared, leave, model, poll, spawn};

const FIRST: WaitsFor = WaitsFor::Read;
const SECOND: WaitsFor = WaitsFor::Write;
const STAYS: WaitsFor = WaitsFor::Mutex;

impl Shared {
    /// A wait that is queued, and that a snapshot knows again.
    fn queued_as(&self, kind: WaitsFor, word: usize) -> Pin<Box<WaitAsync<At<'_, AtomicI32>>>> {
        let mut wait = Box::pin(wait_async_from(Origin::here(kind), self.at(word), 0));
        assert!(poll(wait.as_mut()).is_pending());
        wait
    }
}

/// Checks what a snapshot saw. Notifiers and leavers take the lock between its stays.
fn check(table: &Table) {
    let mut times = BTreeMap::new();
    table.snapshot().iter().for_each(|seen| *times.entry(format!("{:?}", seen.waits_for)).or_insert(0) += 1);
    assert_eq!(times.get(&format!("{STAYS:?}")), Some(&1), "{times:?}");
    assert!(times.values().all(|&times| times == 1), "{times:?}");
}

model!(a_waiter_behind_those_that_are_notified, |shared| {
    let _first = shared.queued_as(FIRST, 0);
    let _second = shared.queued_as(SECOND, 0);
    let _stays = shared.queued_as(STAYS, 0);
    let notifier = spawn(shared, |shared| notify_many(shared.at(0), 2));
    check(&shared.table);
    assert_eq!(notifier.join().unwrap(), 2);
});

model!(a_waiter_on_a_word_beside_one_that_all_leave, |shared| {
    let _first = shared.queued_as(FIRST, 0);
    let _second = shared.queued_as(SECOND, 0);
    let _stays = shared.queued_as(STAYS, 1);
    let notifier = spawn(shared, |shared| notify_all(shared.at(0)));
    check(&shared.table);
    assert_eq!(notifier.join().unwrap(), 2);
});

model!(a_waiter_behind_one_that_leaves, |shared| {
    let _first = shared.queued_as(FIRST, 0);
    let _second = shared.queued_as(SECOND, 0);
    let _stays = shared.queued_as(STAYS, 0);
    let snapshot = spawn(shared, |shared| check(&shared.table));
    // The head, and then the one behind it: the snapshot may be about to copy either.
    notify_one(shared.at(0));
    notify_one(shared.at(0));
    snapshot.join().unwrap();
});

model!(a_waiter_whose_queue_moves_to_another_bucket, |shared| {
    let _stays = shared.queued_as(STAYS, 0);
    let _stays_too = shared.queued_as(WaitsFor::Semaphore, 0);
    let others = spawn(shared, |shared| {
        // The second word is one more than there are buckets.
        let first = shared.queued_as(FIRST, 1);
        let second = shared.queued_as(SECOND, 2);
        (leave(first), leave(second))
    });
    check(&shared.table);
    assert_eq!(others.join().unwrap(), (false, false));
});
