//! Locks that expire.

use std::time::{Duration, Instant};

use waitword_postgres::Config;

use crate::proxy::Proxy;
use crate::server::Database;
use crate::{LONG, NAME, block_on, connect, two_processes, until};

const TERM: Duration = Duration::from_secs(2);

#[test]
fn a_lease_is_renewed_as_long_as_its_holder_lives() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [(here, _), (there, _)] = two_processes(&database, LONG).await;
        let lease = here.lease_async(NAME, TERM).await.unwrap();
        let fence = lease.fence().unwrap();
        let start = Instant::now();
        while start.elapsed() < 2 * TERM {
            assert!(there.try_lease_async(NAME, TERM).await.unwrap().is_none());
            tokio::time::sleep(TERM / 10).await;
        }
        assert_eq!(lease.fence().unwrap(), fence);
        // Before its expiry.
        lease.release_async().await.unwrap();
        let next = there.try_lease_async(NAME, TERM).await.unwrap().expect("it was given back");
        assert!(next.fence().unwrap() > fence);
        drop(next);
        // So does a drop.
        until(async || here.try_lease_async(NAME, LONG).await.unwrap().is_some()).await;
    });
}

#[test]
fn a_holder_that_is_cut_off_has_lost_its_lease_when_another_has_it() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [(there, _), _] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let config: Config = database.address_at(proxy.port).parse().unwrap();
        let (here, _) = connect(config).await;
        let lease = here.lease_async(NAME, TERM).await.unwrap();
        let fence = lease.fence().unwrap();
        proxy.stall();
        let next = there.lease_async(NAME, TERM).await.unwrap();
        assert!(lease.fence().is_err());
        assert!(lease.run(std::future::pending::<()>()).await.is_err());
        assert!(next.fence().unwrap() > fence);
    });
}

#[test]
fn a_holder_that_hung_knows_that_its_time_is_up() {
    let Some(database) = Database::new() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let [(here, _), _] = two_processes(&database, LONG).await;
        let lease = here.lease_async(NAME, TERM).await.unwrap();
        lease.fence().unwrap();
        // Nothing else runs in this runtime meanwhile, so that nobody could tell it.
        std::thread::sleep(TERM);
        assert!(lease.fence().is_err());
    });
}

#[test]
fn a_lease_outlives_the_session_of_its_holder() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [(there, _), _] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let config: Config = database.address_at(proxy.port).parse().unwrap();
        let (here, mutex) = connect(config).await;
        let lease = here.lease_async(NAME, TERM).await.unwrap();
        // One name for both has one row of numbers.
        let guard = mutex.lock_async().await.unwrap();
        assert!(guard.fence().unwrap() > lease.fence().unwrap());
        let start = Instant::now();
        proxy.cut();
        guard.lost().await;
        while start.elapsed() < 2 * TERM {
            assert!(there.try_lease_async(NAME, TERM).await.unwrap().is_none());
            lease.fence().unwrap();
            tokio::time::sleep(TERM / 10).await;
        }
        lease.release_async().await.unwrap();
    });
}

#[test]
fn a_future_that_is_dropped_leaves_no_lease() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [(here, _), (there, _)] = two_processes(&database, LONG).await;
        for round in 0..50 {
            let limit = Duration::from_micros(100 * round);
            drop(tokio::time::timeout(limit, here.lease_async(NAME, LONG)).await);
        }
        until(async || there.try_lease_async(NAME, LONG).await.unwrap().is_some()).await;
    });
}
