//! The article's asynchronous lock at work, in Rust: three threads block in `lock`, and three tasks on the main thread,
//! which must not block, use `lock_async`, `execute_locked` and `execute_locked_async`. All six increment one
//! plain counter. The twin in JavaScript is `examples/article/async-lock.js`.
//!
//! ```text
//! cargo run -p waitword --example async_lock
//! ```

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use waitword::{AsyncLock, forbid_blocking};

const THREADS: usize = 3;
const ROUNDS: u64 = 2_000;
/// How long one increment takes, and what a thread does between two: so that they meet, but may also pass.
const DAWDLE: Duration = Duration::from_micros(10);

#[derive(Default)]
struct Shared {
    lock: AsyncLock,
    counter: Counter,
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

/// What one thread or task did.
struct Row {
    who: String,
    how: &'static str,
    waited: u64,
}

fn lock_and_unlock(shared: &Shared, who: String) -> Row {
    let mut waited = 0;
    for _ in 0..ROUNDS {
        if !shared.lock.try_lock() {
            waited += 1;
            shared.lock.lock();
        }
        shared.counter.increment();
        shared.lock.unlock().expect("held by this thread");
        dawdle();
    }
    Row { who, how: "lock / unlock", waited }
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
    let mut waited = 0;
    for _ in 0..ROUNDS {
        count_pending(shared.lock.lock_async(), &mut waited).await;
        shared.counter.increment();
        shared.lock.unlock().expect("held by this task");
        tokio::task::yield_now().await;
    }
    Row { who: "task 1".into(), how: "lock_async / unlock", waited }
}

async fn execute_locked(shared: Arc<Shared>) -> Row {
    let mut waited = 0;
    for _ in 0..ROUNDS {
        count_pending(shared.lock.execute_locked(|| shared.counter.increment()), &mut waited).await;
        tokio::task::yield_now().await;
    }
    Row { who: "task 2".into(), how: "execute_locked", waited }
}

async fn execute_locked_async(shared: Arc<Shared>) -> Row {
    let mut waited = 0;
    for _ in 0..ROUNDS {
        let entered = AtomicBool::new(false);
        let mut locked = pin!(shared.lock.execute_locked_async(async || {
            entered.store(true, Ordering::Relaxed);
            shared.counter.increment();
            // The other tasks run meanwhile, and find the lock held.
            tokio::task::yield_now().await;
        }));
        if poll_once(locked.as_mut()).await.is_pending() {
            waited += u64::from(!entered.load(Ordering::Relaxed));
            locked.await;
        }
    }
    Row { who: "task 3".into(), how: "execute_locked_async", waited }
}

/// Counts `future` if it is not ready at once.
async fn count_pending<F: Future>(future: F, waited: &mut u64) -> F::Output {
    let mut future = pin!(future);
    match poll_once(future.as_mut()).await {
        Poll::Ready(output) => output,
        Poll::Pending => {
            *waited += 1;
            future.await
        }
    }
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
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
    println!("  {:<10}{:<22}{:>9}{:>9}", "who", "locks with", "entered", "waited");
    for Row { who, how, waited } in rows {
        println!("  {who:<10}{how:<22}{ROUNDS:>9}{waited:>9}");
    }
    let expected = rows.len() as u64 * ROUNDS;
    let outcome = if total == expected { "nothing lost" } else { "COUNTS LOST" };
    println!("\n  total {total} of {expected}: {outcome}");
    if total == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
