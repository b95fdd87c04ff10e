//! Sections of one statement, of many tasks, beside PostgreSQL's advisory lock with a session for each task.

use std::sync::Arc;
use std::time::{Duration, Instant};

use waitword_postgres::tokio_postgres::{self, Client, NoTls};
use waitword_postgres::{Cluster, Config, migrate};

use crate::proxy::Proxy;
use crate::server::Database;
use crate::{LIMIT, NAME, block_on_for};

/// Of two processes each.
const TASKS: u32 = 20;
const SECTION: &str = "SELECT 1";
const TIME: Duration = Duration::from_secs(5);

#[test]
#[ignore = "measures: cargo test --release -p waitword-postgres --test postgres figures -- --ignored --nocapture"]
fn figures() {
    let Some(database) = Database::new() else { return };
    for round_trip in [0, 1, 5].map(Duration::from_millis) {
        block_on_for(LIMIT, async {
            migrate(&database.config()).await.unwrap();
            let proxy = Proxy::start(&database, round_trip).await;
            let address = database.address_at(proxy.port);
            let sections = [
                ours(&address, Duration::from_millis(10)).await,
                ours(&address, Duration::ZERO).await,
                plain(&address).await,
            ];
            let [tenure, strict, plain] = sections.map(|sections| f64::from(sections) / TIME.as_secs_f64());
            println!(
                "round trip {round_trip:?}: sections per second {tenure:.0} with a tenure of 10 ms, {strict:.0} without, \
                 {plain:.0} with an advisory lock and a session per task"
            );
        });
    }
}

async fn ours(address: &str, tenure: Duration) -> u32 {
    let end = Instant::now() + TIME;
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let client = Arc::new(client(address).await);
        let config: Config = address.parse().unwrap();
        let cluster = Cluster::connect(config.tenure(tenure)).await.unwrap();
        let mutex = cluster.mutex(NAME).unwrap();
        for _ in 0..TASKS {
            let (mutex, client) = (mutex.clone(), Arc::clone(&client));
            tasks.push(tokio::spawn(async move {
                let mut sections = 0;
                while Instant::now() < end {
                    let guard = mutex.lock_async().await.unwrap();
                    client.batch_execute(SECTION).await.unwrap();
                    guard.unlock_async().await.unwrap();
                    sections += 1;
                }
                sections
            }));
        }
    }
    sum(tasks).await
}

async fn plain(address: &str) -> u32 {
    let mut clients = Vec::new();
    for _ in 0..2 * TASKS {
        clients.push(client(address).await);
    }
    let end = Instant::now() + TIME;
    let task = |client: Client| async move {
        let mut sections = 0;
        while Instant::now() < end {
            client.batch_execute("SELECT pg_advisory_lock(1)").await.unwrap();
            client.batch_execute(SECTION).await.unwrap();
            client.batch_execute("SELECT pg_advisory_unlock(1)").await.unwrap();
            sections += 1;
        }
        sections
    };
    sum(clients.into_iter().map(|client| tokio::spawn(task(client))).collect()).await
}

async fn client(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn sum(tasks: Vec<tokio::task::JoinHandle<u32>>) -> u32 {
    let mut sections = 0;
    for task in tasks {
        sections += task.await.unwrap();
    }
    sections
}
