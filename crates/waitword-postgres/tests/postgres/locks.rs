//! Who gets the lock, in which order, and what a dropped future leaves.

use std::pin::pin;
use std::time::{Duration, Instant};

use waitword_postgres::Error;

use crate::attacks::both;
use crate::counter::{Counter, number};
use crate::server::Database;
use crate::{
    LONG, NAME, block_on, connect, poll, two_processes, until, until_queued, with_database,
    with_two_processes,
};

#[test]
fn two_processes_lose_no_count() {
    let Some(database) = Database::new() else { return };
    // Without fencing: two sections at a time would lose a count.
    for mut process in both(&database, [(); 2].map(|()| database.address()), "unchecked", 5) {
        assert_eq!(process.line(), "220 counted, 0 lost, 0 cancelled");
        process.ends_well();
    }
    block_on(async {
        let counter = Counter::connect(&database.address()).await.unwrap();
        assert_eq!(number(&counter.client, "SELECT value FROM counter").await.unwrap(), 440);
    });
}

#[test]
fn processes_are_granted_the_lock_in_the_order_of_their_requests() {
    with_two_processes(Duration::ZERO, async |database, [(cluster, here), (_, there)]| {
        let mut processes = vec![there];
        for process in ["third", "fourth"] {
            processes.push(connect(database.config().process(process)).await.1);
        }
        let first = here.lock_async().await.unwrap();
        let mut waiting = Vec::new();
        let gap = Duration::from_millis(20);
        for (number, mutex) in processes.into_iter().enumerate() {
            tokio::time::sleep(gap).await;
            waiting.push(tokio::spawn(async move {
                let guard = mutex.lock_async().await.unwrap();
                let fence = guard.fence().unwrap();
                guard.unlock_async().await.unwrap();
                fence
            }));
            until_queued(&cluster, number + 2).await;
        }
        // Each is asked for its time at another moment: their order shows in an answer that takes less than was between the requests.
        until(async || {
            let start = Instant::now();
            let queue = cluster.queue(NAME).await.unwrap();
            let is_quick = start.elapsed() < gap;
            let seen: Vec<_> = queue.iter().map(|queued| (&*queued.process, queued.holds)).collect();
            assert_eq!(seen, [("here", true), ("there", false), ("third", false), ("fourth", false)]);
            assert!(!is_quick || queue.is_sorted_by(|one, next| one.since >= next.since));
            is_quick
        })
        .await;
        // One that comes back is the last.
        let mut last = pin!(here.lock_async());
        assert!(poll(last.as_mut()).is_pending());
        let mut fences = vec![first.fence().unwrap()];
        first.unlock_async().await.unwrap();
        for task in waiting {
            fences.push(task.await.unwrap());
        }
        fences.push(last.await.unwrap().fence().unwrap());
        assert!(fences.is_sorted(), "{fences:?}");
    });
}

#[test]
fn a_release_is_handed_on_locally_before_the_database_sees_it() {
    with_two_processes(LONG, async |_, [(cluster, here), (_, there)]| {
        let first = here.lock_async().await.unwrap();
        let other = tokio::spawn(async move { there.lock_async().await.unwrap().fence().unwrap() });
        until_queued(&cluster, 2).await;
        // It comes after the other process, and yet before it.
        let mut second = pin!(here.lock_async());
        assert!(poll(second.as_mut()).is_pending());
        let fence = first.fence().unwrap();
        first.unlock_async().await.unwrap();
        let second = second.await.unwrap();
        assert_eq!(second.fence().unwrap(), fence + 1);
        assert!(!other.is_finished());
        // Nobody waits here any more, so that the database gets it back at once.
        second.unlock_async().await.unwrap();
        assert!(other.await.unwrap() > fence + 1);
    });
}

#[test]
fn when_the_tenure_is_over_another_process_comes_before_local_waiters() {
    with_database(async |database| {
        let tenure = Duration::from_millis(200);
        let [(cluster, here), (_, there)] = two_processes(&database, tenure).await;
        let first = here.lock_async().await.unwrap();
        let over = Instant::now() + tenure;
        let second = tokio::spawn(async move { here.lock_async().await.unwrap().fence().unwrap() });
        let other = tokio::spawn(async move { there.lock_async().await.unwrap().fence().unwrap() });
        until_queued(&cluster, 2).await;
        tokio::time::sleep_until(over.into()).await;
        first.unlock_async().await.unwrap();
        assert!(other.await.unwrap() < second.await.unwrap());
    });
}

