//! Threads that wait for each other.

use std::thread;
use std::time::Duration;

use waitword::{Condvar, Event, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard};
use waitword_observe::{Lock, name, snapshot};

use crate::common::{address_of, leak, until, until_waiting};
use crate::{cross, expect, has_cycle, meet, named, spawn};

#[test]
fn a_lock_taken_twice() {
    expect(
        || {
            let mutex = named((), "once");
            spawn("main", move || {
                let _guard = mutex.lock(); // took once
                let _guard = mutex.lock(); // took twice
            });
            has_cycle
        },
        r#"… 1 waiter at 1 lock
        deadlock: 1 member, since #
          thread "main" waits # for Mutex<()> "once" at <took twice>
                        holds # Mutex<()> "once", taken at <took once>"#,
    );
}

#[test]
fn two_locks_of_one_type_are_told_apart_by_their_addresses() {
    expect(
        || {
            let (one, other) = (leak(Mutex::new(0_u8)), leak(Mutex::new(0_u8)));
            cross(
                || one.lock(),   // alpha took one
                || other.lock(), // alpha waits for other
                || other.lock(), // beta took other
                || one.lock(),   // beta waits for one
            )
        },
        r#"… 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "beta" waits # for Mutex<u8> at # at <beta waits for one>
                        holds # Mutex<u8> at #, taken at <beta took other>
          thread "alpha" waits # for Mutex<u8> at # at <alpha waits for other>
                         holds # Mutex<u8> at #, taken at <alpha took one>"#,
    );
}

mod db {
    pub(super) struct Pool;
}

/// Also of a cell whose value one makes while the other needs it.
#[test]
fn types_are_said_that_nobody_named() {
    let json = expect(
        || {
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
        },
        r#"3 waiters at 3 locks
        deadlock: 2 members, since #
          thread "beta" waits # for RwLock<Vec<db::Pool>> at <beta writes>
                        holds # OnceLock<db::Pool>, taken at <beta makes>
          thread "alpha" waits # for OnceLock<db::Pool> at <alpha needs>
                         holds # RwLock<Vec<db::Pool>>, taken at <alpha reads>
        OnceLock<db::Pool> at #: 1 waiter
          # held by thread "beta", taken at <beta makes>
          # thread "alpha" <alpha needs>
        RwLock<Vec<db::Pool>> at #: 1 waiter
          # held by thread "alpha", taken at <alpha reads>
          # thread "beta" <beta writes>, to write
        Mutex<db::Pool> at #: 1 waiter
          # held by thread "beta", taken at <beta locks>
          # thread "gamma" <gamma waits>"#,
    );
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
    expect(
        || {
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
        },
        r#"2 waiters at 1 lock
        deadlock: thread "r" waits # for a read of RwLock<i32> "routes" at <r reads again> behind thread "w" (<w writes>),
          which waits for the read that thread "r" took at <r reads>; use try_read_recursive
        RwLock<i32> "routes" at #: 2 waiters
          # held by thread "r", taken at <r reads>
          # thread "w" <w writes>, to write
          # thread "r" <r reads again>, to read"#,
    );
}

#[test]
fn an_upgrade_behind_a_reader() {
    expect(
        || {
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
        },
        r#"… deadlock: 2 members, since #
          thread "beta" waits # for Mutex<i32> "other" at <beta waits for the other>
                        holds # RwLock<i32> "routes", taken at <beta reads>
          thread "alpha" waits # for RwLock<i32> "routes" at <alpha upgrades>
                         holds # Mutex<i32> "other", taken at <alpha took the other>"#,
    );
}

/// A notify comes before the wait, and another object is never notified.
#[test]
fn a_notify_that_found_nobody_and_one_that_never_came() {
    expect(
        || {
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
        },
        r#"2 waiters at 2 locks
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
#[test]
fn a_waiter_that_was_notified_waits_for_the_holder_of_its_mutex() {
    expect(
        || {
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
        },
        r#"… 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "producer" waits # for Mutex<char> at <producer waits for the cache>
                         holds # Mutex<i32>, taken at <producer took the queue>
          thread "worker" waits # for Mutex<i32> at <worker waits for work>
                         holds # Mutex<char>, taken at <worker keeps the cache>"#,
    );
}
