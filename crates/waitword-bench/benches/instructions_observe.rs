//! How many instructions observation costs an uncontended lock, under valgrind: with the feature compiled in and switched off, and
//! switched on, and with a trace of all: two events, each with a reading of the clock. `cargo xtask instructions`; without the feature the same paths are in `instructions_blocking.rs`.
#![allow(missing_docs, reason = "the macros make public functions")]

use std::hint::black_box;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use waitword::{Condvar, Event, Mutex, RwLock, Semaphore};
use waitword_observe::internals::{start_holders, trace};

/// As counted last, with five percent to spare.
fn at_most(counted: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, counted + counted / 20)]).fail_fast(false);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

/// Never dropped: what the compiler keeps for the drop of a lock would count, too.
fn off<L>(lock: L) -> &'static L {
    Box::leak(Box::new(lock))
}

/// The thread has its records afterwards.
fn on<L>(lock: L) -> &'static L {
    start_holders();
    drop(Mutex::new(()).lock());
    off(lock)
}

/// The thread has its ring afterwards.
fn traced<L>(lock: L) -> &'static L {
    std::mem::forget(trace(true));
    on(lock)
}

/// The instructions of each path, switched off, on, and traced, where that is an event.
macro_rules! paths {
    ($($name:ident: $lock:ty = $new:expr, $acquire:ident: $off:literal, $on:literal $(, $traced:literal)?;)+) => {$(
        #[library_benchmark]
        #[bench::off(args = (off($new)), config = at_most($off))]
        #[bench::on(args = (on($new)), config = at_most($on))]
        $(#[bench::traced(args = (traced($new)), config = at_most($traced))])?
        fn $name(lock: &'static $lock) {
            let _ = black_box(lock).$acquire();
        }
    )+};
}

paths! {
    mutex_lock_unlock: Mutex<()> = Mutex::new(()), lock: 19, 80, 692;
    rwlock_read_release: RwLock<()> = RwLock::new(()), read: 23, 83, 698;
    rwlock_write_release: RwLock<()> = RwLock::new(()), write: 20, 80, 692;
    condvar_notify: Condvar = Condvar::new(), notify_one: 13, 194;
    event_notify: Event = Event::new(), notify_all: 21, 196;
    semaphore_acquire_release: Semaphore = Semaphore::new(1), acquire: 28, 94, 706;
}

library_benchmark_group!(
    name = observe,
    benchmarks = [
        mutex_lock_unlock,
        rwlock_read_release,
        rwlock_write_release,
        semaphore_acquire_release,
        condvar_notify,
        event_notify
    ]
);

main!(library_benchmark_groups = observe);
