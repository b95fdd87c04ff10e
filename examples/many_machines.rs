//! One lock for the tasks and threads of several processes, on one machine or many: `cluster_mutex.rs`.
//!
//! ```text
//! cargo run -p waitword --example many_machines -- "host=db user=me dbname=test" 20
//! ```
//!
//! Start it as often as you like. Each process has 90 tasks and 10 threads; each of these adds 1 to the same counter of the database
//! 20 times, by reading it and writing what it has read plus 1. Two sections at a time would lose one of their counts. `plain` as the
//! third argument takes the database's lock without ours: each task and thread has a session of its own.
//!
//! The test `many_machines` of waitword starts a database and two such processes. docs/many-machines.md: when to take this.

#[path = "many_machines/cluster_mutex.rs"]
mod cluster_mutex;
#[path = "many_machines/session.rs"]
mod session;
#[path = "many_machines/table.rs"]
mod table;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, future, io, process, thread};

use cluster_mutex::ClusterMutex;
use session::Failed;
use table::Table;
use tokio::runtime::{self, Handle};
use tokio_postgres::Config;

const TASKS: usize = 90;
const THREADS: usize = 10;
const KEY: i64 = 1;
const TENURE: Duration = Duration::from_millis(10);

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [config, rounds, mode @ ..] = &arguments[..] else {
        return Err("give a connection string and a number of rounds; then perhaps `plain`".into());
    };
    let (config, rounds) = (config.parse()?, rounds.parse()?);
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match mode.first().map(String::as_str) {
        None => runtime.block_on(with_ours(config, rounds, u32::MAX, TASKS))?,
        // For the test: as a process whose holder, a task or a thread, hangs with the lock.
        Some("stop") => runtime.block_on(with_ours(config, rounds, 50, TASKS))?,
        Some("stop-thread") => runtime.block_on(with_ours(config, rounds, 50, 0))?,
        Some("plain") => runtime.block_on(without_ours(config, rounds))?,
        Some(mode) => return Err(format!("there is no mode {mode}").into()),
    }
    Ok(())
}

async fn with_ours(config: Config, rounds: u32, sections_left: u32, tasks: usize) -> Result<(), Failed> {
    let counter = Arc::new(Counter {
        table: Table::connect(&config).await?,
        mutex: ClusterMutex::new(config, KEY, TENURE),
        sections_left: AtomicU32::new(sections_left),
    });
    let start = started_together().await?;
    let task = |counter: Arc<Counter>| async move {
        for _ in 0..rounds {
            counter.count_async().await?;
        }
        Ok::<(), Failed>(())
    };
    let tasks: Vec<_> = (0..tasks).map(|_| tokio::spawn(task(Arc::clone(&counter)))).collect();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (counter, runtime) = (Arc::clone(&counter), Handle::current());
            thread::spawn(move || (0..rounds).try_for_each(|_| counter.count(&runtime)))
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    for thread in threads {
        thread.join().expect("a thread that does not panic")?;
    }
    report(start, rounds);
    Ok(())
}

/// The database's lock alone: each task and thread has a session of its own, and waits in the database.
async fn without_ours(config: Config, rounds: u32) -> Result<(), Failed> {
    let mut tables = Vec::new();
    for _ in 0..TASKS + THREADS {
        tables.push(Table::connect(&config).await?);
    }
    let start = started_together().await?;
    let task = |table: Table| async move {
        let take = format!("SELECT pg_advisory_lock({KEY}); SELECT nextval('waitword_fence')");
        let give_back = format!("SELECT pg_advisory_unlock({KEY})");
        for _ in 0..rounds {
            let fence = session::last_number(&table.client.simple_query(&take).await?);
            add_one(&table, fence).await?;
            table.client.simple_query(&give_back).await?;
        }
        Ok::<(), Failed>(())
    };
    let tasks: Vec<_> = tables.into_iter().map(|table| tokio::spawn(task(table))).collect();
    for task in tasks {
        task.await??;
    }
    report(start, rounds);
    Ok(())
}

struct Counter {
    mutex: Arc<ClusterMutex>,
    /// The process' session for the table, which the holder of the lock uses alone.
    table: Table,
    /// In the middle of the last one, the holder stops for ever.
    sections_left: AtomicU32,
}

impl Counter {
    async fn count_async(&self) -> Result<(), Failed> {
        let guard = self.mutex.lock_async().await?;
        guard.run(self.section(guard.fence()?)).await?;
        Ok(guard.unlock_async().await?)
    }

    /// By a thread.
    fn count(&self, runtime: &Handle) -> Result<(), Failed> {
        let guard = self.mutex.lock()?;
        runtime.block_on(guard.run(self.section(guard.fence()?)))?;
        Ok(guard.unlock()?)
    }

    async fn section(&self, fence: i64) -> Result<(), Failed> {
        if self.sections_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            println!("stopped in section {fence}");
            io::stdout().flush()?;
            future::pending::<()>().await;
        }
        add_one(&self.table, fence).await
    }
}

/// Two of these at a time would lose a count.
async fn add_one(table: &Table, fence: i64) -> Result<(), Failed> {
    let written = match table.read(fence).await? {
        Some(value) => table.write(value + 1, fence).await?,
        None => false,
    };
    if written { Ok(()) } else { Err(format!("the section with the number {fence} came too late").into()) }
}

/// The starter of several processes sends each a line when all are ready.
async fn started_together() -> Result<Instant, Failed> {
    println!("ready: press enter");
    tokio::task::spawn_blocking(|| io::stdin().read_line(&mut String::new())).await??;
    Ok(Instant::now())
}

fn report(start: Instant, rounds: u32) {
    let (took, counts) = (start.elapsed().as_secs_f64(), (TASKS + THREADS) as f64 * f64::from(rounds));
    println!("process {}: {counts} counts in {took:.2} s, {:.0} per second", process::id(), counts / took);
}
