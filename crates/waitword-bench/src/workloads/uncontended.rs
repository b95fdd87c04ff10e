//! Acquisition and release of a lock without contention.

use std::future::Future as _;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::figures::{Sample, Unit};
use crate::locks::peers::*;
use crate::locks::{Exclusive, Lock, Shared};
use crate::measure::timed;
use crate::workload::{Scale, Subject, Workload, contenders, workloads};

const HELD: [&str; 2] = ["blocking", "async, ready at the first poll"];
const READ: [&str; 2] = ["read, blocking", "read, async, ready at the first poll"];
const WRITE: [&str; 2] = ["write, blocking", "write, async, ready at the first poll"];

/// The sides of a lock that are measured.
const THREADS: [bool; 2] = [true, false];
const TASKS: [bool; 2] = [false, true];
const BOTH: [bool; 2] = [true, true];

pub(super) fn workloads() -> Vec<Workload> {
    workloads! {
        "mutex-uncontended" => {
            mutex(BOTH): Waitword, CasAndSwap;
            mutex(THREADS): ParkingLot, Std, Usync;
            mutex(BOTH): Saa, AsyncLock, Tokio;
            mutex(TASKS): Maitake, FuturesIntrusive;
        }
        "rw-lock-uncontended" => {
            rw_lock(BOTH): WaitwordRwLock;
            rw_lock(THREADS): StdRwLock, ParkingLotRwLock, UsyncRwLock;
            rw_lock(BOTH): Saa, AsyncLockRwLock, TokioRwLock;
        }
        "semaphore-uncontended" => {
            semaphore(BOTH): WaitwordSemaphore, CasAndSwap, SaaSemaphore, AsyncLockSemaphore, TokioSemaphore;
            semaphore(TASKS): FuturesIntrusiveSemaphore;
        }
    }
}

fn mutex<L: Lock>(scale: &Scale, sides: [bool; 2]) -> Vec<Sample> {
    let mut samples = on_sides::<L, Exclusive>(scale, sides, HELD);
    if L::NAME != CasAndSwap::NAME {
        samples.push(Sample::new("size of a mutex of nothing", 1, Unit::Bytes, size_of::<L>() as f64));
    }
    samples
}

fn rw_lock<L: Lock + Lock<Shared>>(scale: &Scale, sides: [bool; 2]) -> Vec<Sample> {
    [on_sides::<L, Shared>(scale, sides, READ), on_sides::<L, Exclusive>(scale, sides, WRITE)].concat()
}

fn semaphore<L: Lock>(scale: &Scale, sides: [bool; 2]) -> Vec<Sample> {
    on_sides::<L, Exclusive>(scale, sides, HELD)
}

/// Measures a thread, and a future that is ready at its first poll, or one of the two, under these names.
fn on_sides<L: Lock<Mode>, Mode>(scale: &Scale, sides: [bool; 2], names: [&'static str; 2]) -> Vec<Sample> {
    let measure = [blocking::<L, Mode>, async_ready::<L, Mode>];
    let chosen = names.into_iter().zip(measure).zip(sides).filter(|(_, chosen)| *chosen);
    chosen.map(|((what, measure), _)| Sample::new(what, 1, Unit::Nanos, measure(scale))).collect()
}

fn blocking<L: Lock<Mode>, Mode>(scale: &Scale) -> f64 {
    let lock = L::new();
    fastest(scale, |times| {
        for _ in 0..times {
            drop(black_box(&lock).acquire());
        }
    })
}

fn async_ready<L: Lock<Mode>, Mode>(scale: &Scale) -> f64 {
    let lock = L::new();
    fastest(scale, |times| {
        let turns = pin!(async {
            for _ in 0..times {
                drop(black_box(&lock).acquire_async().await);
            }
        });
        let done = turns.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(done, Poll::Ready(()), "it is uncontended");
    })
}

/// The CPU time of one of `times` operations, in the fastest of the bursts.
fn fastest(scale: &Scale, burst: impl Fn(usize)) -> f64 {
    let times = scale.operations(100_000);
    let bursts = (0..20).map(|_| timed("burst", 1, times, || burst(times)).value);
    bursts.fold(f64::INFINITY, f64::min)
}
