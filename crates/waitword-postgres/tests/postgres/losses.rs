//! What becomes of holders and waiters whose session, process, server or way to it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use waitword_postgres::tokio_postgres::Client;
use waitword_postgres::{Cluster, ClusterGuard, ClusterMutex, migrate};

use crate::counter::{Counter, is_refusal, number};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::server::Database;
use crate::{
    LONG, NAME, block_on, connect, two_processes, until, until_queued, with_database, with_two_processes,
};

/// Ends the sessions of the holder, of all waiters, or of both.
pub(crate) async fn end_sessions(client: &Client, of: &str) -> i64 {
    let end = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN ({of}) s ON objid = s.session
         WHERE locktype = 'advisory' AND classid = 2002876276 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    );
    number(client, &end).await.unwrap()
}

pub(crate) const HOLDER: &str = "SELECT session FROM waitword.locks";
const WAITERS: &str = "SELECT session FROM waitword.waiters";

#[test]
fn a_holder_is_told_that_its_session_ended_and_cannot_write() {
    with_database(async |database| {
        let [(_, there), _] = two_processes(&database, LONG).await;
        let told = Arc::new(AtomicU32::new(0));
        let tells = Arc::clone(&told);
        let config = database.config().on_lost(move |lost| {
            assert_eq!(lost.name(), NAME);
            tells.fetch_add(1, Ordering::SeqCst);
        });
        let (_, here) = connect(config).await;
        let mut counter = Counter::make(&database).await;
        let zombie = here.lock_async().await.unwrap();
        let old = zombie.fence().unwrap();
        assert_eq!(end_sessions(&counter.client, HOLDER).await, 1);
        assert!(zombie.run(std::future::pending::<()>()).await.is_err());
        let other = there.lock_async().await.unwrap();
        let new = other.fence().unwrap();
        counter.add_one(new, true).await.unwrap();
        assert!(is_refusal(&counter.add_one(old, true).await.unwrap_err()));
        other.unlock_async().await.unwrap();
        zombie.lost().await;
        assert!(zombie.fence().is_err());
        assert!(zombie.unlock_async().await.is_err());
        // The next session takes it.
        let again = here.lock_async().await.unwrap();
        assert!(again.fence().unwrap() > new);
        again.unlock_async().await.unwrap();
        until(async || told.load(Ordering::SeqCst) == 1).await;
        assert_eq!(counter.value().await, 1);
    });
}

#[test]
fn a_lock_whose_session_ended_is_not_handed_on_but_taken_anew() {
    with_database(async |database| {
        let [(_, here), _] = two_processes(&database, LONG).await;
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        let fence = guard.fence().unwrap();
        let next = tokio::spawn(async move { here.lock_async().await.unwrap().fence().unwrap() });
        assert_eq!(end_sessions(&client, HOLDER).await, 1);
        guard.lost().await;
        assert!(guard.unlock_async().await.is_err());
        assert!(next.await.unwrap() > fence + 1);
    });
}

#[test]
fn a_waiter_whose_session_ended_enqueues_again() {
    with_two_processes(LONG, async |database, [(cluster, here), (_, there)]| {
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        let waiter = tokio::spawn(async move { there.lock_async().await.unwrap().unlock_async().await });
        until_queued(&cluster, 2).await;
        let ended = number(&client, "SELECT session::int8 FROM waitword.waiters").await.unwrap();
        assert_eq!(end_sessions(&client, WAITERS).await, 1);
        let again = format!("SELECT count(*) FROM waitword.waiters WHERE session <> {ended}");
        until(async || number(&client, &again).await.unwrap() == 1).await;
        until_queued(&cluster, 2).await;
        guard.unlock_async().await.unwrap();
        waiter.await.unwrap().unwrap();
    });
}

#[test]
fn a_process_that_is_killed_leaves_the_lock_to_the_next() {
    let Some(database) = Database::new() else { return };
    block_on(migrate(&database.config())).unwrap();
    let mut killed = Process::start(&database.address(), "hold", 0);
    killed.go();
    let fence: i64 = killed.line().strip_prefix("holds ").unwrap().parse().unwrap();
    block_on(async {
        let (cluster, here) = connect(database.config()).await;
        let next = tokio::spawn(async move { here.lock_async().await.unwrap().fence().unwrap() });
        until_queued(&cluster, 2).await;
        killed.kill();
        assert!(next.await.unwrap() > fence);
    });
}

