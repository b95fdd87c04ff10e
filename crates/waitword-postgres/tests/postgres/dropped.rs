//! What futures that are dropped cost the others of their process: no lease, and no time.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;
use waitword_postgres::ClusterMutex;

use crate::counter::{Counter, number};
use crate::leases::terms;
use crate::server::Database;
use crate::{
    LONG, NAME, connect, on_one_thread, poll, until, until_queued, with_database, with_two_processes,
};

/// The database has granted the lock of all tests so often.
const GRANTS: &str = "SELECT (fence >> 20)::bigint FROM waitword.locks WHERE name = 'counter'";

/// More than any of these tests sends with care, and much less than it polls.
const FEW: i64 = 40;

async fn lock_and_unlock(mutex: &ClusterMutex) -> Duration {
    let start = Instant::now();
    mutex.lock_async().await.unwrap().unlock_async().await.unwrap();
    start.elapsed()
}

#[test]
fn polls_that_are_dropped_cost_one_request_in_five_thousand_and_no_lease() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let client = Counter::with_schema(&database).await.client;
        let (cluster, here) = connect(database.config()).await;
        let unrelated = cluster.mutex("unrelated").unwrap();
        let mut rounds = 0;
        for term in terms() {
            let (start, mut last) = (Instant::now(), Instant::now());
            let lease = cluster.lease_async("leader", term).await.unwrap();
            let (mut in_time, mut took) = (true, Vec::new());
            while start.elapsed() < term {
                for _ in 0..1000 {
                    assert!(poll(pin!(here.lock_async())).is_pending());
                }
                took.push(lock_and_unlock(&unrelated).await);
                rounds += 1;
                // Only whoever comes late may have lost the lease.
                in_time &= last.elapsed() < term / 5;
                last = Instant::now();
                assert!(!in_time || lease.fence().is_ok());
                sleep(Duration::from_millis(50)).await;
            }
            let granted = number(&client, GRANTS).await.unwrap();
            assert!(granted <= rounds, "{granted} requests in {rounds} rounds");
            took.sort();
            if in_time && took[took.len() / 2] < Duration::from_millis(100) {
                return lease.release_async().await.unwrap();
            }
        }
        panic!("an unrelated lock takes 100 ms and longer");
    });
}

#[test]
fn polls_that_are_dropped_before_their_statement_is_sent_send_nothing() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let client = Counter::with_schema(&database).await.client;
        let (cluster, here) = connect(database.config()).await;
        for round in 0..2000 {
            let name = format!("lock {round}");
            let [waits, tries] =
                ["waits", "tries"].map(|lock| cluster.mutex(&format!("{lock} {round}")).unwrap());
            assert!(poll(pin!(waits.lock_async())).is_pending());
            assert!(poll(pin!(tries.try_lock_async())).is_pending());
            assert!(poll(pin!(cluster.lease_async(&name, LONG))).is_pending());
            assert!(poll(pin!(cluster.try_lease_async(&name, LONG))).is_pending());
            assert!(poll(pin!(cluster.queue(&name))).is_pending());
        }
        lock_and_unlock(&here).await;
        let left =
            "SELECT (SELECT count(*) FROM waitword.waiters) + (SELECT count(session) FROM waitword.locks)
            + (SELECT count(*) FROM waitword.leases WHERE expires > clock_timestamp())";
        until(async || number(&client, left).await.unwrap() == 0).await;
        let sent = "SELECT (SELECT count(*) FROM waitword.locks) + (SELECT count(*) FROM waitword.leases)";
        let sent = number(&client, sent).await.unwrap();
        assert!(sent <= FEW, "{sent} requests were sent");
    });
}

/// 3000 attempts to lock that are dropped after 1 ms, by 30 tasks. Returns the longest that an unrelated lock took meanwhile.
async fn lose(here: &ClusterMutex, unrelated: &ClusterMutex) -> Duration {
    let select = |here: ClusterMutex| async move {
        for _ in 0..100 {
            tokio::select! {
                biased;
                guard = here.lock_async() => drop(guard.unwrap()),
                () = sleep(Duration::from_millis(1)) => {}
            }
        }
    };
    let selects: Vec<_> = (0..30).map(|_| tokio::spawn(select(here.clone()))).collect();
    let mut longest = Duration::ZERO;
    while selects.iter().any(|task| !task.is_finished()) {
        longest = longest.max(lock_and_unlock(unrelated).await);
    }
    for task in selects {
        task.await.unwrap();
    }
    longest.max(lock_and_unlock(unrelated).await)
}

