//! Threads that wait for each other.

use std::thread;
use std::time::Duration;

use waitword::{Condvar, Event, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard};
use waitword_observe::{Lock, name, snapshot};

use crate::common::{address_of, leak, until, until_waiting};
use crate::{cross, expect, has_cycle, meet, named, spawn};

#[test]
fn a_lock_taken_twice() {
    expect(|| {
        let mutex = named((), "once");
        spawn("main", move || {
            let _guard = mutex.lock(); // took once
            let _guard = mutex.lock(); // took twice
        });
        has_cycle
    });
}

#[test]
fn two_locks_of_one_type_are_told_apart_by_their_addresses() {
    expect(|| {
        let (one, other) = (leak(Mutex::new(0_u8)), leak(Mutex::new(0_u8)));
        cross(
            || one.lock(),   // alpha took one
            || other.lock(), // alpha waits for other
            || other.lock(), // beta took other
            || one.lock(),   // beta waits for one
        )
    });
}

mod db {
    pub(super) struct Pool;
}

/// Also of a cell whose value one makes while the other needs it.
#[test]
fn types_are_said_that_nobody_named() {
    let json = expect(|| {
        let pools = leak(RwLock::new(vec![db::Pool]));
        let (pool, cell) = (leak(Mutex::new(db::Pool)), leak(OnceLock::new()));
        let alpha = |meets: &dyn Fn()| {
            let _pools = pools.read(); // alpha reads
            meets();
            cell.get_or_init(|| db::Pool); // alpha needs
        };
        let beta = |meets: &dyn Fn()| {
            let init = || {
                let _pool = pool.lock(); // beta locks
                meets();
                let _pools = pools.write(); // beta writes
                db::Pool
            };
            cell.get_or_init(init); // beta makes
        };
        meet(alpha, beta);
        spawn("gamma", move || {
            until_waiting("beta");
            let _pool = pool.lock(); // gamma waits
        });
        |report| has_cycle(report) && report.snapshot.waiters() == 3
    });
    for name in [
        "Mutex<deadlocks::threads::db::Pool>",
        "RwLock<alloc::vec::Vec<deadlocks::threads::db::Pool>>",
        "OnceLock<deadlocks::threads::db::Pool>",
    ] {
        assert!(json.contains(&format!(r#""type_name":"{name}""#)), "{name} is not in {json}");
    }
}

#[test]
fn a_read_within_a_read_behind_a_writer() {
    expect(|| {
        let routes = leak(RwLock::new(0));
        name(routes, "routes").forever();
        spawn("r", move || {
            let _read = routes.read(); // r reads
            until_waiting("w");
            // Until the barging window closes.
            loop {
                drop(routes.read()); // r reads again
            }
        });
        spawn("w", move || {
            until(|| routes.is_locked());
            *routes.write() = 1; // w writes
        });
        has_cycle
    });
}

#[test]
fn an_upgrade_behind_a_reader() {
    expect(|| {
        let (routes, other) = (leak(RwLock::new(0)), named(0, "other"));
        name(routes, "routes").forever();
        let alpha = |meets: &dyn Fn()| {
            let _other = other.lock(); // alpha took the other
            let read = routes.upgradable_read(); // alpha may upgrade
            meets();
            drop(RwLockUpgradableReadGuard::upgrade(read)); // alpha upgrades
        };
        let beta = |meets: &dyn Fn()| {
            let _read = routes.read(); // beta reads
            meets();
            let _other = other.lock(); // beta waits for the other
        };
        meet(alpha, beta)
    });
}

/// A notify comes before the wait, and another object is never notified.
#[test]
fn a_notify_that_found_nobody_and_one_that_never_came() {
    expect(|| {
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
    });
}

/// A waiter that was notified waits for its mutex. Who holds that waits for what the waiter kept.
#[test]
fn a_waiter_that_was_notified_waits_for_the_holder_of_its_mutex() {
    expect(|| {
        let (queue, changed, cache) = (leak(Mutex::new(0)), leak(Condvar::new()), leak(Mutex::new('a')));
        spawn("worker", move || {
            let _cache = cache.lock(); // worker keeps the cache
            let mut queue = queue.lock();
            let _ = changed.wait_for(&mut queue, Duration::from_secs(1000)); // worker waits for work
        });
        spawn("producer", move || {
            until_waiting("worker");
            let _queue = queue.lock(); // producer took the queue
            assert_eq!(changed.notify_all(), 1);
            let is_of_queue = |lock: &Lock| lock.name.address.0 == address_of(queue);
            until(|| snapshot().locks.iter().any(is_of_queue));
            let _cache = cache.lock(); // producer waits for the cache
        });
        has_cycle
    });
}
