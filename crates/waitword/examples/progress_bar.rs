//! Tasks work, a thread draws how far they are, and another task waits until they are far enough: all on one `Event`.
//!
//! ```text
//! cargo run -p waitword --example progress_bar
//! ```
//!
//! The event says that something has changed, and the counter beside it says what. The waiters read the counter, each in its
//! way: the thread draws whatever it finds, and the task goes on waiting until there is enough.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use waitword::Event;

const WORKERS: usize = 4;
/// The primes below 200,000 are counted, in pieces of a thousand numbers.
const PRIMES: usize = 17_984;
const PIECE: usize = 1_000;
const PIECES: usize = 200;
/// How long the bar may be behind. See [`draw`].
const REDRAW: Duration = Duration::from_millis(100);
const WIDTH: usize = 40;

fn main() -> ExitCode {
    let progress = Arc::new(Progress::default());
    let bar = thread::spawn({
        let progress = Arc::clone(&progress);
        move || draw(&progress)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime without I/O");
    let (half, primes) = runtime.block_on(work_and_watch(&progress));
    let last = bar.join().expect("a thread that does not panic");

    let done = progress.done();
    let right = done == PIECES && last == PIECES && half >= PIECES / 2 && primes == PRIMES;
    println!("\n  a task was woken at the half after {half} of {PIECES} pieces");
    println!(
        "  {done} of {PIECES} pieces, {primes} primes: {}",
        if right { "all done" } else { "SOMETHING IS MISSING" }
    );
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How much is done, and that it has become more.
#[derive(Default)]
struct Progress {
    done: AtomicUsize,
    changed: Event,
}

impl Progress {
    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// One more piece is done. What was done before is seen by whom this wakes.
    fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits until so many pieces are done, and is ready with how many these are by then.
    async fn reaches(&self, goal: usize) -> usize {
        loop {
            // First the future, then the look: a change that comes between the two wakes the future.
            let changed = self.changed.wait_async();
            let done = self.done();
            if done >= goal {
                return done;
            }
            changed.await;
        }
    }
}

/// The tasks: some that work, and one that watches. Ready with what was seen at the half, and with how many primes there are.
async fn work_and_watch(progress: &Arc<Progress>) -> (usize, usize) {
    let watcher = tokio::spawn({
        let progress = Arc::clone(progress);
        async move { progress.reaches(PIECES / 2).await }
    });
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let progress = Arc::clone(progress);
            tokio::spawn(async move {
                let mut primes = 0;
                for piece in (worker..PIECES).step_by(WORKERS) {
                    primes += (piece * PIECE..(piece + 1) * PIECE).filter(is_prime).count();
                    progress.step();
                    tokio::task::yield_now().await;
                }
                primes
            })
        })
        .collect();
    let mut primes = 0;
    for worker in workers {
        primes += worker.await.expect("a task that does not panic");
    }
    (watcher.await.expect("a task that does not panic"), primes)
}

fn is_prime(number: &usize) -> bool {
    *number > 1
        && (2..).take_while(|factor| factor * factor <= *number).all(|factor| !number.is_multiple_of(factor))
}

/// The thread. Draws until all is done, a line for each tenth, and returns what it has drawn last.
///
/// It looks first and waits then, so a change between the two does not wake it. It is not for long: the wait ends when the bar
/// is to be drawn anew anyway.
fn draw(progress: &Progress) -> usize {
    let mut drawn = None;
    loop {
        let done = progress.done();
        let tenths = done * 10 / PIECES;
        if drawn.replace(tenths) != Some(tenths) {
            println!("  [{:<WIDTH$}] {:>3} %", "#".repeat(done * WIDTH / PIECES), done * 100 / PIECES);
        }
        if done == PIECES {
            return done;
        }
        // Whether something has changed or the time was up: the counter says how far it is.
        let _ = progress.changed.wait_for(REDRAW);
    }
}