#[test]
fn three_thousand_selects_that_lose_leave_nothing_and_starve_nobody() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        let told = Arc::new(AtomicU32::new(0));
        let tells = Arc::clone(&told);
        let config = database.config().on_lost(move |_| {
            tells.fetch_add(1, Ordering::SeqCst);
        });
        let (cluster, here) = connect(config).await;
        let (_, there) = connect(database.config()).await;
        let (lease, unrelated) =
            (cluster.lease_async("leader", LONG).await.unwrap(), cluster.mutex("unrelated").unwrap());
        // Of a free lock, and of one that another process holds. Anew, if the machine was slow.
        until(async || lose(&here, &unrelated).await < Duration::from_millis(100)).await;
        let guard = there.lock_async().await.unwrap();
        until(async || lose(&here, &unrelated).await < Duration::from_millis(100)).await;
        guard.unlock_async().await.unwrap();
        let left =
            "SELECT (SELECT count(*) FROM waitword.waiters) + (SELECT count(session) FROM waitword.locks)";
        until(async || number(&client, left).await.unwrap() == 0).await;
        // Nearly always somebody waits, who adopts the request of the one before.
        let requests = number(&client, "SELECT last_value FROM waitword.waiters_ticket_seq").await.unwrap();
        assert!(requests <= 300, "{requests} requests for 3000 waiters");
        lease.release_async().await.unwrap();
        assert_eq!(told.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn the_next_local_waiter_adopts_an_abandoned_request_with_its_position() {
    with_two_processes(Duration::ZERO, async |database, [(cluster, here), (_, there)]| {
        let client = Counter::make(&database).await.client;
        let (_, last) = connect(database.config().process("last")).await;
        let guard = there.lock_async().await.unwrap();
        let [mut first, mut second, mut third] = [(); 3].map(|()| Box::pin(here.lock_async()));
        assert!(poll(first.as_mut()).is_pending());
        until_queued(&cluster, 2).await;
        let request = "SELECT token FROM waitword.waiters WHERE process = 'here'";
        let token = number(&client, request).await.unwrap();
        let last = tokio::spawn(async move { last.lock_async().await.unwrap().fence().unwrap() });
        until_queued(&cluster, 3).await;
        for waiter in [&mut second, &mut third] {
            assert!(poll(waiter.as_mut()).is_pending());
        }
        drop(first);
        assert!(here.try_lock_async().await.unwrap().is_none());
        assert!(poll(second.as_mut()).is_pending());
        // Adopted a second time.
        drop(second);
        assert!(poll(third.as_mut()).is_pending());
        assert_eq!(number(&client, request).await.unwrap(), token, "it is another request");
        guard.unlock_async().await.unwrap();
        let guard = third.await.unwrap();
        assert_eq!(cluster.queue(NAME).await.unwrap()[1].process, "last");
        let fence = guard.fence().unwrap();
        guard.unlock_async().await.unwrap();
        assert!(last.await.unwrap() > fence);
    });
}

#[test]
fn a_lock_that_is_left_to_a_waiter_is_given_back_when_that_is_dropped() {
    with_two_processes(LONG, async |_, [(cluster, here), (_, there)]| {
        let guard = there.lock_async().await.unwrap();
        let [mut first, mut second, mut third] = [(); 3].map(|()| Box::pin(here.lock_async()));
        for waiter in [&mut first, &mut second, &mut third] {
            assert!(poll(waiter.as_mut()).is_pending());
        }
        until_queued(&cluster, 2).await;
        // Left to one that is not polled, which leaves before it has come; and so does the last.
        drop(first);
        drop(second);
        assert_eq!(cluster.queue(NAME).await.unwrap().len(), 2);
        drop(third);
        until_queued(&cluster, 1).await;
        guard.unlock_async().await.unwrap();
        // The same with a lock that is held, and with a tenure that outlasts the test.
        let guard = here.lock_async().await.unwrap();
        let mut next = Box::pin(here.lock_async());
        assert!(poll(next.as_mut()).is_pending());
        guard.unlock_async().await.unwrap();
        drop(next);
        there.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_request_that_was_left_to_a_waiter_that_nobody_polls_is_given_back_after_its_grant() {
    with_two_processes(Duration::ZERO, async |_, [(cluster, here), (_, there)]| {
        let guard = there.lock_async().await.unwrap();
        let [mut first, mut unpolled] = [(); 2].map(|()| Box::pin(here.lock_async()));
        for waiter in [&mut first, &mut unpolled] {
            assert!(poll(waiter.as_mut()).is_pending());
        }
        until_queued(&cluster, 2).await;
        drop(first);
        guard.unlock_async().await.unwrap();
        there.lock_async().await.unwrap().unlock_async().await.unwrap();
        unpolled.await.unwrap().unlock_async().await.unwrap();
    });
}
