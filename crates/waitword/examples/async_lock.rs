//! The article's asynchronous lock at work, in Rust: three threads block in `lock`, and three tasks on the main thread,
//! which must not block, use `lock_async`, `execute_locked` and `execute_locked_async`. All six increment one
//! plain counter. The twin in JavaScript is `examples/article/async-lock.js`.
//!
//! ```text
//! cargo run -p waitword --example async_lock
//! ```

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use waitword::forbid_blocking;
use waitword::word::AsyncLock;

const THREADS: usize = 3;
const ROUNDS: u64 = 2_000;
/// How long one increment takes, and what a thread does between two: so that they meet, but may also pass.
const DAWDLE: Duration = Duration::from_micros(10);

#[derive(Default)]
struct Shared {
    lock: AsyncLock,
    counter: Counter,
}

impl Shared {
    /// 1 if the lock is held at this moment.
    fn held_now(&self) -> u64 {
        self.lock.is_locked().into()
    }
}

fn main() -> ExitCode {
    let shared = Arc::new(Shared::default());
    // None may finish before the others have begun.
    let gate = Arc::new(Barrier::new(THREADS + 1));

    let threads: Vec<_> = (1..=THREADS)
        .map(|number| {
            let (shared, gate) = (Arc::clone(&shared), Arc::clone(&gate));
            thread::spawn(move || {
                gate.wait();
                lock_and_unlock(&shared, format!("thread {number}"))
            })
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime without I/O");
    gate.wait();
    let mut rows = runtime.block_on(run_tasks(&shared));
    rows.extend(threads.into_iter().map(|thread| thread.join().expect("a thread that does not panic")));

    report(&rows, shared.counter.get())
}

/// What one thread or task did, and how often it found the lock held.
struct Row {
    who: String,
    how: &'static str,
    held: u64,
}

fn lock_and_unlock(shared: &Shared, who: String) -> Row {
    let mut held = 0;
    for _ in 0..ROUNDS {
        held += shared.held_now();
        shared.lock.lock();
        shared.counter.increment();
        shared.lock.unlock().expect("held by this thread");
        dawdle();
    }
    Row { who, how: "lock / unlock", held }
}

/// Three tasks on this thread. A blocking wait of one would stop them all, so it is forbidden.
async fn run_tasks(shared: &Arc<Shared>) -> Vec<Row> {
    let _must_not_block = forbid_blocking();
    let one = tokio::spawn(lock_async_and_unlock(Arc::clone(shared)));
    let two = tokio::spawn(execute_locked(Arc::clone(shared)));
    let three = tokio::spawn(execute_locked_async(Arc::clone(shared)));
    let mut rows = Vec::new();
    for task in [one, two, three] {
        rows.push(task.await.expect("a task that does not panic"));
    }
    rows
}

async fn lock_async_and_unlock(shared: Arc<Shared>) -> Row {
    let mut held = 0;
    for _ in 0..ROUNDS {
        held += shared.held_now();
        shared.lock.lock_async().await;
        shared.counter.increment();
        shared.lock.unlock().expect("held by this task");
        tokio::task::yield_now().await;
    }
    Row { who: "task 1".into(), how: "lock_async / unlock", held }
}

async fn execute_locked(shared: Arc<Shared>) -> Row {
    let mut held = 0;
    for _ in 0..ROUNDS {
        held += shared.held_now();
        shared.lock.execute_locked(|| shared.counter.increment()).await;
        tokio::task::yield_now().await;
    }
    Row { who: "task 2".into(), how: "execute_locked", held }
}

async fn execute_locked_async(shared: Arc<Shared>) -> Row {
    let mut held = 0;
    for _ in 0..ROUNDS {
        held += shared.held_now();
        let increment = async || {
            shared.counter.increment();
            // The other tasks run meanwhile, and find the lock held.
            tokio::task::yield_now().await;
        };
        shared.lock.execute_locked_async(increment).await;
    }
    Row { who: "task 3".into(), how: "execute_locked_async", held }
}

/// Plain on purpose: read, dawdle, write. With two in here at once, one of the two counts would be lost. (The type is
/// atomic because Rust has no plain memory that threads may write; what counts is that the increment is not.)
#[derive(Default)]
struct Counter(AtomicU64);

impl Counter {
    fn increment(&self) {
        let seen = self.get();
        dawdle();
        self.0.store(seen + 1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn dawdle() {
    let start = Instant::now();
    while start.elapsed() < DAWDLE {}
}

fn report(rows: &[Row], total: u64) -> ExitCode {
    println!("One AsyncLock, one plain counter, {} threads and tasks\n", rows.len());
    println!("  {:<10}{:<22}{:>9}{:>12}", "who", "locks with", "entered", "found held");
    for Row { who, how, held } in rows {
        println!("  {who:<10}{how:<22}{ROUNDS:>9}{held:>12}");
    }
    let expected = rows.len() as u64 * ROUNDS;
    let outcome = if total == expected { "nothing lost" } else { "COUNTS LOST" };
    println!("\n  total {total} of {expected}: {outcome}");
    if total == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
