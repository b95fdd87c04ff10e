//! What is protected refuses whoever has lost the lock.

use waitword_postgres::tokio_postgres::{Client, Error};

use crate::counter::{Counter, is_refusal, number};
use crate::{until, with_database};

/// A step of a section, in a transaction of its own.
async fn step(client: &Client, fence: i64, statement: &str) -> Result<(), Error> {
    let transaction = format!("BEGIN; SELECT waitword.check('counter', {fence}); {statement}; COMMIT");
    let done = client.batch_execute(&transaction).await;
    if done.is_err() {
        client.batch_execute("ROLLBACK").await?;
    }
    done
}

/// Every interleaving of two sections, each of which reads in one transaction and writes in another.
#[test]
fn an_update_of_the_last_holder_is_never_lost_to_one_before_it() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        // Each bit says whose step is next.
        for (round, order) in (0..16_u32).filter(|order| order.count_ones() == 2).enumerate() {
            let before = number(&client, "SELECT value FROM counter").await.unwrap();
            let (mut read, mut written) = ([None; 2], Vec::new());
            for bit in 0..4 {
                let holder = (order >> bit & 1) as usize;
                let fence = (2 * round + holder + 1) as i64;
                match read[holder] {
                    None => {
                        let is_allowed = step(&client, fence, "SELECT").await.is_ok();
                        let value = number(&client, "SELECT value FROM counter").await.unwrap();
                        read[holder] = Some(is_allowed.then_some(value));
                    }
                    Some(None) => {}
                    Some(Some(value)) => {
                        let write = format!("UPDATE counter SET value = {}", value + 1);
                        if step(&client, fence, &write).await.is_ok() {
                            written.push(holder);
                        }
                    }
                }
            }
            assert_eq!(written.last(), Some(&1), "order {order:04b}: the last holder is not refused");
            let added = number(&client, "SELECT value FROM counter").await.unwrap() - before;
            assert_eq!(added, written.len() as i64, "order {order:04b}: an update was lost");
        }
    });
}

#[test]
fn a_protected_table_refuses_writes_without_a_check() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        let unchecked = "UPDATE counter SET value = 7";
        // Another lock's number is of no use, nor one that another transaction has shown.
        for before in
            ["SELECT 1", "BEGIN; SELECT waitword.check('other', 1)", "SELECT waitword.check('counter', 1)"]
        {
            client.batch_execute(before).await.unwrap();
            for write in
                [unchecked, "INSERT INTO counter VALUES (7)", "DELETE FROM counter", "TRUNCATE counter"]
            {
                client.batch_execute("SAVEPOINT write").await.unwrap_or_default();
                let error = client.batch_execute(write).await.unwrap_err();
                assert_eq!(error.code().unwrap().code(), "WW004", "{before}; {write}");
                client.batch_execute("ROLLBACK TO write").await.unwrap_or_default();
            }
            client.batch_execute("ROLLBACK").await.unwrap();
        }
        step(&client, 2, unchecked).await.unwrap();
        assert!(is_refusal(&step(&client, 1, unchecked).await.unwrap_err()));
        assert_eq!(number(&client, "SELECT value FROM counter").await.unwrap(), 7);
    });
}

#[test]
fn a_check_keeps_the_next_holder_waiting_until_its_transaction_ends() {
    with_database(async |database| {
        let [old, new] =
            [Counter::with_schema(&database).await, Counter::connect(&database.address()).await.unwrap()];
        old.client.batch_execute("BEGIN; SELECT waitword.check('counter', 1)").await.unwrap();
        let next = number(&new.client, "SELECT pg_backend_pid()::bigint").await.unwrap();
        let waits = format!("SELECT count(*) FROM pg_locks WHERE pid = {next} AND NOT granted");
        let next =
            tokio::spawn(
                async move { new.client.batch_execute("SELECT waitword.check('counter', 2)").await },
            );
        until(async || number(&old.client, &waits).await.unwrap() > 0).await;
        assert!(!next.is_finished(), "the old one could write after this");
        old.client.batch_execute("UPDATE counter SET value = 1; COMMIT").await.unwrap();
        next.await.unwrap().unwrap();
    });
}
