//! The reports on a page: the page's clock, and locks for which the page does not sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use waitword::Mutex;
use waitword_observe::internals::{start_blame, start_holders, stop_blame, stop_holders};
use waitword_observe::{TraceKind, blame, snapshot, traced};

use crate::tools::{join, until, waiters_of_mutexes, workers};

/// The page reads holders, delays and a timeline again and again, while workers write them. What it held is in all three.
pub(crate) async fn the_page_reads_what_workers_write(_: u32) {
    const WORKERS: u32 = 2;
    start_holders();
    start_blame();
    let tracing = traced(true);
    let lock = Arc::new((Mutex::new(0), AtomicBool::new(false)));
    let held = lock.0.lock_async().await;
    let word = {
        let holders = snapshot().holders.expect("the switch is on");
        let is_mine = |site: &waitword_observe::Site| site.file == file!();
        let mine = holders.iter().find(|holder| holder.site.as_ref().is_some_and(is_mine));
        mine.expect("the page holds the lock").lock.0
    };
    let theirs = Arc::clone(&lock);
    let workers = workers(WORKERS, move |_| {
        while !theirs.1.load(Ordering::SeqCst) {
            *theirs.0.lock() += 1;
        }
    });
    until(|| waiters_of_mutexes() == WORKERS as usize).await;
    drop(held);
    for _ in 0..100 {
        assert!(snapshot().holders.is_some());
        *lock.0.lock_async().await += 1;
        drop(tracing.so_far());
    }
    lock.1.store(true, Ordering::SeqCst);
    let events = tracing.so_far().events;
    join(workers).await;
    stop_holders();
    stop_blame();
    drop(tracing);
    assert!(events.iter().any(|event| event.lock.address.0 == word && event.kind == TraceKind::Acquired));
    let is_of_lock =
        |row: &&waitword_observe::Blame| row.lock.as_ref().is_some_and(|lock| lock.address.0 == word);
    assert!(blame().iter().find(is_of_lock).is_some_and(|row| row.releases > 0), "{:?}", blame());
    assert!(snapshot().holders.is_none());
}
