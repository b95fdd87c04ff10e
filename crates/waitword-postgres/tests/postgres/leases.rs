//! Locks that expire.

use std::time::{Duration, Instant};

use waitword_postgres::{Cluster, Lease};

use crate::proxy::Proxy;
use crate::server::Database;
use crate::{LONG, NAME, connect, on_one_thread, two_processes, until, with_database, with_two_processes};

const TERM: Duration = Duration::from_millis(1500);

/// Longer ones, until the machine is quick enough for one.
pub(crate) fn terms() -> impl Iterator<Item = Duration> {
    (0..5).map(|doubled| TERM * (1 << doubled))
}

/// Takes a lease and keeps it for two of its terms, while `takes` says that another cannot take it; with a longer term, until the machine is quick
/// enough for one. Returns its number.
pub(crate) async fn is_kept(
    longer: usize,
    take: impl AsyncFn(Duration) -> (Instant, Lease),
    takes: impl AsyncFn(Duration) -> bool,
) -> i64 {
    for term in terms().skip(longer) {
        let (start, lease) = take(term).await;
        let Ok(fence) = lease.fence() else { continue };
        if keeps(start, term, (lease, fence), async || takes(term).await).await {
            return fence;
        }
        until(async || takes(term).await).await;
    }
    panic!("the machine is quick enough for none of the terms");
}

/// A lease, and its number. Anew, if it expired before it could be asked.
async fn take(cluster: &Cluster, term: Duration) -> (Lease, i64) {
    loop {
        let start = Instant::now();
        let lease = cluster.lease_async(NAME, term).await.unwrap();
        match lease.fence() {
            Ok(fence) => return (lease, fence),
            // Of each term its holder counts on all but a fiftieth.
            Err(lost) => assert!(start.elapsed() >= term - term / 50, "{lost}"),
        }
    }
}

/// Whether the lease that was taken after `start` was kept for two terms, and given back. `false`: a look at whether another can take it came so late
/// that a renewal may have, too. Otherwise looks are at most a fifth of the term apart: a renewal, due after a third, is sent before the next, and
/// answered before the one after that.
async fn keeps(
    start: Instant,
    term: Duration,
    (lease, fence): (Lease, i64),
    takes: impl AsyncFn() -> bool,
) -> bool {
    let (mut last, is_late) = (start, |last: Instant| last.elapsed() > term / 5);
    while start.elapsed() < 2 * term {
        let (is_taken, seen) = (takes().await, lease.fence());
        if is_late(last) {
            return false;
        }
        assert!(!is_taken);
        assert_eq!(seen.unwrap(), fence);
        last = Instant::now();
        tokio::time::sleep(term / 20).await;
    }
    // Before its expiry.
    let released = lease.release_async().await;
    !is_late(last) && released.map(|()| true).unwrap()
}

/// Whether `there` can take the lease, after one answer to each session.
async fn takes(here: &Cluster, there: &Cluster, term: Duration) -> bool {
    here.queue(NAME).await.unwrap();
    there.try_lease_async(NAME, term).await.unwrap().is_some()
}

#[test]
fn a_lease_is_renewed_as_long_as_its_holder_lives() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let [(here, _), (there, _)] = two_processes(&database, LONG).await;
        let took = async |term| (Instant::now(), take(&here, term).await.0);
        let fence = is_kept(0, took, async |term| takes(&here, &there, term).await).await;
        let next = there.try_lease_async(NAME, LONG).await.unwrap().expect("it was given back");
        assert!(next.fence().unwrap() > fence);
        drop(next);
        // So does a drop.
        until(async || here.try_lease_async(NAME, LONG).await.unwrap().is_some()).await;
    });
}

#[test]
fn a_holder_that_is_cut_off_has_lost_its_lease_when_another_has_it() {
    with_database(async |database| {
        let [(there, _), _] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let (here, _) = connect(database.config_at(proxy.port)).await;
        let (lease, fence) = take(&here, TERM).await;
        proxy.stall();
        let next = there.lease_async(NAME, LONG).await.unwrap();
        assert!(lease.fence().is_err());
        assert!(lease.run(std::future::pending::<()>()).await.is_err());
        assert!(next.fence().unwrap() > fence);
    });
}

#[test]
fn a_holder_that_hung_knows_that_its_time_is_up() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let [(here, _), _] = two_processes(&database, LONG).await;
        let (lease, _) = take(&here, TERM).await;
        // Nothing else runs in this runtime meanwhile, so that nobody could tell it.
        std::thread::sleep(TERM);
        assert!(lease.fence().is_err());
    });
}

#[test]
fn a_lease_outlives_the_session_of_its_holder() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let [(there, _), _] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let (here, mutex) = connect(database.config_at(proxy.port)).await;
        let took = async |term| {
            let start = Instant::now();
            let (lease, fence) = take(&here, term).await;
            // One name for both has one row of numbers.
            let guard = mutex.lock_async().await.unwrap();
            assert!(guard.fence().unwrap() > fence);
            proxy.cut();
            guard.lost().await;
            (start, lease)
        };
        is_kept(0, took, async |term| takes(&here, &there, term).await).await;
    });
}

#[test]
fn a_future_that_is_dropped_leaves_no_lease() {
    with_two_processes(LONG, async |_, [(here, _), (there, _)]| {
        for round in 0..50 {
            let limit = Duration::from_micros(100 * round);
            drop(tokio::time::timeout(limit, here.lease_async(NAME, LONG)).await);
        }
        until(async || there.try_lease_async(NAME, LONG).await.unwrap().is_some()).await;
    });
}
