//! What a pending wait occupies, and what stays when all have gone.

use crate::allocator::counting;
use crate::crowd::Crowd;
use crate::queues::{
    BareList, EventListener, FuturesIntrusive, HandMade, MaitakeQueue, Queues, TokioNotify, Waitword,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Limit, Page, Workload, contenders, goal};

const FUTURE: &str = "size of the future";
const ALLOCATIONS: &str = "heap allocations per wait";
const ONE: &str = "heap per wait, one word";
const MANY: &str = "heap per wait, each on a word of its own";
const KEPT: &str = "heap kept after all have gone";

pub(super) fn workload() -> Workload {
    Workload {
        name: "memory",
        about: "The future's size, and the heap beyond it: while N wait on one word; while N words have one \
                waiter each, queue objects included (ours counts the word, 4 bytes); after the last was \
                cancelled.",
        baseline: TokioNotify::NAME,
        contenders: contenders! {
            run: Waitword, HandMade, TokioNotify, FuturesIntrusive, MaitakeQueue, EventListener, BareList;
        },
        goals: vec![
            goal(FUTURE, Limit::Value(72.0)),
            goal(ALLOCATIONS, Limit::Value(0.0)),
            goal(KEPT, Limit::Value(0.0)),
        ],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn run<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    // What the process or the thread sets up once is not the waits'.
    waits_on::<Q>(1, 1);
    let one = waits_on::<Q>(1, n);
    let many = waits_on::<Q>(n, n);
    let per_wait = |total: f64| total / n as f64;
    vec![
        Sample::new(FUTURE, n, Unit::Bytes, size_of::<Q::Wait<'static>>() as f64),
        Sample::new(ALLOCATIONS, n, Unit::Count, per_wait(one.allocations as f64)),
        Sample::new(ONE, n, Unit::Bytes, per_wait(one.during as f64)),
        Sample::new(MANY, n, Unit::Bytes, per_wait(many.during as f64)),
        Sample::new(KEPT, n, Unit::Bytes, many.kept as f64),
    ]
}

struct Footprint {
    allocations: usize,
    during: isize,
    kept: isize,
}

fn waits_on<Q: Queues>(words: usize, n: usize) -> Footprint {
    counting(|counted| {
        let queues = Q::with_words(words);
        let before = counted();
        let mut crowd = Crowd::new(n);
        let room = counted().bytes - before.bytes;
        let allocations = counted().allocations;
        (0..n).for_each(|i| crowd.enter(i, queues.wait(i % words)));
        let during = counted();
        (0..n).for_each(|i| crowd.cancel(i));
        let kept = counted().bytes - room - before.bytes;
        Footprint { allocations: during.allocations - allocations, during: during.bytes - room, kept }
    })
}
