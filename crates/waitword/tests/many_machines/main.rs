//! The example `many_machines` against a real PostgreSQL: its lock, in two processes and in one. Skipped aloud where there is none.
#![cfg(unix)]
#![allow(dead_code, reason = "the example uses all of its files")]

#[path = "../../examples/many_machines/cluster_mutex.rs"]
mod cluster_mutex;
mod process;
mod server;
#[path = "../../examples/many_machines/session.rs"]
mod session;
#[path = "../common/skip.rs"]
mod skip;
#[path = "../../examples/many_machines/table.rs"]
mod table;

use std::future::Future;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use cluster_mutex::ClusterMutex;
use process::Process;
use server::Server;
use table::Table;
use tokio::runtime::Runtime;
use tokio_postgres::Config;

/// Waiters in the database's queue.
const WAITERS: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

/// Ends the sessions of holders and waiters.
const END: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory'";

const VALUE: &str = "SELECT value FROM counter";

/// A tenure that no test sees the end of.
const LONG: Duration = Duration::from_secs(3600);

#[test]
fn two_processes_lose_no_count() {
    let Some(server) = Server::start() else { return };
    for line in contest(&server, 20, "") {
        println!("{line}");
    }
    block_on(async {
        let table = Table::connect(&server.config()).await.unwrap();
        assert_eq!(number(&table, VALUE).await, 4000, "each section saw the one before it");
        assert_eq!(number(&table, "SELECT count(*) FROM log").await, 4000);
    });
}

#[test]
#[ignore = "measures: cargo test --release -p waitword --test many_machines -- --ignored --nocapture"]
fn figures() {
    let Some(server) = Server::start() else { return };
    for mode in ["", "plain", "", "plain", "", "plain"] {
        println!("{}:", if mode.is_empty() { "with ours in front" } else { "the database's alone" });
        for line in contest(&server, 50, mode) {
            println!("  {line}");
        }
        block_on(async {
            let table = Table::connect(&server.config()).await.unwrap();
            println!("  of the first 5000 counts, one process has {}", fewest_of_first_half(&table).await);
            table.client.batch_execute("TRUNCATE log").await.unwrap();
        });
    }
}

/// What two processes have to say that count at the same time.
fn contest(server: &Server, rounds: u32, mode: &str) -> [String; 2] {
    let mut processes = [(); 2].map(|()| Process::start(server, rounds, mode));
    processes.iter_mut().for_each(Process::go);
    processes.map(|mut process| {
        let line = process.line();
        process.ends_well();
        line
    })
}

#[test]
fn a_holders_process_that_is_killed_leaves_the_lock_to_the_other() {
    let Some(server) = Server::start() else { return };
    let [mut killed, mut survivor] = ["stop", ""].map(|mode| Process::start(&server, 20, mode));
    killed.go();
    let stopped = killed.line();
    let fence: i64 = stopped.strip_prefix("stopped in section ").unwrap().parse().unwrap();
    survivor.go();
    let before = block_on(async {
        let table = Table::connect(&server.config()).await.unwrap();
        until(&table, WAITERS, 1).await;
        number(&table, "SELECT count(*) FROM log").await
    });
    killed.kill();
    survivor.line();
    survivor.ends_well();
    block_on(async {
        let table = Table::connect(&server.config()).await.unwrap();
        assert_eq!(number(&table, "SELECT count(*) FROM log").await, before + 2000);
        assert_eq!(number(&table, VALUE).await, before + 2000);
        let after = format!("SELECT count(*) FROM log WHERE fence > {fence}");
        assert_eq!(number(&table, &after).await, 2000, "the survivor's numbers are above that of the killed");
    });
}

