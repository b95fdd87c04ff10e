//! Compares sections of one statement, run by many tasks: `waitword-postgres`, and PostgreSQL's advisory lock with a session for each task, by
//! statements and by sqlx. Then compares uncontended leases: ours, and a table of the program's own.

#[path = "../../crates/waitword-postgres/tests/postgres/proxy.rs"]
#[allow(dead_code, reason = "the tests cut and stall connections, too")]
mod proxy;
#[path = "../../crates/waitword-postgres/tests/postgres/server.rs"]
#[allow(dead_code, reason = "the tests restart it, too")]
mod server;
#[path = "../../crates/waitword/tests/common/skip.rs"]
mod skip;

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::Executor;
use sqlx::postgres::{PgAdvisoryLock, PgConnectOptions, PgPoolOptions};
use waitword_postgres::tokio_postgres::{self, Client, NoTls};
use waitword_postgres::{Cluster, Config, Leases, migrate};

use proxy::Proxy;
use server::Database;

const NAME: &str = "counter";
/// The number of tasks in each of two processes.
const TASKS: u32 = 20;
const SECTION: &str = "SELECT 1";
const TIME: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() {
    let Some(database) = Database::new() else { return };
    migrate(&database.config()).await.unwrap();
    println!(
        "| round trip | tenure of 10 ms | without tenure | an advisory lock per task | sqlx's `PgAdvisoryLock` |"
    );
    println!("|---:|---:|---:|---:|---:|");
    for round_trip in [0, 1, 5].map(Duration::from_millis) {
        let proxy = Proxy::start(&database, round_trip).await;
        let address = database.address_at(proxy.port);
        let sections = [
            ours(&address, Duration::from_millis(10)).await,
            ours(&address, Duration::ZERO).await,
            plain(&address).await,
            of_sqlx(&address).await,
        ];
        let [tenure, strict, plain, sqlx] = sections.map(|sections| f64::from(sections) / TIME.as_secs_f64());
        println!("| {round_trip:?} | {tenure:.0} | {strict:.0} | {plain:.0} | {sqlx:.0} |");
    }
    println!();
    println!("| round trip | a client | deadpool | sqlx | a table by hand | a session's advisory lock |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for round_trip in [0, 1, 5].map(Duration::from_millis) {
        let proxy = Proxy::start(&database, round_trip).await;
        let address = database.address_at(proxy.port);
        let manager = deadpool_postgres::Manager::new(address.parse().unwrap(), NoTls);
        let pool = deadpool_postgres::Pool::builder(manager).max_size(1).build().unwrap();
        let of_sqlx = PgPoolOptions::new().max_connections(1).connect_with(options(&address)).await.unwrap();
        let held = [
            leased(Leases::new(client(&address).await)).await,
            leased(Leases::new(pool)).await,
            leased(Leases::new(of_sqlx)).await,
            statements(&address, BY_HAND).await,
            statements(&address, ["SELECT pg_advisory_lock(2)", "SELECT pg_advisory_unlock(2)"]).await,
        ];
        let held = held.map(|held| format!(" {:.0} |", f64::from(held) / TIME.as_secs_f64()));
        println!("| {round_trip:?} |{}", held.concat());
    }
}

/// A lease as people write it by hand: a row with an owner, an expiry and a number.
const BY_HAND: [&str; 2] = [
    "INSERT INTO by_hand AS l VALUES ('lease', 'me', now() + interval '30 s', 1)
     ON CONFLICT (name) DO UPDATE SET owner = 'me', expires = now() + interval '30 s', fence = l.fence + 1
     WHERE l.expires < now() RETURNING fence",
    "UPDATE by_hand SET expires = '-infinity' WHERE name = 'lease' AND owner = 'me'",
];

/// One task that acquires and releases a lease in a loop.
async fn leased(leases: Leases) -> u32 {
    let (end, mut held) = (Instant::now() + TIME, 0);
    while Instant::now() < end {
        leases.lease_async("lease", Duration::from_secs(30)).await.unwrap().release_async().await.unwrap();
        held += 1;
    }
    held
}

async fn statements(address: &str, [acquire, release]: [&str; 2]) -> u32 {
    let client = client(address).await;
    let table = "CREATE TABLE IF NOT EXISTS by_hand (name text PRIMARY KEY, owner text, expires timestamptz, fence bigint)";
    client.batch_execute(table).await.unwrap();
    let (end, mut held) = (Instant::now() + TIME, 0);
    while Instant::now() < end {
        assert_eq!(client.query_typed(acquire, &[]).await.unwrap().len(), 1);
        client.query_typed(release, &[]).await.unwrap();
        held += 1;
    }
    held
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

/// As in the documentation of sqlx: a connection of a pool for each section.
async fn of_sqlx(address: &str) -> u32 {
    let options = options(address);
    let mut tasks = Vec::new();
    let end = Instant::now() + TIME;
    for _ in 0..2 {
        let pool = PgPoolOptions::new().max_connections(TASKS).connect_with(options.clone()).await.unwrap();
        let lock = Arc::new(PgAdvisoryLock::new(NAME));
        for _ in 0..TASKS {
            let (pool, lock) = (pool.clone(), Arc::clone(&lock));
            tasks.push(tokio::spawn(async move {
                let mut sections = 0;
                while Instant::now() < end {
                    let mut guard = lock.acquire(pool.acquire().await.unwrap()).await.unwrap();
                    guard.execute(SECTION).await.unwrap();
                    guard.release_now().await.unwrap();
                    sections += 1;
                }
                sections
            }));
        }
    }
    sum(tasks).await
}

fn options(address: &str) -> PgConnectOptions {
    let config: tokio_postgres::Config = address.parse().unwrap();
    PgConnectOptions::new_without_pgpass()
        .host("localhost")
        .port(config.get_ports()[0])
        .username(config.get_user().unwrap())
        .database(config.get_dbname().unwrap())
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
