//! What somebody does by hand to the rows of the schema, and to the settings of roles and databases.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use waitword_postgres::{Cluster, Error, migrate};

use crate::counter::{Counter, number};
use crate::{
    LIMIT, LONG, NAME, connect, two_processes, until, until_queued, with_database, with_two_processes,
};

/// Of the lock `l`.
const BY_HAND: [&str; 4] = [
    "DELETE FROM waitword.locks WHERE name = 'l'",
    "UPDATE waitword.locks SET session = NULL WHERE name = 'l'",
    "DELETE FROM waitword.locks WHERE name = 'l'; DELETE FROM waitword.waiters WHERE name = 'l'",
    "UPDATE waitword.locks SET token = token + 1 WHERE name = 'l'; DELETE FROM waitword.waiters WHERE name = 'l';
     UPDATE waitword.locks SET session = 1000000 WHERE name = 'l'",
];

#[test]
fn a_lock_that_is_taken_away_by_hand_goes_to_the_waiter_and_its_holder_is_told() {
    with_two_processes(LONG, async |database, [(here, _), (there, _)]| {
        let client = Counter::make(&database).await.client;
        let mut locks = Vec::new();
        for (lock, by_hand) in BY_HAND.iter().enumerate() {
            let name = format!("lock {lock}");
            let holder = here.mutex(&name).unwrap().lock_async().await.unwrap();
            let mutex = there.mutex(&name).unwrap();
            let waiter = tokio::spawn(async move { mutex.lock_async().await.unwrap() });
            until(async || here.queue(&name).await.unwrap().len() == 2).await;
            // Its numbers do not begin again.
            let fence = holder.fence().unwrap();
            client.execute("SELECT waitword.check($1, $2)", &[&name, &fence]).await.unwrap();
            locks.push((holder, waiter, by_hand.replace("'l'", &format!("'{name}'"))));
        }
        for (_, _, by_hand) in &locks {
            client.batch_execute(by_hand).await.unwrap();
        }
        for (holder, waiter, by_hand) in locks {
            let guard = timeout(LIMIT / 2, waiter).await.expect(&by_hand).unwrap();
            timeout(LIMIT / 2, holder.lost()).await.expect(&by_hand);
            let (name, fence) = (guard.name().to_owned(), guard.fence().unwrap());
            client.execute("SELECT waitword.check($1, $2)", &[&name, &fence]).await.expect(&by_hand);
            assert!(holder.fence().is_err() && holder.unlock_async().await.is_err(), "{by_hand}");
            guard.unlock_async().await.unwrap();
        }
    });
}

#[test]
fn a_waiter_whose_row_is_deleted_enqueues_again() {
    with_two_processes(LONG, async |database, [(cluster, here), (_, there)]| {
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        let waiter = tokio::spawn(async move { there.lock_async().await.unwrap().unlock_async().await });
        until_queued(&cluster, 2).await;
        client.batch_execute("TRUNCATE waitword.waiters").await.unwrap();
        until_queued(&cluster, 2).await;
        guard.unlock_async().await.unwrap();
        waiter.await.unwrap().unwrap();
    });
}

#[test]
fn a_schema_that_is_dropped_is_told_to_holders_and_waiters() {
    with_two_processes(LONG, async |database, [(cluster, here), (_, there)]| {
        let client = Counter::make(&database).await.client;
        let guard = here.lock_async().await.unwrap();
        let waiter = tokio::spawn(async move { there.lock_async().await.map(drop).unwrap_err() });
        until_queued(&cluster, 2).await;
        client.batch_execute("DROP SCHEMA waitword CASCADE").await.unwrap();
        let error = waiter.await.unwrap();
        assert!(matches!(error, Error::Schema(_)), "{error}");
        guard.lost().await;
        drop(guard);
        assert!(matches!(here.lock_async().await.map(drop), Err(Error::Schema(_))));
    });
}

#[test]
fn a_row_that_somebody_keeps_locked_costs_no_other_lock() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        let limit = Duration::from_millis(800);
        let (cluster, here) = connect(database.config().answer_limit(limit)).await;
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
        loop {
            // Before anything else answers, a database that is slow may end the session by right: anew then.
            let held = cluster.mutex("other").unwrap().lock_async().await.unwrap();
            client
                .batch_execute("BEGIN; SELECT FROM waitword.locks WHERE name = 'counter' FOR UPDATE")
                .await
                .unwrap();
            let mutex = here.clone();
            let waiter = tokio::spawn(async move { mutex.lock_async().await.unwrap().unlock_async().await });
            sleep(2 * limit).await;
            let is_held = held.fence().is_ok();
            assert!(!waiter.is_finished());
            client.batch_execute("COMMIT").await.unwrap();
            let unlocked = waiter.await.unwrap();
            if is_held {
                unlocked.unwrap();
                break held.unlock_async().await.unwrap();
            }
        }
    });
}

/// What an administrator may have set for all sessions of a database.
const SETTINGS: [&str; 10] = [
    "default_transaction_read_only = on",
    "default_transaction_isolation = 'serializable'",
    "statement_timeout = '300ms'",
    "lock_timeout = '100ms'",
    "idle_session_timeout = '100ms'",
    "idle_in_transaction_session_timeout = '1ms'",
    "search_path = 'nowhere'",
    "DateStyle = 'German'",
    "IntervalStyle = 'sql_standard'",
    "plpgsql.variable_conflict = 'use_column'",
];

#[test]
fn settings_of_the_database_are_those_of_others() {
    with_database(async |database| {
        let client = Counter::connect(&database.address()).await.unwrap().client;
        for setting in SETTINGS {
            let name = "SELECT current_database()::text";
            let name: String = client.query_one(name, &[]).await.unwrap().get(0);
            client.batch_execute(&format!("ALTER DATABASE {name} SET {setting}")).await.unwrap();
        }
        // Longer than its timeouts.
        client.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(2002876276, 0)").await.unwrap();
        let config = database.config();
        let migrates = tokio::spawn(async move { migrate(&config).await });
        let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        until(async || number(&client, waits).await.unwrap() == 1).await;
        sleep(Duration::from_millis(400)).await;
        client.batch_execute("COMMIT").await.unwrap();
        migrates.await.unwrap().unwrap();
        let [(cluster, here), (_, there)] = two_processes(&database, LONG).await;
        let guard = here.lock_async().await.unwrap();
        let waiter = tokio::spawn(async move { there.lock_async().await.unwrap().unlock_async().await });
        until_queued(&cluster, 2).await;
        sleep(Duration::from_millis(300)).await;
        guard.unlock_async().await.unwrap();
        waiter.await.unwrap().unwrap();
        let writable = format!("{} target_session_attrs=read-write", database.address());
        let cluster = Cluster::connect(writable.parse().unwrap()).await.unwrap();
        cluster.lease_async(NAME, LONG).await.unwrap().release_async().await.unwrap();
    });
}