#[test]
fn a_process_that_was_stopped_for_too_long_is_refused_and_told() {
    let Some(database) = Database::new() else { return };
    block_on(Counter::with_schema(&database));
    let mut stopped = Process::start(&database.address(), "hold", 0);
    stopped.go();
    assert!(stopped.line().starts_with("holds "));
    stopped.signal("STOP");
    block_on(async {
        let mut counter = Counter::connect(&database.address()).await.unwrap();
        let (cluster, here) = connect(database.config()).await;
        let next = tokio::spawn(async move { here.lock_async().await.unwrap() });
        until_queued(&cluster, 2).await;
        // An administrator decides: the database does not see that it hangs.
        assert_eq!(end_sessions(&counter.client, HOLDER).await, 1);
        let guard = next.await.unwrap();
        counter.add_one(guard.fence().unwrap(), true).await.unwrap();
        guard.unlock_async().await.unwrap();
    });
    stopped.signal("CONT");
    assert_eq!(stopped.line(), "refused");
    stopped.ends_well();
}

#[test]
fn a_statement_that_is_cancelled_is_sent_again() {
    with_database(async |database| {
        let [(_, here), _] = two_processes(&database, LONG).await;
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
        let client = Counter::make(&database).await.client;
        client.batch_execute("BEGIN; SELECT FROM waitword.locks FOR UPDATE").await.unwrap();
        let locked = tokio::spawn(async move { here.lock_async().await.unwrap().unlock_async().await });
        let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted
            AND pg_backend_pid() = ANY(pg_blocking_pids(pid))";
        for _ in 0..2 {
            until(async || number(&client, cancel).await.unwrap() == 1).await;
        }
        client.batch_execute("COMMIT").await.unwrap();
        locked.await.unwrap().unwrap();
    });
}

#[test]
fn all_go_on_after_a_restart_of_the_server() {
    let Some(database) = Database::alone() else { return };
    block_on(async {
        let [(cluster, here), (_, there)] = two_processes(&database, LONG).await;
        let guard = here.lock_async().await.unwrap();
        let fence = guard.fence().unwrap();
        let waiter = tokio::spawn(async move { there.lock_async().await.unwrap().fence().unwrap() });
        until_queued(&cluster, 2).await;
        let server = Arc::clone(&database.server);
        let restart = tokio::task::spawn_blocking(move || server.restart());
        guard.lost().await;
        assert!(guard.unlock_async().await.is_err());
        assert!(waiter.await.unwrap() > fence);
        restart.await.unwrap();
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

/// Stalls the way of `here`, which holds the lock and for which `there` waits, until it has lost it. Anew, if it had lost it before: the
/// database may be slow.
async fn lose(
    cluster: &Cluster,
    [here, there]: [&ClusterMutex; 2],
    proxy: &Proxy,
    stall: fn(&Proxy),
) -> JoinHandle<ClusterGuard> {
    loop {
        let (guard, there) = (here.lock_async().await.unwrap(), there.clone());
        let next = tokio::spawn(async move { there.lock_async().await.unwrap() });
        until(async || guard.fence().is_err() || cluster.queue(NAME).await.unwrap().len() == 2).await;
        stall(proxy);
        let is_held = guard.fence().is_ok();
        guard.lost().await;
        if is_held {
            return next;
        }
        proxy.cut();
        next.await.unwrap().unlock_async().await.unwrap();
    }
}

#[test]
fn a_holder_is_told_when_the_database_does_not_answer() {
    with_database(async |database| {
        let [(cluster, there), _] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let config = database.config_at(proxy.port).answer_limit(Duration::from_millis(500));
        let (_, here) = connect(config.reconnect_limit(Duration::ZERO)).await;
        let next = lose(&cluster, [&here, &there], &proxy, Proxy::stall).await;
        assert!(!next.is_finished(), "the server knows nothing of it");
        proxy.cut();
        next.await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_session_that_is_replaced_does_not_live_on_in_the_server() {
    with_database(async |database| {
        let [(cluster, there), _] = two_processes(&database, LONG).await;
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        let config = database.config_at(proxy.port).answer_limit(Duration::from_millis(500));
        let (_, here) = connect(config).await;
        let next = lose(&cluster, [&here, &there], &proxy, Proxy::stall_old_ones).await;
        // A slow database may end the next session, too.
        let again = async move || here.lock_async().await.unwrap().unlock_async().await.is_ok();
        let again = tokio::spawn(until(again));
        next.await.unwrap().unlock_async().await.unwrap();
        again.await.unwrap();
    });
}
