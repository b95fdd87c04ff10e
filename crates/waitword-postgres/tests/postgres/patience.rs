//! What a session bears: futures that are polled late, many statements at a time, and the dead in a queue.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::{sleep, timeout};
use waitword_postgres::{Config, Error, migrate};

use crate::counter::{Counter, number};
use crate::server::Database;
use crate::{LONG, NAME, block_on, connect, poll, two_processes, until, until_queued};

#[test]
fn a_future_that_is_polled_late_ends_nothing() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        migrate(&database.config()).await.unwrap();
        let (cluster, here) = connect(database.config().answer_limit(Duration::from_millis(200))).await;
        let held = here.lock_async().await.unwrap();
        let mut polled_late = 0;
        while polled_late < 8 {
            let other = cluster.mutex("other").unwrap();
            let mut late = pin!(other.lock_async());
            // The answer may be quicker than a poll.
            let guard = if let Poll::Ready(guard) = poll(late.as_mut()) {
                guard
            } else {
                polled_late += 1;
                sleep(Duration::from_millis(300)).await;
                late.await
            };
            guard.unwrap().unlock_async().await.unwrap();
        }
        held.unlock_async().await.unwrap();
    });
}

#[test]
fn statements_that_wait_for_one_another_end_nothing() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        migrate(&database.config()).await.unwrap();
        let client = Counter::make(&database).await.client;
        let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END';
             CREATE TRIGGER slow BEFORE INSERT ON waitword.locks FOR EACH ROW EXECUTE FUNCTION slow()";
        client.batch_execute(slow).await.unwrap();
        let (cluster, _) = connect(database.config().answer_limit(Duration::from_millis(800))).await;
        let all: Vec<_> = (0..100)
            .map(|number| {
                let mutex = cluster.mutex(&format!("lock {number}")).unwrap();
                tokio::spawn(async move { mutex.lock_async().await.unwrap() })
            })
            .collect();
        for one in all {
            one.await.unwrap().unlock_async().await.unwrap();
        }
    });
}

#[test]
fn the_dead_in_a_queue_are_passed_over_and_go() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [(cluster, here), (_, there)] = two_processes(&database, LONG).await;
        let client = Counter::make(&database).await.client;
        let dead = |from: i64| {
            format!(
                "INSERT INTO waitword.waiters (name, session, token, process)
                SELECT '{NAME}', {from} + g, 1, 'dead' FROM generate_series(1, 20000) g"
            )
        };
        let held = here.lock_async().await.unwrap();
        client.batch_execute(&dead(1_000_000)).await.unwrap();
        until_queued(&cluster, 1).await;
        // Whoever enqueues removes them.
        let next = tokio::spawn(async move { there.lock_async().await.unwrap() });
        until_queued(&cluster, 2).await;
        assert_eq!(number(&client, "SELECT count(*) FROM waitword.waiters").await.unwrap(), 1);
        // Whoever releases passes over those that died since.
        client.batch_execute(&dead(2_000_000)).await.unwrap();
        client
            .batch_execute("UPDATE waitword.waiters SET session = 3000000 WHERE process = 'there'")
            .await
            .unwrap();
        let again = tokio::spawn(async move {
            held.unlock_async().await.unwrap();
            here.lock_async().await.unwrap().unlock_async().await.unwrap();
        });
        timeout(Duration::from_secs(10), again).await.expect("it takes too long").unwrap();
        next.abort();
    });
}

#[test]
fn a_request_that_the_database_refuses_ends_no_other() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let latin = "latin";
        database.server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
        let address = database.address();
        let config: Config =
            format!("{} dbname={latin}", address.split(" dbname=").next().unwrap()).parse().unwrap();
        migrate(&config).await.unwrap();
        let (cluster, here) = connect(config).await;
        let held = here.lock_async().await.unwrap();
        let error = cluster.mutex("Ω").unwrap().lock_async().await.unwrap_err();
        assert!(matches!(error, Error::Database(_)), "{error}");
        // What its drop sends is answered before the release.
        sleep(Duration::from_millis(50)).await;
        held.unlock_async().await.unwrap();
    });
}

#[test]
fn a_lease_that_was_given_back_is_not_told_as_lost() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        migrate(&database.config()).await.unwrap();
        let told = Arc::new(AtomicU32::new(0));
        let tells = Arc::clone(&told);
        let config = database.config().on_lost(move |_| {
            tells.fetch_add(1, Ordering::SeqCst);
        });
        let (cluster, _) = connect(config).await;
        loop {
            let lease = cluster.lease_async("leader", Duration::from_millis(600)).await.unwrap();
            let mut release = pin!(lease.release_async());
            if poll(release.as_mut()).is_pending() {
                // Past a renewal.
                sleep(Duration::from_millis(400)).await;
                release.await.unwrap();
                break;
            }
        }
        assert_eq!(told.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn tenures_leave_no_tasks() {
    let Some(database) = Database::new() else { return };
    block_on(async {
        let [(_, here), _] = two_processes(&database, LONG).await;
        for _ in 0..30 {
            let first = here.lock_async().await.unwrap();
            let mut second = pin!(here.lock_async());
            assert!(poll(second.as_mut()).is_pending());
            first.unlock_async().await.unwrap();
            second.await.unwrap().unlock_async().await.unwrap();
        }
        until(async || Handle::current().metrics().num_alive_tasks() < 20).await;
    });
}

/// On a thread of its own, with a runtime of one thread. `None`: it hangs.
fn alone<T: Send + 'static>(run: impl FnOnce(Runtime) -> T + Send + 'static) -> Option<T> {
    let (sends, done) = mpsc::channel();
    std::thread::spawn(move || sends.send(run(Builder::new_current_thread().enable_all().build().unwrap())));
    done.recv_timeout(Duration::from_secs(10)).ok()
}

#[test]
fn a_task_that_would_block_panics_at_once() {
    let Some(database) = Database::new() else { return };
    let panic = alone(move |runtime| {
        runtime.block_on(async move {
            migrate(&database.config()).await.unwrap();
            let (_, here) = connect(database.config()).await;
            let _held = here.lock_async().await.unwrap();
            let blocked = here.clone();
            tokio::spawn(async move { blocked.lock().map(drop) }).await.unwrap_err().into_panic()
        })
    });
    let panic = panic.expect("it hangs");
    assert!(panic.downcast_ref::<String>().is_some_and(|text| text.contains("lock_async")));
}

#[test]
fn a_deadline_ends_the_wait_for_a_runtime_that_nobody_drives() {
    let Some(database) = Database::new() else { return };
    let late = alone(move |runtime| {
        let (_cluster, here) = runtime.block_on(async {
            migrate(&database.config()).await.unwrap();
            connect(database.config()).await
        });
        here.lock_for(Duration::from_millis(200)).map(drop)
    });
    assert!(matches!(late.expect("it hangs"), Err(Error::TimedOut)));
}