#[test]
fn a_tenure_ends_though_nobody_polls_the_waiter_that_has_its_turn() {
    with_two_processes(Duration::from_millis(50), async |_, [(_, here), (_, there)]| {
        let guard = here.lock_async().await.unwrap();
        let mut unpolled = pin!(here.lock_async());
        assert!(poll(unpolled.as_mut()).is_pending());
        guard.unlock_async().await.unwrap();
        let other = there.lock_async().await.unwrap();
        other.unlock_async().await.unwrap();
        unpolled.await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_dropped_future_leaves_both_queues() {
    with_two_processes(LONG, async |_, [(cluster, here), (_, there)]| {
        let guard = there.lock_async().await.unwrap();
        let mutex = here.clone();
        let head = tokio::spawn(async move { drop(mutex.lock_async().await) });
        until_queued(&cluster, 2).await;
        head.abort();
        assert!(head.await.unwrap_err().is_cancelled());
        until_queued(&cluster, 1).await;
        guard.unlock_async().await.unwrap();
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_grant_to_a_future_that_is_dropped_goes_to_the_next_process() {
    with_two_processes(LONG, async |database, [(cluster, here), (_, there)]| {
        let (_, last) = connect(database.config()).await;
        let guard = there.lock_async().await.unwrap();
        let mut granted = Box::pin(here.lock_async());
        // It is not polled any more once it is queued.
        until(async || poll(granted.as_mut()).is_pending() && cluster.queue(NAME).await.unwrap().len() == 2)
            .await;
        guard.unlock_async().await.unwrap();
        until(async || cluster.queue(NAME).await.unwrap()[0].process == "here").await;
        drop(granted);
        last.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn an_attempt_does_not_wait_and_a_timeout_leaves_the_queue() {
    with_two_processes(LONG, async |_, [(cluster, here), (_, there)]| {
        let guard = here.try_lock_async().await.unwrap().expect("it is free");
        assert!(
            here.try_lock_async().await.unwrap().is_none() && there.try_lock_async().await.unwrap().is_none()
        );
        for mutex in [&here, &there] {
            let late = mutex.lock_async_for(Duration::from_millis(50)).await;
            assert!(matches!(late, Err(Error::TimedOut)), "{late:?}");
        }
        until_queued(&cluster, 1).await;
        let there = tokio::task::spawn_blocking(move || {
            assert!(there.try_lock().unwrap().is_none());
            assert!(matches!(there.lock_for(Duration::from_millis(50)), Err(Error::TimedOut)));
            there
        });
        let there = there.await.unwrap();
        let thread = tokio::task::spawn_blocking(move || there.lock().unwrap().unlock().unwrap());
        until_queued(&cluster, 2).await;
        guard.unlock_async().await.unwrap();
        thread.await.unwrap();
    });
}

#[test]
fn a_process_has_one_session_whatever_it_holds_and_awaits() {
    with_two_processes(LONG, async |database, [(here, _), (there, _)]| {
        let (mut held, mut waiting) = (Vec::new(), Vec::new());
        for number in 0..50 {
            let name = format!("lock {number}");
            held.push(here.mutex(&name).unwrap().lock_async().await.unwrap());
            let mutex = there.mutex(&name).unwrap();
            waiting.push(tokio::spawn(async move { mutex.lock_async().await.unwrap() }));
        }
        until(async || there.queue("lock 49").await.unwrap().len() == 2).await;
        let counter = Counter::make(&database).await;
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waitword' AND datname = current_database()";
        // That of the schema ends a moment after it is done.
        until(async || number(&counter.client, sessions).await.unwrap() == 2).await;
        for guard in held {
            guard.unlock_async().await.unwrap();
        }
        for task in waiting {
            task.await.unwrap().unlock_async().await.unwrap();
        }
    });
}
