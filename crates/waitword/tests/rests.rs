//! A blocked thread sleeps until it can have the lock: nothing wakes it in vain. In a process of its own, with one watchdog.

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::until;
use waitword::{RwLock, Semaphore, observe};
use waitword_core::is_watchdog_running;

/// The watchdog rests when it has nothing more to do; while it wakes somebody in each pass it never does.
fn the_watchdog_rests() {
    let begin = Instant::now();
    until(|| !is_watchdog_running() || begin.elapsed() > Duration::from_secs(20));
    assert!(!is_watchdog_running(), "it goes on for ever");
}

fn waiters() -> usize {
    observe::snapshot().len()
}

/// The head of each queue was signalled, and there is too little for it, but enough for the thread behind it. A task would have to show that it
/// is polled; a thread runs as soon as there is enough.
#[test]
fn a_thread_that_cannot_have_the_lock_is_not_woken_for_ever() {
    let lock = RwLock::new(());
    let read = lock.read();
    thread::scope(|scope| {
        scope.spawn(|| drop(lock.write()));
        until(|| waiters() == 1);
        // Readers pass the writer until it was signalled, and has found the reader.
        until(|| lock.try_read().is_none());
        scope.spawn(|| drop(lock.read()));
        until(|| waiters() == 2);
        the_watchdog_rests();
        drop(read);
    });

    let permits = Semaphore::new(0);
    thread::scope(|scope| {
        scope.spawn(|| drop(permits.acquire_many(3)));
        until(|| waiters() == 1);
        permits.add_permits(2);
        // Reserved, once it has found too few.
        until(|| permits.try_acquire().is_err());
        scope.spawn(|| drop(permits.acquire()));
        until(|| waiters() == 2);
        the_watchdog_rests();
        permits.add_permits(1);
    });
}
