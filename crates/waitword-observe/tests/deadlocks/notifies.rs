//! Waits that no notify ends.

use std::thread;

use waitword::{Condvar, Event, Mutex};
use waitword_observe::Report;

use crate::harness::{expect, has_cycle, leak, spawn, until_waiting};

/// A notify comes before the wait, and another object is never notified.
pub(crate) fn lost_notify() -> fn(&Report) -> bool {
    static LOADED: Event = Event::new();
    let (queue, changed) = (leak(Mutex::new(0)), leak(Condvar::new()));
    let producer = thread::Builder::new().name("producer".into());
    let producer = producer.spawn(move || {
        *queue.lock() += 1;
        changed.notify_one(); // notifies
    });
    producer.unwrap().join().unwrap();
    spawn("worker", move || {
        changed.wait(&mut queue.lock()); // waits for work
    });
    spawn("loader", move || {
        until_waiting("worker");
        LOADED.wait(); // waits to be loaded
    });
    |report| report.findings.len() == 2
}

#[test]
fn a_notify_that_found_nobody_and_one_that_never_came() {
    expect(
        "notify",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        Event at #: 1 waits, longest # (<waits to be loaded>);
          nobody has notified it since observation began, # ago
        Condvar at #: 1 waits, longest # (<waits for work>);
          last notified by thread "producer" at <notifies>, # ago, found nobody
        Condvar at #: 1 waiter
          # last notified by thread "producer" at <notifies>, found nobody
          # thread "worker" <waits for work>
        Event at #: 1 waiter
          # thread "loader" <waits to be loaded>"#,
    );
}

/// A waiter that was notified waits for its mutex. Who holds that waits for what the waiter kept.
pub(crate) fn notified_waits_for_the_mutex() -> fn(&Report) -> bool {
    let (queue, changed, cache) = (leak(Mutex::new(0)), leak(Condvar::new()), leak(Mutex::new('a')));
    spawn("worker", move || {
        let _cache = cache.lock(); // worker keeps the cache
        let mut queue = queue.lock();
        changed.wait(&mut queue); // worker waits for work
    });
    spawn("producer", move || {
        until_waiting("worker");
        let _queue = queue.lock(); // producer took the queue
        assert_eq!(changed.notify_one(), 1);
        let _cache = cache.lock(); // producer waits for the cache
    });
    has_cycle
}

#[test]
fn a_waiter_that_was_notified_waits_for_the_holder_of_its_mutex() {
    expect(
        "notified",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "producer" waits # for Mutex<char> at <producer waits for the cache>
                         holds # Mutex<i32>, taken at <producer took the queue>
          thread "worker" waits # for Mutex<i32> at <worker waits for work>
                         holds # Mutex<char>, taken at <worker keeps the cache>
        Mutex<i32> at #: 1 waiter
          # held by thread "producer", taken at <producer took the queue>
          # thread "worker" <worker waits for work>
        Mutex<char> at #: 1 waiter
          # held by thread "worker", taken at <worker keeps the cache>
          # thread "producer" <producer waits for the cache>"#,
    );
}
