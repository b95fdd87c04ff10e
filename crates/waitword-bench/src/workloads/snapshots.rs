//! Snapshots of ten thousand waiters, and their effect on another thread. With the feature `observe`.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword_core::{Table, wait_async};

use crate::crowd::Crowd;
use crate::figures::{Sample, median, nanos};
use crate::workload::{Contender, OURS, Scale, Workload};

const WAITERS: usize = 10_000;

pub(super) fn workloads() -> Vec<Workload> {
    vec![Workload { name: "snapshots", contenders: vec![Contender::new(OURS, of_crowds)] }]
}

fn of_crowds(scale: &Scale) -> Vec<Sample> {
    [1, 100, 10_000].into_iter().flat_map(|words| on_words(scale, words)).collect()
}

fn on_words(scale: &Scale, words: usize) -> Vec<Sample> {
    let (table, other) = (Table::new(), AtomicU32::new(0));
    let of = (0..words).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    let mut crowd = Crowd::new(WAITERS);
    (0..WAITERS).for_each(|i| crowd.enter(i, wait_async(table.at(&of[i % words]), 0)));
    let snapshot = || {
        let start = Instant::now();
        assert!(table.snapshot().len() >= WAITERS);
        start.elapsed().as_nanos() as f64
    };

    let times = (0..scale.operations(100)).map(|_| snapshot()).collect::<Vec<_>>();
    let is_over = AtomicBool::new(false);
    let longest = thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let start = Instant::now();
                let _ = pin!(wait_async(table.at(&other), 0)).poll(&mut Context::from_waker(Waker::noop()));
                longest = longest.max(start.elapsed());
            }
            longest
        });
        for _ in 0..scale.operations(100) {
            snapshot();
        }
        is_over.store(true, Ordering::Relaxed);
        neighbour.join().expect("nothing in there panics")
    });
    (0..WAITERS).for_each(|i| crowd.cancel(i));
    let during = "longest enqueue and cancel of another thread, during the snapshots";
    nanos(words, [("a snapshot", median(&times)), (during, longest.as_nanos() as f64)])
}
