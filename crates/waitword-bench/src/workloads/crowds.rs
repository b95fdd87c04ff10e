//! Many tasks that wait on one word, on a word each, or for a held mutex: the cost of each step, the memory of a pending wait,
//! and the memory that stays allocated after all waits have ended.

use std::future::Future;

use crate::crowd::{Crowd, random_order};
use crate::figures::{Sample, Unit};
use crate::locks::Lock;
use crate::locks::peers::{
    AsyncLock, AsyncLockSemaphore, FuturesIntrusive, FuturesIntrusiveSemaphore, Maitake, Tokio,
    TokioSemaphore, Waitword, WaitwordSemaphore,
};
use crate::measure::{Stopwatches, counting, longest};
use crate::queues::{self, EventListener, MaitakeQueue, Queues, TokioNotify};
use crate::workload::{Scale, Subject, Workload, contenders, workloads};

pub(super) fn workloads() -> Vec<Workload> {
    workloads! {
        // As in a contended lock, a semaphore, a broadcast.
        "one-word" => {
            on_one_word: queues::Waitword, TokioNotify, queues::FuturesIntrusive, MaitakeQueue, EventListener;
        }
        // As in a program with many locks, or with a block of shared memory full of them.
        "many-words" => {
            on_many_words: queues::Waitword, TokioNotify, queues::FuturesIntrusive, MaitakeQueue, EventListener;
        }
        "memory" => {
            occupied: queues::Waitword, TokioNotify, queues::FuturesIntrusive, MaitakeQueue, EventListener;
        }
        // The table grows from empty to many words and shrinks again: the longest single operation, which pays for the resize.
        "growth" => { growing: queues::Waitword; }
        "mutex-held" => { held_with_future: Waitword, AsyncLock, Tokio, Maitake, FuturesIntrusive; }
        "semaphore-held" => { held: WaitwordSemaphore, AsyncLockSemaphore, TokioSemaphore, FuturesIntrusiveSemaphore; }
    }
}

/// A number of futures, the function that creates them, and the times of their steps.
struct Steps<W, M> {
    n: usize,
    crowd: Crowd<W>,
    make: M,
    order: Vec<usize>,
    watches: Stopwatches,
}

impl<W: Future, M: Fn(usize) -> W> Steps<W, M> {
    fn new(n: usize, make: M) -> Self {
        Self { n, crowd: Crowd::new(n), make, order: random_order(n), watches: Stopwatches::default() }
    }

    /// Times `steps`, repeatedly for small numbers of futures, for precision.
    fn samples(mut self, scale: &Scale, steps: impl Fn(&mut Self)) -> Vec<Sample> {
        for _ in 0..(scale.operations(1_000_000) / self.n).max(1) {
            steps(&mut self);
        }
        self.watches.samples(self.n)
    }

    /// Makes all futures wait.
    fn enter(&mut self) {
        (0..self.n).for_each(|i| self.crowd.enter(i, (self.make)(i)));
    }

    fn enqueue(&mut self) {
        let Self { n, crowd, make, watches, .. } = self;
        watches.time("enqueue", *n, || (0..*n).for_each(|i| crowd.enter(i, make(i))));
    }

    fn cancel(&mut self) {
        self.enqueue();
        let Self { n, crowd, watches, .. } = self;
        watches.time("cancel", *n, || (0..*n).for_each(|i| crowd.cancel(i)));
    }

    fn cancel_random(&mut self) {
        self.enter();
        let Self { n, crowd, order, watches, .. } = self;
        watches.time("cancel random", *n, || order.iter().for_each(|&i| crowd.cancel(i)));
    }
}

fn on_one_word<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let at_size = |n: usize| {
        let queues = Q::with_words(1);
        Steps::new(n, |_| queues.wait(0)).samples(scale, |steps| {
            steps.enqueue();
            let Steps { crowd, watches, .. } = &mut *steps;
            watches.time("notify one", n, || (0..n).for_each(|_| queues.notify_one(0)));
            watches.time("finish", n, || (0..n).for_each(|i| drop(crowd.finish(i))));
            steps.cancel();
            steps.cancel_random();
            if Q::NOTIFIES_ALL {
                steps.enter();
                steps.watches.time("notify all", n, || queues.notify_all(0));
                (0..n).for_each(|i| drop(steps.crowd.finish(i)));
            }
        })
    };
    scale.crowds.iter().flat_map(|&n| at_size(n)).collect()
}

fn on_many_words<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let at_size = |n: usize| {
        let queues = Q::with_words(n);
        Steps::new(n, |word| queues.wait(word)).samples(scale, |steps| {
            steps.enqueue();
            let Steps { crowd, order, watches, .. } = &mut *steps;
            watches.time("notify random", n, || order.iter().for_each(|&i| queues.notify_one(i)));
            watches.time("finish random", n, || order.iter().for_each(|&i| drop(crowd.finish(i))));
            steps.cancel_random();
        })
    };
    scale.crowds.iter().flat_map(|&n| at_size(n)).collect()
}

fn occupied<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    // Memory that the process or the thread allocates once does not count.
    waits_on::<Q>(1, 1);
    let one = waits_on::<Q>(1, n);
    let many = waits_on::<Q>(n, n);
    let per_wait = |total: f64| total / n as f64;
    vec![
        Sample::new("size of the future", n, Unit::Bytes, size_of::<Q::Wait<'static>>() as f64),
        Sample::new("heap allocations per wait", n, Unit::Count, per_wait(one.allocations as f64)),
        Sample::new("heap per wait, one word", n, Unit::Bytes, per_wait(one.during as f64)),
        Sample::new("heap per wait, each on a word of its own", n, Unit::Bytes, per_wait(many.during as f64)),
        Sample::new("heap kept after all have gone", n, Unit::Bytes, many.kept as f64),
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

fn growing<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    let queues = Q::with_words(n);
    let mut crowd = Crowd::new(n);
    let enqueue = longest("longest enqueue", n, |i| crowd.enter(i, queues.wait(i)));
    vec![enqueue, longest("longest cancel", n, |i| crowd.cancel(i))]
}

/// The future is the lock's own, except that those of semaphores are wrapped to drop the result's error.
fn held_with_future<L: Lock>(scale: &Scale) -> Vec<Sample> {
    let mut samples = held::<L>(scale);
    let size = size_of_val(&L::new().acquire_async()) as f64;
    samples.push(Sample::new("size of the future", 1, Unit::Bytes, size));
    samples
}

fn held<L: Lock>(scale: &Scale) -> Vec<Sample> {
    let at_size = |n: usize| {
        let lock = L::new();
        Steps::new(n, |_| lock.acquire_async()).samples(scale, |steps| {
            let mut guard = lock.try_acquire();
            steps.enqueue();
            let Steps { crowd, watches, .. } = &mut *steps;
            watches.time("release, and the next acquires", n, || {
                for i in 0..n {
                    // Released before the next one is polled.
                    drop(guard.take());
                    guard = Some(crowd.finish(i));
                }
            });
            steps.cancel();
            steps.cancel_random();
        })
    };
    let crowds = scale.crowds.iter().filter(|&&n| n <= 100_000);
    crowds.flat_map(|&n| at_size(n)).collect()
}
