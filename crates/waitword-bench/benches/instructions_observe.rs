//! How many instructions observation costs an uncontended lock, under valgrind: with the feature compiled in and switched off, and
//! switched on. `cargo xtask instructions`; without the feature the same paths are in `instructions_blocking.rs`.
#![allow(missing_docs, reason = "the macros make public functions")]

use std::hint::black_box;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use waitword::observe::start_holders;
use waitword::{Condvar, Event, Mutex, RwLock, Semaphore};

/// Instructions of each path, as counted last.
struct Counted {
    mutex: [u64; 2],
    read: [u64; 2],
    write: [u64; 2],
    semaphore: [u64; 2],
    condvar: [u64; 2],
    event: [u64; 2],
}

/// Switched off, and on.
const COUNTED: Counted = Counted {
    mutex: [28, 66],
    read: [34, 94],
    write: [31, 91],
    semaphore: [45, 133],
    condvar: [18, 177],
    event: [42, 188],
};

/// With five percent to spare.
fn at_most(counted: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, counted + counted / 20)]).fail_fast(false);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

fn off<L>(lock: L) -> L {
    lock
}

/// The thread has its number afterwards.
fn on<L>(lock: L) -> L {
    start_holders();
    drop(Mutex::new(()).lock());
    lock
}

macro_rules! paths {
    ($($name:ident: $lock:ty = $new:expr, $counted:expr => $acquire:ident;)+) => {$(
        #[library_benchmark]
        #[bench::off(args = (off($new)), config = at_most($counted[0]))]
        #[bench::on(args = (on($new)), config = at_most($counted[1]))]
        fn $name(lock: $lock) -> $lock {
            let _ = black_box(&lock).$acquire();
            lock
        }
    )+};
}

paths! {
    mutex_lock_unlock: Mutex<()> = Mutex::new(()), COUNTED.mutex => lock;
    rwlock_read_release: RwLock<()> = RwLock::new(()), COUNTED.read => read;
    rwlock_write_release: RwLock<()> = RwLock::new(()), COUNTED.write => write;
    condvar_notify: Condvar = Condvar::new(), COUNTED.condvar => notify_one;
    event_notify: Event = Event::new(), COUNTED.event => notify_all;
    semaphore_acquire_release: Semaphore = Semaphore::new(1), COUNTED.semaphore => acquire;
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
