//! Waits that no notify ends.

use std::thread;

use waitword::{Condvar, Event, Mutex};
use waitword_observe::Report;

use crate::harness::{expect, leak, spawn, until_waiting};

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
