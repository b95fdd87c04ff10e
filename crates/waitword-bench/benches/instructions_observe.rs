//! How many instructions observation costs an uncontended lock, under valgrind: with the feature compiled in and switched off, and
//! switched on, and with a trace of all: two events, each with a reading of the clock. `cargo xtask instructions`; without the feature the same paths are in `instructions_blocking.rs`.
#![allow(missing_docs, reason = "the macros make public functions")]

use std::hint::black_box;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use waitword::{Condvar, Event, Mutex, RwLock, Semaphore};
use waitword_observe::internals::{start_holders, trace};

/// Instructions of each path, as counted last.
struct Counted {
    mutex: [u64; 3],
    read: [u64; 3],
    write: [u64; 3],
    semaphore: [u64; 3],
    condvar: [u64; 2],
    event: [u64; 2],
}

/// Switched off, on, and traced, where that is an event.
const COUNTED: Counted = Counted {
    mutex: [19, 80, 692],
    read: [23, 83, 698],
    write: [20, 80, 692],
    semaphore: [28, 94, 706],
    condvar: [13, 194],
    event: [21, 196],
};

/// With five percent to spare.
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

macro_rules! paths {
    ($($name:ident: $lock:ty = $new:expr, $counted:expr $(, traced $traced:expr)? => $acquire:ident;)+) => {$(
        #[library_benchmark]
        #[bench::off(args = (off($new)), config = at_most($counted[0]))]
        #[bench::on(args = (on($new)), config = at_most($counted[1]))]
        $(#[bench::traced(args = (traced($new)), config = at_most($traced))])?
        fn $name(lock: &'static $lock) {
            let _ = black_box(lock).$acquire();
        }
    )+};
}

paths! {
    mutex_lock_unlock: Mutex<()> = Mutex::new(()), COUNTED.mutex, traced COUNTED.mutex[2] => lock;
    rwlock_read_release: RwLock<()> = RwLock::new(()), COUNTED.read, traced COUNTED.read[2] => read;
    rwlock_write_release: RwLock<()> = RwLock::new(()), COUNTED.write, traced COUNTED.write[2] => write;
    condvar_notify: Condvar = Condvar::new(), COUNTED.condvar => notify_one;
    event_notify: Event = Event::new(), COUNTED.event => notify_all;
    semaphore_acquire_release: Semaphore = Semaphore::new(1), COUNTED.semaphore, traced COUNTED.semaphore[2] => acquire;
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
