//! Tasks queue for a mutex that is held: what its queue costs, one step at a time.

use std::future::Future;

use crate::crowd::Crowd;
use crate::locks::{AsyncLock, AsyncMutex, FuturesIntrusive, Maitake, Mutex as _, Tokio, Waitword};
use crate::measure::Stopwatch;
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Limit, Page, Workload, contenders, goal};

const ENQUEUE: &str = "enqueue";
const NEXT: &str = "release, and the next acquires";
const CANCEL: &str = "cancel";
const FUTURE: &str = "size of the future";

pub(crate) fn workload() -> Workload {
    Workload {
        name: "mutex-held",
        about: "N tasks queue for a mutex that is held, on one thread: *enqueue* makes the future and polls it once; \
                *release, and the next acquires* drops the guard and polls the head waiter to its end; *cancel* drops a \
                waiting future. The wakers do nothing. (The futures of async-lock have a heap allocation each, 56 bytes.)",
        baseline: FuturesIntrusive::NAME,
        contenders: contenders! {
            run: Waitword, AsyncLock, Tokio, Maitake, FuturesIntrusive;
        },
        goals: vec![
            goal(ENQUEUE, Limit::Value(30.0)),
            goal(ENQUEUE, Limit::TimesBest(1.0)),
            goal(NEXT, Limit::Value(50.0)),
            goal(NEXT, Limit::TimesBest(1.0)),
            goal(FUTURE, Limit::Value(88.0)),
        ],
        page: Page::Locks,
        charts: Charts::None,
    }
}

fn run<M: AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    let crowds = scale.crowds().iter().filter(|&&n| n <= 100_000);
    crowds.flat_map(|&n| at_size::<M>(n, scale.operations(1_000_000) / n)).collect()
}

fn at_size<M: AsyncMutex>(n: usize, repeats: usize) -> Vec<Sample> {
    let mutex = M::new();
    let mut crowd = Crowd::new(n);
    let [mut enqueue, mut next, mut cancel] = <[Stopwatch; 3]>::default();
    for _ in 0..repeats.max(1) {
        let mut guard = mutex.try_lock();
        enqueue.time(n, || (0..n).for_each(|i| crowd.enter(i, mutex.lock_async())));
        next.time(n, || {
            for i in 0..n {
                // Free before the next one is polled.
                drop(guard.take());
                guard = Some(crowd.finish(i));
            }
        });

        enqueue.time(n, || (0..n).for_each(|i| crowd.enter(i, mutex.lock_async())));
        cancel.time(n, || (0..n).for_each(|i| crowd.cancel(i)));
    }
    vec![
        enqueue.sample(ENQUEUE, n),
        next.sample(NEXT, n),
        cancel.sample(CANCEL, n),
        Sample::new(FUTURE, n, Unit::Bytes, size_of_future(&mutex.lock_async())),
    ]
}

fn size_of_future(future: &impl Future) -> f64 {
    size_of_val(future) as f64
}
