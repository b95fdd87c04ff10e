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

/// As counted last, with five percent to spare.
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

#[library_benchmark(config = at_most(723))]
#[bench::alone(raised_interrupt())]
fn wait_enqueue_leave(interrupt: Interrupt) -> Interrupt {
    enqueue_and_leave(&interrupt);
    interrupt
}

/// Never dropped: what the compiler keeps for the drop of a lock would count, too.
fn leaked<L>(lock: L) -> &'static L {
    Box::leak(Box::new(lock))
}

macro_rules! paths {
    ($($name:ident: $lock:ty = $new:expr, $acquire:ident: $counted:literal;)+) => {$(
        #[library_benchmark(config = at_most($counted))]
        #[bench::uncontended(leaked($new))]
        fn $name(lock: &'static $lock) {
            let _ = black_box(lock).$acquire();
        }
    )+};
}

paths! {
    mutex_lock_unlock: Mutex<()> = Mutex::new(()), lock: 15;
    rwlock_read_release: RwLock<()> = RwLock::new(()), read: 19;
    rwlock_write_release: RwLock<()> = RwLock::new(()), write: 16;
    semaphore_acquire_release: Semaphore = Semaphore::new(1), acquire: 24;
    condvar_notify: Condvar = Condvar::new(), notify_one: 9;
    event_notify: Event = Event::new(), notify_all: 17;
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
