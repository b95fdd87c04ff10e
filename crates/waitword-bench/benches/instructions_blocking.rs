//! How many instructions the short paths of blocking threads take, under valgrind: `cargo xtask instructions`. Once without the feature
//! `observe`; and once with it, switched off, switched on, and with a trace of all: two events, each with a reading of the clock.
//!
//! A program of its own beside `instructions.rs`: what else a program calls decides what is inlined, and so the counts.
#![allow(missing_docs, unreachable_pub, reason = "the macros make public functions")]

use std::hint::black_box;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use waitword::{Condvar, Event, Mutex, RwLock, Semaphore};

/// As counted last, with five percent to spare.
fn at_most(counted: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, counted + counted / 20)]).fail_fast(false);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

/// Never dropped: what the compiler keeps for the drop of a lock would count, too.
fn leaked<L>(lock: L) -> &'static L {
    Box::leak(Box::new(lock))
}

/// The thread has its records afterwards.
#[cfg(feature = "observe")]
fn observed<L>(lock: L) -> &'static L {
    waitword_observe::internals::start_holders();
    drop(Mutex::new(()).lock());
    leaked(lock)
}

/// The thread has its ring afterwards.
#[cfg(feature = "observe")]
fn traced<L>(lock: L) -> &'static L {
    std::mem::forget(waitword_observe::traced(true));
    observed(lock)
}

/// The instructions of each path, without the feature; with it, switched off, on, and traced, where that is an event.
macro_rules! paths {
    ($($name:ident: $lock:ty = $new:expr, $acquire:ident: $without:literal; $off:literal, $on:literal $(, $traced:literal)?;)+) => {$(
        #[library_benchmark]
        #[cfg_attr(not(feature = "observe"), bench::without(args = (leaked($new)), config = at_most($without)))]
        #[cfg_attr(feature = "observe", bench::off(args = (leaked($new)), config = at_most($off)))]
        #[cfg_attr(feature = "observe", bench::on(args = (observed($new)), config = at_most($on)))]
        $(#[cfg_attr(feature = "observe", bench::traced(args = (traced($new)), config = at_most($traced)))])?
        fn $name(lock: &'static $lock) {
            let _ = black_box(lock).$acquire();
        }
    )+
        library_benchmark_group!(name = locks, benchmarks = [$($name),+]);
    };
}

paths! {
    mutex_lock_unlock: Mutex<()> = Mutex::new(()), lock: 15; 19, 108, 1_089;
    rwlock_read_release: RwLock<()> = RwLock::new(()), read: 19; 23, 112, 1_095;
    rwlock_write_release: RwLock<()> = RwLock::new(()), write: 16; 20, 108, 1_089;
    semaphore_acquire_release: Semaphore = Semaphore::new(1), acquire: 24; 28, 122, 1_103;
    condvar_notify: Condvar = Condvar::new(), notify_one: 9; 13, 194;
    event_notify: Event = Event::new(), notify_all: 17; 21, 196;
}

/// Without the feature alone: beside it, an observed lock takes more.
#[cfg(not(feature = "observe"))]
mod wait {
    use std::sync::atomic::AtomicI32;

    use waitword_core::{Interrupt, wait_interruptible};

    use super::*;

    static WORD: AtomicI32 = AtomicI32::new(0);

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

    library_benchmark_group!(name = waits, benchmarks = [wait_enqueue_leave]);
}

#[cfg(not(feature = "observe"))]
use wait::waits;
#[cfg(not(feature = "observe"))]
main!(library_benchmark_groups = [locks, waits]);
#[cfg(feature = "observe")]
main!(library_benchmark_groups = locks);
