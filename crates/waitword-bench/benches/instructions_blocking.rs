//! How many instructions the short paths of blocking threads take, under valgrind: `cargo xtask instructions`.
//!
//! A program of its own beside `instructions.rs`: what else a program calls decides what is inlined, and so the counts.
#![allow(missing_docs, reason = "the macros make public functions")]

use std::hint::black_box;
use std::sync::atomic::AtomicI32;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use waitword::{Condvar, Event, Mutex, RwLock, Semaphore};
use waitword_core::{Interrupt, wait_interruptible};

static WORD: AtomicI32 = AtomicI32::new(0);

/// Instructions of each path, as counted last.
struct Counted {
    wait_enqueue_leave: u64,
    mutex_lock_unlock: u64,
    rwlock_read_release: u64,
    rwlock_write_release: u64,
    semaphore_acquire_release: u64,
    condvar_notify: u64,
    event_notify: u64,
}

const COUNTED: Counted = Counted {
    wait_enqueue_leave: 723,
    mutex_lock_unlock: 15,
    rwlock_read_release: 19,
    rwlock_write_release: 16,
    semaphore_acquire_release: 24,
    condvar_notify: 9,
    event_notify: 17,
};

/// With five percent to spare.
fn at_most(counted: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, counted + counted / 20)]).fail_fast(false);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

/// Raised, so that a wait returns as soon as it is queued. What is lazy of a blocking wait is initialised.
fn raised_interrupt() -> Interrupt {
    let interrupt = Interrupt::for_current_thread();
    interrupt.raise();
    enqueue_and_leave(&interrupt);
    interrupt
}

fn enqueue_and_leave(interrupt: &Interrupt) {
    assert!(wait_interruptible(black_box(&WORD), 0, None, interrupt).is_err());
}

#[library_benchmark(config = at_most(COUNTED.wait_enqueue_leave))]
#[bench::alone(raised_interrupt())]
fn wait_enqueue_leave(interrupt: Interrupt) -> Interrupt {
    enqueue_and_leave(&interrupt);
    interrupt
}

/// Never dropped: what the compiler keeps for the drop of a lock would count, too.
fn leaked<L>(lock: L) -> &'static L {
    Box::leak(Box::new(lock))
}

#[library_benchmark(config = at_most(COUNTED.mutex_lock_unlock))]
#[bench::uncontended(leaked(Mutex::new(())))]
fn mutex_lock_unlock(mutex: &'static Mutex<()>) {
    drop(black_box(mutex).lock());
}

#[library_benchmark(config = at_most(COUNTED.rwlock_read_release))]
#[bench::uncontended(leaked(RwLock::new(())))]
fn rwlock_read_release(lock: &'static RwLock<()>) {
    drop(black_box(lock).read());
}

#[library_benchmark(config = at_most(COUNTED.rwlock_write_release))]
#[bench::uncontended(leaked(RwLock::new(())))]
fn rwlock_write_release(lock: &'static RwLock<()>) {
    drop(black_box(lock).write());
}

#[library_benchmark(config = at_most(COUNTED.semaphore_acquire_release))]
#[bench::uncontended(leaked(Semaphore::new(1)))]
fn semaphore_acquire_release(semaphore: &'static Semaphore) {
    drop(black_box(semaphore).acquire());
}

#[library_benchmark(config = at_most(COUNTED.condvar_notify))]
#[bench::nobody(leaked(Condvar::new()))]
fn condvar_notify(condvar: &'static Condvar) {
    let _ = black_box(condvar).notify_one();
}

#[library_benchmark(config = at_most(COUNTED.event_notify))]
#[bench::nobody(leaked(Event::new()))]
fn event_notify(event: &'static Event) {
    let _ = black_box(event).notify_all();
}

library_benchmark_group!(
    name = blocking,
    benchmarks = [
        wait_enqueue_leave,
        mutex_lock_unlock,
        rwlock_read_release,
        rwlock_write_release,
        semaphore_acquire_release,
        condvar_notify,
        event_notify
    ]
);

main!(library_benchmark_groups = blocking);
