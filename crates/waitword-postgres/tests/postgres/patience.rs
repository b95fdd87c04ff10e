//! What a session bears: futures that are polled late, many statements at a time, and the dead in a queue.

use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::{sleep, timeout};
use waitword_postgres::{Error, migrate};

use crate::counter::{Counter, number};
use crate::server::{Database, patient};
use crate::{
    LIMIT, LONG, NAME, connect, on_one_thread, poll, two_processes, until, until_queued, with_database,
    with_two_processes,
};

#[test]
fn a_future_that_is_polled_late_ends_nothing() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        migrate(&database.config()).await.unwrap();
        let (cluster, here) = connect(database.config().answer_limit(Duration::from_millis(100))).await;
        let mut polled_late = 0;
        while polled_late < 8 {
            let other = cluster.mutex(&format!("other {polled_late}")).unwrap();
            let (held, mut late) = (here.lock_async().await.unwrap(), pin!(other.lock_async()));
            assert!(poll(late.as_mut()).is_pending());
            sleep(Duration::from_millis(150)).await;
            // A database that was silent for so long has ended the session by right. Nothing else runs during the poll.
            if held.fence().is_ok() {
                let polled = poll(late.as_mut());
                held.fence().unwrap();
                if let Poll::Ready(guard) = polled {
                    drop(guard.unwrap());
                    polled_late += 1;
                }
            }
        }
    });
}

#[test]
fn statements_that_wait_for_one_another_end_nothing() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let client = Counter::with_schema(&database).await.client;
        let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.025); RETURN NEW; END';
             CREATE TRIGGER slow BEFORE INSERT ON waitword.locks FOR EACH ROW EXECUTE FUNCTION slow()";
        client.batch_execute(slow).await.unwrap();
        // The last of those that are under way at a time waits longer than this for its answer.
        let limit = Duration::from_millis(300);
        let (cluster, _) = connect(database.config().answer_limit(limit)).await;
        loop {
            let mut answers = vec![Instant::now()];
            let all: Vec<_> = (0..40)
                .map(|number| {
                    let mutex = cluster.mutex(&format!("lock {number}")).unwrap();
                    tokio::spawn(async move { (mutex.lock_async().await.unwrap(), Instant::now()) })
                })
                .collect();
            let mut locked = Vec::new();
            for one in all {
                let (guard, answer) = one.await.unwrap();
                locked.push(guard);
                answers.push(answer);
            }
            let mut lost = Ok(());
            for guard in locked {
                lost = lost.and(guard.unlock_async().await);
                answers.push(Instant::now());
            }
            let Err(lost) = lost else { break };
            // Anew, if the database was silent meanwhile.
            answers.sort();
            assert!(answers.windows(2).any(|two| two[1] - two[0] > limit / 2), "{lost}");
        }
    });
}

#[test]
fn the_dead_in_a_queue_are_passed_over_and_go() {
    with_two_processes(LONG, async |database, [(cluster, here), (_, there)]| {
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
        next.abort();
        until_queued(&cluster, 1).await;
        // Whoever releases passes over those that died since.
        client.batch_execute(&dead(2_000_000)).await.unwrap();
        let again = tokio::spawn(async move {
            held.unlock_async().await.unwrap();
            here.lock_async().await.unwrap().unlock_async().await.unwrap();
        });
        timeout(LIMIT / 2, again).await.expect("it takes too long").unwrap();
    });
}

#[test]
fn a_request_that_the_database_refuses_ends_no_other() {
    with_database(async |database| {
        let latin = "latin";
        database.server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
        let address = database.address();
        let config = patient(&format!("{} dbname={latin}", address.split(" dbname=").next().unwrap()));
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
    on_one_thread(async {
        migrate(&database.config()).await.unwrap();
        let told = Arc::<Mutex<Vec<_>>>::default();
        let tells = Arc::clone(&told);
        let config =
            database.config().on_lost(move |lost| tells.lock().unwrap().push(lost.name().to_owned()));
        let (cluster, _) = connect(config).await;
        let term = Duration::from_millis(600);
        for round in 0.. {
            let (start, name) = (Instant::now(), format!("leader {round}"));
            let lease = cluster.lease_async(&name, term).await.unwrap();
            let mut release = pin!(lease.release_async());
            // Otherwise it was lost before.
            if poll(release.as_mut()).is_pending() && start.elapsed() < term {
                // Past a renewal.
                sleep(Duration::from_millis(400)).await;
                release.await.unwrap();
                assert!(!told.lock().unwrap().contains(&name));
                break;
            }
        }
    });
}

#[test]
fn tenures_leave_no_tasks() {
    with_database(async |database| {
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
    done.recv_timeout(LIMIT).ok()
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
