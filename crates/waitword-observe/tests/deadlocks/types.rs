//! Locks that nobody has named.

use std::sync::{Arc, Barrier};

use waitword::{Mutex, OnceLock, RwLock};
use waitword_observe::Report;

use crate::harness::{expect, has_cycle, leak, output_of, shown, spawn, until_waiting};

mod db {
    pub(super) struct Pool;
}

/// Nobody has named these.
pub(crate) fn types() -> fn(&Report) -> bool {
    let (pools, pool, cell) =
        (leak(RwLock::new(vec![db::Pool])), leak(Mutex::new(db::Pool)), leak(OnceLock::new()));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        let _pools = pools.read(); // alpha reads
        other.wait();
        let _pool = pool.lock(); // alpha locks
    });
    spawn("beta", move || {
        let init = || {
            let _pool = pool.lock(); // beta locks
            meet.wait();
            until_waiting("alpha");
            let _pools = pools.write(); // beta writes
            db::Pool
        };
        cell.get_or_init(init); // beta makes
    });
    spawn("gamma", move || {
        until_waiting("beta");
        cell.wait(); // gamma waits
    });
    |report| has_cycle(report) && report.snapshot.waiters() == 3
}

#[test]
fn types_are_said_that_nobody_named() {
    expect(
        "types",
        r#"waitword: deadlocks (process #): 3 waiters at 3 locks
        deadlock: 2 members, since #
          thread "beta" waits # for RwLock<Vec<db::Pool>> at <beta writes>
                        holds # Mutex<db::Pool>, taken at <beta locks>
          thread "alpha" waits # for Mutex<db::Pool> at <alpha locks>
                         holds # RwLock<Vec<db::Pool>>, taken at <alpha reads>
        Mutex<db::Pool> at #: 1 waiter
          # held by thread "beta", taken at <beta locks>
          # thread "alpha" <alpha locks>
        RwLock<Vec<db::Pool>> at #: 1 waiter
          # held by thread "alpha", taken at <alpha reads>
          # thread "beta" <beta writes>, to write
        OnceLock<db::Pool> at #: 1 waiter
          # held by thread "beta", taken at <beta makes>
          # thread "gamma" <gamma waits>"#,
    );
    let json = shown(&output_of("types json"));
    for name in [
        "Mutex<deadlocks::types::db::Pool>",
        "RwLock<alloc::vec::Vec<deadlocks::types::db::Pool>>",
        "OnceLock<deadlocks::types::db::Pool>",
    ] {
        assert!(json.contains(&format!(r#""type_name":"{name}""#)), "{name} is not in {json}");
    }
}

/// Two locks of one type.
pub(crate) fn twins() -> fn(&Report) -> bool {
    let (one, other) = (leak(Mutex::new(0_u8)), leak(Mutex::new(0_u8)));
    let meet = Arc::new(Barrier::new(2));
    let met = Arc::clone(&meet);
    spawn("alpha", move || {
        let _one = one.lock(); // alpha took one
        met.wait();
        let _other = other.lock(); // alpha waits for other
    });
    spawn("beta", move || {
        let _other = other.lock(); // beta took other
        meet.wait();
        until_waiting("alpha");
        let _one = one.lock(); // beta waits for one
    });
    has_cycle
}

#[test]
fn two_locks_of_one_type_are_told_apart_by_their_addresses() {
    expect(
        "twins",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "beta" waits # for Mutex<u8> at # at <beta waits for one>
                        holds # Mutex<u8> at #, taken at <beta took other>
          thread "alpha" waits # for Mutex<u8> at # at <alpha waits for other>
                         holds # Mutex<u8> at #, taken at <alpha took one>
        Mutex<u8> at #: 1 waiter
          # held by thread "beta", taken at <beta took other>
          # thread "alpha" <alpha waits for other>
        Mutex<u8> at #: 1 waiter
          # held by thread "alpha", taken at <alpha took one>
          # thread "beta" <beta waits for one>"#,
    );
}
