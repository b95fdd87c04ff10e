//! How a session that ended is replaced: for all who ask at once, and without a word to other sessions.

use std::net::TcpListener;
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::timeout;
use waitword_postgres::{Cluster, Error, migrate};

use crate::counter::Counter;
use crate::losses::{HOLDER, end_sessions};
use crate::proxy::Proxy;
use crate::server::{Database, patient};
use crate::{LIMIT, LONG, NAME, block_on, connect, on_one_thread, poll, two_processes, with_database};

/// Until it is done. Only after `limit` it may fail: then the server was too slow.
async fn in_time<T>(limit: Duration, attempt: impl AsyncFn() -> Result<T, Error>) -> T {
    loop {
        let start = Instant::now();
        match attempt().await {
            Ok(done) => return done,
            Err(error) => assert!(start.elapsed() >= limit, "{error}"),
        }
    }
}

#[test]
fn a_session_that_is_replaced_ends_no_other() {
    let (Some(database), Some(other)) = (Database::new(), Database::new()) else { return };
    block_on(async {
        // Both have the number 1, each in its database.
        migrate(&database.config()).await.unwrap();
        migrate(&other.config()).await.unwrap();
        let (_, there) = connect(other.config()).await;
        let held = there.lock_async().await.unwrap();
        let (_, here) = connect(database.config()).await;
        let lost = here.lock_async().await.unwrap();
        let client = Counter::make(&database).await.client;
        assert_eq!(end_sessions(&client, HOLDER).await, 1);
        lost.lost().await;
        drop(lost);
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
        held.unlock_async().await.unwrap();
    });
}

#[test]
fn a_reconnect_goes_on_though_whoever_began_it_is_not_polled() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let [(cluster, here), _] = two_processes(&database, LONG).await;
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        assert_eq!(end_sessions(&client, HOLDER).await, 1);
        guard.lost().await;
        drop(guard);
        let mut unpolled = pin!(here.lock_async());
        assert!(poll(unpolled.as_mut()).is_pending(), "it has to connect");
        let other = cluster.mutex("other").unwrap();
        let guard = timeout(LIMIT / 2, other.lock_async()).await.expect("it waits for that one");
        guard.unwrap().unlock_async().await.unwrap();
        unpolled.await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_reconnect_goes_on_though_all_who_want_it_give_up_before() {
    with_database(async |database| {
        let [_, (_, other)] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::from_millis(100)).await;
        let (_, here) = connect(database.config_at(proxy.port)).await;
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        assert_eq!(end_sessions(&client, HOLDER).await, 1);
        guard.lost().await;
        drop(guard);
        // A round trip takes half of it, a new session several of them.
        let limit = Duration::from_millis(200);
        let mut attempts = 0;
        while here.lock_async_for(limit).await.is_err() {
            attempts += 1;
            assert!(attempts < 100, "each attempt begins anew");
        }
        other.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn the_limit_of_a_reconnect_is_that_of_all_who_wait_for_it() {
    with_database(async |database| {
        migrate(&database.config()).await.unwrap();
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let config = patient(&format!("{} connect_timeout=1", database.address_at(proxy.port)));
        let limits = config.answer_limit(Duration::from_millis(100)).reconnect_limit(Duration::ZERO);
        let connect_limit = Duration::from_secs(1);
        let cluster = in_time(connect_limit, async || Cluster::connect(limits.clone()).await).await;
        let here = cluster.mutex(NAME).unwrap();
        let guard = in_time(connect_limit, async || here.lock_async().await).await;
        proxy.stall();
        guard.lost().await;
        let start = Instant::now();
        let waiters: Vec<_> = (0..30)
            .map(|number| {
                let mutex = cluster.mutex(&format!("lock {number}")).unwrap();
                tokio::spawn(async move { mutex.lock_async().await.map(drop).unwrap_err() })
            })
            .collect();
        for waiter in waiters {
            waiter.await.unwrap();
        }
        // One after the other would take half a minute.
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    });
}

#[test]
fn a_host_that_hangs_is_passed_over() {
    with_database(async |database| {
        migrate(&database.config()).await.unwrap();
        let (mute, server) = (TcpListener::bind("127.0.0.1:0").unwrap(), &database.server);
        let port = mute.local_addr().unwrap().port();
        let hosts = format!("host=127.0.0.1,{} port={port},{}", server.folder.display(), server.port);
        let address = database.address();
        let rest = &address[address.find("user=").unwrap()..];
        let config = patient(&format!("{hosts} {rest} connect_timeout=1"));
        // One second at each host.
        let limit = Duration::from_secs(2);
        let migrates = in_time(limit, async || migrate(&config).await);
        let connects = in_time(limit, async || Cluster::connect(config.clone()).await);
        let ((), cluster) = tokio::join!(migrates, connects);
        let here = cluster.mutex(NAME).unwrap();
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_runtime_that_has_ended_is_told() {
    let Some(database) = Database::new() else { return };
    let runtime = Runtime::new().unwrap();
    let cluster = runtime.block_on(async {
        migrate(&database.config()).await.unwrap();
        Cluster::connect(database.config()).await.unwrap()
    });
    drop(runtime);
    let error = block_on(async { cluster.mutex("lock").unwrap().lock_async().await.unwrap_err() });
    assert!(error.to_string().contains("runtime"), "{error}");
}