#[test]
fn a_release_is_handed_on_locally_before_the_database_sees_it() {
    let Some(server) = Server::start() else { return };
    block_on(async {
        let (table, [here, there]) = two_processes(&server, LONG).await;
        let first = here.lock_async().await.unwrap();
        let other = tokio::spawn(async move { there.lock_async().await.unwrap().fence().unwrap() });
        until(&table, WAITERS, 1).await;
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
    let Some(server) = Server::start() else { return };
    block_on(async {
        let tenure = Duration::from_millis(200);
        let (table, [here, there]) = two_processes(&server, tenure).await;
        let first = here.lock_async().await.unwrap();
        let over = Instant::now() + tenure;
        // At once: in front of the tenure's own task, which would give the lock back whatever the release does.
        let mut second = Box::pin(async move { here.lock_async().await.unwrap().fence().unwrap() });
        assert!(poll(second.as_mut()).is_pending());
        let second = tokio::spawn(second);
        let other = tokio::spawn(async move { there.lock_async().await.unwrap().fence().unwrap() });
        until(&table, WAITERS, 1).await;
        tokio::time::sleep_until(over.into()).await;
        first.unlock_async().await.unwrap();
        assert!(other.await.unwrap() < second.await.unwrap());
    });
}

#[test]
fn a_tenure_ends_though_nobody_polls_the_waiter_that_has_its_turn() {
    let Some(server) = Server::start() else { return };
    block_on(async {
        let (_, [here, there]) = two_processes(&server, Duration::from_millis(50)).await;
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
    let Some(server) = Server::start() else { return };
    block_on(async {
        let (table, [here, there]) = two_processes(&server, LONG).await;
        let guard = there.lock_async().await.unwrap();
        let mutex = Arc::clone(&here);
        let head = tokio::spawn(async move { drop(mutex.lock_async().await) });
        until(&table, WAITERS, 1).await;
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
        assert_eq!(number(&table, sessions).await, 3);
        // Its place in the local queue goes to the next, which enqueues in the database.
        let mut next = Box::pin(here.lock_async());
        assert!(poll(next.as_mut()).is_pending());
        head.abort();
        assert!(head.await.unwrap_err().is_cancelled());
        let next_waits = async {
            until(&table, sessions, 3).await;
            until(&table, WAITERS, 1).await;
        };
        tokio::select! {
            _ = &mut next => panic!("the lock is held"),
            () = next_waits => {}
        }
        drop(next);
        until(&table, WAITERS, 0).await;
        until(&table, sessions, 2).await;
        guard.unlock_async().await.unwrap();
        here.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_holder_is_told_that_its_connection_is_lost_and_cannot_write() {
    let Some(server) = Server::start() else { return };
    block_on(async {
        let (table, [here, there]) = two_processes(&server, LONG).await;
        let zombie = here.lock_async().await.unwrap();
        let old = zombie.fence().unwrap();
        let read = table.read(old).await.unwrap().unwrap();
        assert_eq!(number(&table, END).await, 1);
        let other = there.lock_async().await.unwrap();
        let new = other.fence().unwrap();
        assert_eq!(table.read(new).await.unwrap(), Some(read));
        assert!(!table.write(read + 1, old).await.unwrap(), "the database refuses an old number");
        assert!(table.write(read + 1, new).await.unwrap());
        other.unlock_async().await.unwrap();
        zombie.lost().await;
        assert!(zombie.fence().is_err());
        assert!(zombie.unlock_async().await.is_err());
        // A new session takes the lock.
        let again = here.lock_async().await.unwrap();
        assert!(again.fence().unwrap() > new);
        again.unlock_async().await.unwrap();
    });
}

/// Every interleaving of the two sections.
#[test]
fn an_update_of_the_last_holder_is_never_lost_to_one_before_it() {
    let Some(server) = Server::start() else { return };
    block_on(async {
        let table = Table::connect(&server.config()).await.unwrap();
        // Each bit says whose step is next.
        for (round, order) in (0..16_u32).filter(|order| order.count_ones() == 2).enumerate() {
            let before = number(&table, VALUE).await;
            let (mut read, mut written) = ([None; 2], Vec::new());
            let mut is_second_step = [false; 2];
            for step in 0..4 {
                let holder = (order >> step & 1) as usize;
                let fence = (2 * round + holder + 1) as i64;
                if !std::mem::replace(&mut is_second_step[holder], true) {
                    read[holder] = table.read(fence).await.unwrap();
                } else if let Some(value) = read[holder]
                    && table.write(value + 1, fence).await.unwrap()
                {
                    written.push(holder);
                }
            }
            assert_eq!(written.last(), Some(&1), "order {order:04b}: the last holder is not refused");
            let added = number(&table, VALUE).await - before;
            assert_eq!(added, written.len() as i64, "order {order:04b}: an update was lost");
        }
    });
}

#[test]
fn a_holder_that_hangs_in_a_section_is_told_be_it_a_task_or_a_thread() {
    let Some(server) = Server::start() else { return };
    for mode in ["stop", "stop-thread"] {
        let mut process = Process::start(&server, 20, mode);
        process.go();
        assert!(process.line().starts_with("stopped in section "));
        block_on(async {
            let table = Table::connect(&server.config()).await.unwrap();
            assert_eq!(number(&table, END).await, 1);
        });
        process.ends_badly();
    }
}

#[test]
fn a_server_that_says_nothing_keeps_nobody() {
    block_on(async {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut config = Config::new();
        config.host("127.0.0.1").port(silent.local_addr().unwrap().port()).user("tester");
        let mutex = ClusterMutex::new(config.connect_timeout(Duration::from_millis(200)).clone(), 1, LONG);
        let (first, second) = tokio::join!(mutex.lock_async(), mutex.lock_async());
        assert!(first.is_err() && second.is_err());
    });
}

#[test]
fn a_lock_that_is_handed_on_after_its_connection_is_lost_is_taken_anew() {
    let Some(server) = Server::start() else { return };
    block_on(async {
        let (table, [here, _]) = two_processes(&server, LONG).await;
        let guard = here.lock_async().await.unwrap();
        let mutex = Arc::clone(&here);
        let next = tokio::spawn(async move { mutex.lock_async().await.unwrap().fence().unwrap() });
        assert_eq!(number(&table, END).await, 1);
        guard.lost().await;
        assert!(guard.unlock_async().await.is_err());
        next.await.unwrap();
    });
}

/// The lock as two processes have it, and a session that looks on.
async fn two_processes(server: &Server, tenure: Duration) -> (Table, [Arc<ClusterMutex>; 2]) {
    let table = Table::connect(&server.config()).await.unwrap();
    (table, [(); 2].map(|()| ClusterMutex::new(server.config(), 1, tenure)))
}

async fn number(table: &Table, query: &str) -> i64 {
    table.client.query_one(query, &[]).await.unwrap().get(0)
}

async fn until(table: &Table, query: &str, expected: i64) {
    let start = Instant::now();
    while number(table, query).await != expected {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute: {query}");
    }
}

/// Which part of the first half of all counts that process has which has fewer of them.
async fn fewest_of_first_half(table: &Table) -> i64 {
    let first = "SELECT process FROM log ORDER BY fence LIMIT (SELECT count(*) / 2 FROM log)";
    let processes = "SELECT DISTINCT process FROM log";
    let counts = format!(
        "SELECT count(first.process) AS part FROM ({processes}) every LEFT JOIN ({first}) first USING (process)
         GROUP BY every.process"
    );
    number(table, &format!("SELECT min(part) FROM ({counts}) parts")).await
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Fails loudly instead of hanging.
fn block_on<F: Future>(future: F) -> F::Output {
    let in_time = async { tokio::time::timeout(Duration::from_secs(60), future).await };
    Runtime::new().unwrap().block_on(in_time).expect("waited for a minute")
}
