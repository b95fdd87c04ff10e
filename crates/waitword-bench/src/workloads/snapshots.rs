//! Snapshots of ten thousand waiters, and what another thread notices of them. With the feature `observe`.

use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Waker};
use std::time::Instant;

use waitword_core::{Table, wait_async};

use super::notify_all_stall::Stalls;
use crate::crowd::Crowd;
use crate::scale::Scale;
use crate::series::{Sample, Unit, median};
use crate::workload::{Charts, Contender, Limit, Page, Workload, goal};

const WAITERS: usize = 10_000;
const WHOLE: &str = "a snapshot";
const QUIET: &str = "longest enqueue and cancel of another thread, no snapshot";
const DURING: &str = "longest enqueue and cancel of another thread, during 100 snapshots";

pub(super) fn workload() -> Workload {
    Workload {
        name: "snapshots",
        about: "A snapshot of 10,000 waiters that are queued on N words. Meanwhile another thread enqueues and cancels on a \
                word of the same shards.",
        baseline: "waitword, empty table",
        contenders: vec![
            Contender { name: "waitword", run: crowds },
            Contender { name: "waitword, empty table", run: |scale| snapshots(scale, 0, 1) },
        ],
        goals: vec![goal(WHOLE, Limit::Value(1_000_000.0))],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn crowds(scale: &Scale) -> Vec<Sample> {
    [1, 100, 10_000].into_iter().flat_map(|words| snapshots(scale, WAITERS, words)).collect()
}

fn snapshots(scale: &Scale, waiters: usize, words: usize) -> Vec<Sample> {
    let (table, other) = (Table::new(), AtomicU32::new(0));
    let of = (0..words).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    let mut crowd = Crowd::new(waiters);
    (0..waiters).for_each(|i| crowd.enter(i, wait_async(table.at(&of[i % words]), 0)));

    let times = (0..scale.operations(100)).map(|_| {
        let start = Instant::now();
        assert_eq!(table.snapshot().len(), waiters);
        start.elapsed().as_nanos() as f64
    });
    let times = times.collect::<Vec<_>>();

    let register = || {
        let _ = pin!(wait_async(table.at(&other), 0)).poll(&mut Context::from_waker(Waker::noop()));
    };
    let during = Stalls::of(&register, || {
        let start = Instant::now();
        (0..100).for_each(|_| drop(table.snapshot()));
        start.elapsed()
    });
    let quiet = Stalls::quiet(&register, during.whole);
    (0..waiters).for_each(|i| crowd.cancel(i));
    let longest = |stalls: &Stalls| stalls.longest.as_nanos() as f64;
    vec![
        Sample::new(WHOLE, words, Unit::Nanos, median(&times)),
        Sample::new(QUIET, words, Unit::Nanos, longest(&quiet)),
        Sample::new(DURING, words, Unit::Nanos, longest(&during)),
    ]
}
