//! The tasks and threads of several processes, on one machine or many, share one mutex of `waitword-postgres`.
//!
//! ```text
//! cargo run -p waitword-postgres --example many_machines -- "host=db user=me dbname=test" 20
//! ```
//!
//! Start it in several terminals. Each process has 90 tasks and 10 threads. Each of these adds 1 to one counter in the database 20 times, by a read and a
//! write. Two sections that ran at the same time would lose a count.
//!
//! docs/many-machines.md: when to use it.

use std::sync::Arc;
use std::time::Instant;
use std::{env, process, thread};

use tokio::runtime::Handle;
use waitword::Mutex;
use waitword_postgres::tokio_postgres::{self, Client, NoTls};
use waitword_postgres::{Cluster, ClusterGuard, ClusterMutex, Config, migrate};

type Failed = Box<dyn std::error::Error + Send + Sync>;

const TASKS: usize = 90;
const THREADS: usize = 10;

/// Creates the table, in one of the processes. `protect` refuses writes without a check of the fencing number.
const TABLE: &str = "DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(0);
    IF to_regclass('counter') IS NULL THEN
        CREATE TABLE counter AS SELECT 0::bigint AS value;
        PERFORM waitword.protect('counter', 'counter');
    END IF;
END $$";

#[tokio::main(worker_threads = 2)]
async fn main() {
    if let Err(error) = count().await {
        eprintln!("{error}");
        process::exit(1);
    }
}

async fn count() -> Result<(), Failed> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, rounds] = &arguments[..] else {
        return Err("missing arguments: give the address of a database and a number of rounds".into());
    };
    let config = address.parse::<Config>()?;
    let rounds: u32 = rounds.parse().map_err(|_| format!("'{rounds}' is not a number of rounds"))?;
    migrate(&config).await?;
    let cluster = Cluster::connect(config).await?;
    let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute(TABLE).await?;
    let counter = Arc::new(Counter { mutex: cluster.mutex("counter")?, client: Mutex::new(client) });

    let start = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let counter = Arc::clone(&counter);
            tokio::spawn(async move {
                for _ in 0..rounds {
                    let guard = counter.mutex.lock_async().await?;
                    guard.run(counter.add_one(&guard)).await??;
                    guard.unlock_async().await?;
                }
                Ok::<(), Failed>(())
            })
        })
        .collect();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (counter, runtime) = (Arc::clone(&counter), Handle::current());
            thread::spawn(move || {
                for _ in 0..rounds {
                    let guard = counter.mutex.lock()?;
                    runtime.block_on(guard.run(counter.add_one(&guard)))??;
                    guard.unlock()?;
                }
                Ok::<(), Failed>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    for thread in threads {
        thread.join().expect("a thread that does not panic")?;
    }
    let (took, counts) = (start.elapsed().as_secs_f64(), (TASKS + THREADS) as f64 * f64::from(rounds));
    println!("{counts} counts in {took:.2} s, {:.0} per second", counts / took);
    Ok(())
}

struct Counter {
    mutex: ClusterMutex,
    /// The process' session for the table, which the holder of the lock uses alone.
    client: Mutex<Client>,
}

impl Counter {
    /// A section that is dropped rolls its transaction back.
    async fn add_one(&self, guard: &ClusterGuard) -> Result<(), Failed> {
        let mut client = self.client.lock_async().await;
        let section = client.transaction().await?;
        section.execute("SELECT waitword.check('counter', $1)", &[&guard.fence()?]).await?;
        let value: i64 = section.query_one("SELECT value FROM counter", &[]).await?.get(0);
        section.execute("UPDATE counter SET value = $1", &[&(value + 1)]).await?;
        Ok(section.commit().await?)
    }
}
