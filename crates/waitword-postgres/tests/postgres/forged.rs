//! What a role without rights cannot do, and what a holder with a forged number cannot.

use std::time::Duration;

use tokio::time::sleep;

use crate::counter::{Counter, number};
use crate::{LONG, NAME, two_processes, until_queued, with_database, with_two_processes};

#[test]
fn a_grant_cannot_be_forged() {
    with_two_processes(LONG, async |database, [(cluster, here), (_, there)]| {
        let client = Counter::make(&database).await.client;
        let held = here.lock_async().await.unwrap();
        let waits = tokio::spawn(async move { there.lock_async().await.unwrap() });
        until_queued(&cluster, 2).await;
        // `NOTIFY` needs no right. What it says are the first guesses.
        for token in 0..5 {
            client.batch_execute(&format!("NOTIFY waitword_2, '{token} {}'", i64::MAX)).await.unwrap();
        }
        sleep(Duration::from_millis(300)).await;
        assert!(!waits.is_finished(), "two hold it");
        held.unlock_async().await.unwrap();
        waits.await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_number_that_was_never_granted_is_refused() {
    with_database(async |database| {
        let [(_, here), _] = two_processes(&database, LONG).await;
        let client = Counter::make(&database).await.client;
        let held = here.lock_async().await.unwrap();
        let fence = held.fence().unwrap();
        for forged in [fence + (1 << 20), i64::MAX] {
            let check = client.execute("SELECT waitword.check($1, $2)", &[&NAME, &forged]).await;
            assert_eq!(check.unwrap_err().code().unwrap().code(), "WW005");
        }
        client.execute("SELECT waitword.check($1, $2)", &[&NAME, &(fence + (1 << 20) - 1)]).await.unwrap();
        // A lock that this database does not know may be another's.
        client.execute("SELECT waitword.check('elsewhere', $1)", &[&i64::MAX]).await.unwrap();
    });
}

#[test]
fn a_role_can_use_locks_but_not_grant_them() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        let role = number(&client, "SELECT oid::bigint FROM pg_database WHERE datname = current_database()");
        let role = format!("user_{}", role.await.unwrap());
        let make = format!("CREATE ROLE {role}; GRANT USAGE ON SCHEMA waitword TO {role}; SET ROLE {role}");
        client.batch_execute(&make).await.unwrap();
        client.batch_execute("SELECT waitword.open(2); SELECT waitword.check('lock', 1)").await.unwrap();
        client.batch_execute("SELECT waitword.queue('lock')").await.unwrap();
        client
            .batch_execute("CREATE TEMP TABLE own (); SELECT waitword.protect('own', 'lock')")
            .await
            .unwrap();
        for internal in ["pass_on('lock')", "lives(1)", "own(1)"] {
            let refused = client.batch_execute(&format!("SELECT waitword.{internal}")).await.unwrap_err();
            assert_eq!(refused.code().unwrap().code(), "42501", "{internal}");
        }
    });
}

#[test]
fn partitions_and_children_of_a_protected_table_are_protected() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        let tables = "CREATE TABLE items (id int) PARTITION BY RANGE (id);
             CREATE TABLE several PARTITION OF items FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
             CREATE TABLE few PARTITION OF several FOR VALUES FROM (0) TO (5);
             CREATE TABLE parent (id int); CREATE TABLE child () INHERITS (parent);
             SELECT waitword.protect('items', 'stock'); SELECT waitword.protect('parent', 'stock')";
        client.batch_execute(tables).await.unwrap();
        for table in ["items", "several", "few", "parent", "child"] {
            let write = format!("INSERT INTO {table} VALUES (1)");
            let refused = client.batch_execute(&write).await.expect_err(table);
            assert_eq!(refused.code().unwrap().code(), "WW004", "{table}");
        }
    });
}
