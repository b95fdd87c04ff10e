//! What observation costs where there is much to see: `cargo run --release -p waitword-observe --example scale`.
//!
//! How long a report takes of many locks with a holder and a waiter each, and whether threads start as fast as before when thousands
//! have ended with a guard that they forgot. Each time should grow as its count does.

use std::pin::Pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Instant;

use waitword::{Mutex, MutexGuard};

fn main() {
    waitword_observe::enable();
    println!("{:>9} {:>12} {:>12} {:>12}", "locks", "snapshot", "report", "its text");
    for locks in [10_000, 20_000, 40_000, 100_000] {
        of_locks(locks);
    }
    println!("\n{:>9} {:>12}", "threads", "their starts");
    for round in 1..=4 {
        let start = Instant::now();
        (0..2_500).for_each(|_| ends_with_a_guard());
        println!("{:>9} {:>9} ms", 2_500 * round, start.elapsed().as_millis());
    }
}

fn of_locks(count: usize) {
    let locks: Vec<Mutex<u64>> = (0..count).map(|_| Mutex::new(0)).collect();
    let held: Vec<MutexGuard<'_, u64>> = locks.iter().map(Mutex::lock).collect();
    let mut waits: Vec<Pin<Box<_>>> = locks.iter().map(|lock| Box::pin(lock.lock_async())).collect();
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let start = Instant::now();
    let snapshot = waitword_observe::snapshot();
    let snapshot_took = start.elapsed();
    assert_eq!(snapshot.waiters(), count);
    let start = Instant::now();
    let report = waitword_observe::report();
    let report_took = start.elapsed();
    let start = Instant::now();
    let text = report.to_string();
    let times = [snapshot_took, report_took, start.elapsed()].map(|took| took.as_millis());
    println!("{count:>9} {:>9} ms {:>9} ms {:>9} ms", times[0], times[1], times[2]);
    assert!(text.contains(&format!("{count} waiters at {count} locks")), "{text}");
    drop((waits, held));
}

fn ends_with_a_guard() {
    let lock: &'static Mutex<u64> = Box::leak(Box::new(Mutex::new(0)));
    thread::spawn(|| std::mem::forget(lock.lock())).join().expect("no panic");
}
