//! Instruction counts of the queue's fast paths, under valgrind: `cargo xtask instructions`.
//!
//! The counts are equal in every run, so a limit is a few percent above the last count. If a change is worth more than that,
//! write the new count beside the path. Inlining depends on the rest of the program: in one with blocking paths, `wait_not_equal` takes
//! 26 more, and an enqueue 30 more.
#![allow(missing_docs, reason = "the macros make public functions")]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::AtomicI32;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use waitword_core::{Alarm, WaitAsync, notify_all, notify_one, wait, wait_async};

static WORD: AtomicI32 = AtomicI32::new(0);

/// The last count, plus five percent.
fn at_most(counted: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, counted + counted / 20)]).fail_fast(false);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

type Wait = Pin<Box<WaitAsync<&'static AtomicI32>>>;

/// Initializes lazy state, and enqueues `count` waiters.
fn crowd(count: usize) -> Vec<Wait> {
    let mut waits: Vec<Wait> = (0..count).map(|_| Box::pin(wait_async(&WORD, 0))).collect();
    waits.iter_mut().for_each(poll);
    assert_eq!(notify_one(AtomicI32::new(0)), 0);
    waits
}

fn poll(wait: &mut Wait) {
    let _ = black_box(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())));
}

fn alarm() -> Pin<Box<Alarm>> {
    let mut alarm = Box::pin(Alarm::new());
    set_and_clear(&mut alarm);
    alarm
}

fn set_and_clear(alarm: &mut Pin<Box<Alarm>>) {
    alarm.as_mut().set(Instant::now() + Duration::from_secs(3600), Waker::noop());
    alarm.as_mut().clear();
}

#[library_benchmark(config = at_most(66))]
#[bench::idle(crowd(0))]
fn notify_miss(_none: Vec<Wait>) -> usize {
    notify_one(black_box(&WORD))
}

#[library_benchmark(config = at_most(72))]
#[bench::idle(crowd(0))]
fn wait_not_equal(_none: Vec<Wait>) {
    let _ = black_box(wait(black_box(&WORD), 1));
}

// 25 are for snapshots: they pack its site, ask for the tickets' clock, and compare with a snapshot's place.
// And 10 are for the spin before the enqueue, which is not due here.
#[library_benchmark(config = at_most(369))]
#[bench::second(crowd(1))]
fn enqueue_cancel(first: Vec<Wait>) -> Vec<Wait> {
    let mut wait = std::pin::pin!(wait_async(black_box(&WORD), 0));
    let _ = black_box(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    let _ = black_box(wait.as_mut().cancel());
    first
}

// As above; and a waker that the waiter has got is asked whether it is a thread's, which may expect an answer.
#[library_benchmark(config = at_most(468))]
#[bench::alone(crowd(0))]
fn enqueue_notify_finish(_none: Vec<Wait>) {
    let mut wait = std::pin::pin!(wait_async(black_box(&WORD), 0));
    let _ = black_box(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    let _ = black_box(notify_one(&WORD));
    let _ = black_box(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())));
}

// 8 for each waiter ask whether the wake is a thread's: those are woken as a tree.
#[library_benchmark(config = at_most(54_040))]
#[bench::crowd(crowd(1000))]
fn notify_all_1000(crowd: Vec<Wait>) -> Vec<Wait> {
    black_box(notify_all(black_box(&WORD)));
    crowd
}

// Reads the clock, to share a wake-up with others.
#[library_benchmark(config = at_most(420))]
#[bench::alone(alarm())]
fn alarm_set_clear(mut alarm: Pin<Box<Alarm>>) -> Pin<Box<Alarm>> {
    set_and_clear(&mut alarm);
    alarm
}

library_benchmark_group!(
    name = paths,
    benchmarks = [
        notify_miss,
        wait_not_equal,
        enqueue_cancel,
        enqueue_notify_finish,
        notify_all_1000,
        alarm_set_clear
    ]
);

main!(library_benchmark_groups = paths);
