//! Against a real PostgreSQL, which the tests start; skipped aloud where there is none. The long forms of the attacks are
//! `cargo test -p waitword-postgres --test postgres -- --ignored --nocapture --test-threads 1`.
#![cfg(unix)]

mod administrator;
mod attacks;
mod counter;
mod dropped;
mod fencing;
mod forged;
mod input;
mod leases;
mod locks;
mod losses;
mod patience;
mod pooler;
mod pools;
mod process;
mod proxy;
mod reconnecting;
mod server;
#[path = "../../../waitword/tests/common/skip.rs"]
mod skip;
mod worker;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use waitword_postgres::{Cluster, ClusterMutex, Config, migrate};

use server::{Database, LIMIT};

/// A tenure that no test sees the end of.
const LONG: Duration = Duration::from_secs(3600);

/// A name for the lock of all tests, each of which has a database of its own.
const NAME: &str = "counter";

/// Runs a test on a database of its own, without the schema. Without PostgreSQL there is nothing to run.
fn with_database(test: impl AsyncFnOnce(Database)) {
    let Some(database) = Database::new() else { return };
    block_on(test(database));
}

/// The same with the schema, and with the lock as [`two_processes`] have it.
fn with_two_processes(tenure: Duration, test: impl AsyncFnOnce(Database, [(Cluster, ClusterMutex); 2])) {
    with_database(async |database| {
        let both = two_processes(&database, tenure).await;
        test(database, both).await;
    });
}

/// A database with the schema, and the lock as two processes have it, which are called `here` and `there`.
async fn two_processes(database: &Database, tenure: Duration) -> [(Cluster, ClusterMutex); 2] {
    migrate(&database.config()).await.unwrap();
    let [here, there] = ["here", "there"].map(|process| database.config().process(process).tenure(tenure));
    [connect(here).await, connect(there).await]
}

async fn connect(config: Config) -> (Cluster, ClusterMutex) {
    let cluster = Cluster::connect(config).await.unwrap();
    let mutex = cluster.mutex(NAME).unwrap();
    (cluster, mutex)
}

/// Until so many processes hold and await the lock.
async fn until_queued(cluster: &Cluster, processes: usize) {
    until(async || cluster.queue(NAME).await.unwrap().len() == processes).await;
}

/// Until the end of what another does.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < LIMIT, "it never was so");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn block_on<F: Future>(future: F) -> F::Output {
    block_on_for(LIMIT, future)
}

/// On this thread, with all that it spawns: nothing else runs while a poll does, and a clock that it reads tells how late all of them are.
fn on_one_thread<F: Future>(future: F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, future).await }).expect("it hangs")
}

/// Fails loudly instead of hanging.
fn block_on_for<F: Future>(limit: Duration, future: F) -> F::Output {
    let in_time = async { tokio::time::timeout(limit, future).await };
    Runtime::new().unwrap().block_on(in_time).expect("it hangs")
}
