//! How a session that ended is replaced: for all who ask at once, and without a word to other sessions.

use std::net::TcpListener;
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::timeout;
use waitword_postgres::{Cluster, Config, migrate};

use crate::counter::Counter;
use crate::losses::{HOLDER, end_sessions};
use crate::proxy::Proxy;
use crate::server::Database;
use crate::{LONG, block_on, connect, poll, two_processes};

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
    block_on(async {
        let [(cluster, here), _] = two_processes(&database, LONG).await;
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        assert_eq!(end_sessions(&client, HOLDER).await, 1);
        guard.lost().await;
        drop(guard);
        let mut unpolled = pin!(here.lock_async());
        assert!(poll(unpolled.as_mut()).is_pending(), "it has to connect");
        let other = cluster.mutex("other").unwrap();
        let guard = timeout(Duration::from_secs(5), other.lock_async()).await.expect("it waits for that one");
        guard.unwrap().unlock_async().await.unwrap();
        unpolled.await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_reconnect_goes_on_though_all_who_want_it_give_up_before() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [_, (_, other)] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::from_millis(50)).await;
        let (_, here) = connect(database.address_at(proxy.port).parse().unwrap()).await;
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        assert_eq!(end_sessions(&client, HOLDER).await, 1);
        guard.lost().await;
        drop(guard);
        // A round trip takes half of it, a new session several of them.
        let limit = Duration::from_millis(100);
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
    let Some(database) = Database::new() else { return };
    block_on(async {
        migrate(&database.config()).await.unwrap();
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let address = format!("{} connect_timeout=1", database.address_at(proxy.port));
        let config: Config = address.parse().unwrap();
        let limits = config.answer_limit(Duration::from_millis(100)).reconnect_limit(Duration::ZERO);
        let (cluster, here) = connect(limits).await;
        let guard = here.lock_async().await.unwrap();
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
    let Some(database) = Database::new() else { return };
    block_on(async {
        migrate(&database.config()).await.unwrap();
        let (mute, server) = (TcpListener::bind("127.0.0.1:0").unwrap(), &database.server);
        let port = mute.local_addr().unwrap().port();
        let hosts = format!("host=127.0.0.1,{} port={port},{}", server.folder.display(), server.port);
        let address = database.address();
        let rest = &address[address.find("user=").unwrap()..];
        let config: Config = format!("{hosts} {rest} connect_timeout=1").parse().unwrap();
        migrate(&config).await.unwrap();
        let (_, here) = connect(config).await;
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
