//! Crowds of tasks that wait on one word, on a word each, or for a mutex that is held: what each step costs, what a pending wait
//! occupies, and what stays when all have gone.

use crate::crowd::{Crowd, random_order};
use crate::locks::Lock;
use crate::locks::peers::{
    AsyncLock, AsyncLockSemaphore, FuturesIntrusive, FuturesIntrusiveSemaphore, Maitake, Tokio,
    TokioSemaphore, Waitword, WaitwordSemaphore,
};
use crate::measure::{Stopwatches, counting, longest};
use crate::queues::{self, EventListener, MaitakeQueue, Queues, TokioNotify};
use crate::series::{Sample, Unit};
use crate::workload::{Goal, Limit, Scale, Sizes, Subject, Workload, contenders, goal, goal_at_largest};

const FUTURE: &str = "size of the future";

pub(super) fn workloads() -> [Workload; 6] {
    [one_word(), many_words(), memory(), growth(), held_mutex(), held_semaphore()]
}

/// The shape of a popular lock, a semaphore, a broadcast.
fn one_word() -> Workload {
    let tokio = TokioNotify::NAME;
    Workload {
        name: "one-word",
        about: "N async waiters on one word: *enqueue* makes the future and polls it once; *finish* polls a \
                notified one and drops it; *cancel* drops a waiting one, the first first or in random order; *notify all* \
                is the cost per waiter. The wakers do nothing.",
        contenders: contenders! {
            on_one_word: queues::Waitword, TokioNotify, queues::FuturesIntrusive, MaitakeQueue, EventListener;
        },
        goals: vec![
            goal("enqueue", Limit::Times(1.0, tokio)),
            goal("enqueue", Limit::Value(25.0)),
            goal("notify one", Limit::Times(1.0, tokio)),
            goal("notify one", Limit::Value(22.0)),
            goal("finish", Limit::Times(1.0, tokio)),
            goal("finish", Limit::Value(8.0)),
            goal("cancel", Limit::Times(1.0, tokio)),
            goal("cancel", Limit::Value(16.0)),
            cancel_random_as_fast_as(tokio),
            goal("notify all", Limit::Value(15.0)),
        ],
    }
}

const CANCEL_RANDOM: &str = "cancel random";

/// With a crowd that no cache holds, and that is not the whole measurement.
const fn cancel_random_as_fast_as(peer: &'static str) -> Goal {
    Goal { at: Sizes::Only(100_000), ..goal(CANCEL_RANDOM, Limit::Times(1.0, peer)) }
}

fn on_one_word<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let at_size = |n: usize| {
        let queues = Q::with_words(1);
        let mut crowd = Crowd::new(n);
        let order = random_order(n);
        let mut watches = Stopwatches::default();
        for _ in 0..repeats(scale, n) {
            watches.time("enqueue", n, || (0..n).for_each(|i| crowd.enter(i, queues.wait(0))));
            watches.time("notify one", n, || (0..n).for_each(|_| queues.notify_one(0)));
            watches.time("finish", n, || (0..n).for_each(|i| drop(crowd.finish(i))));

            watches.time("enqueue", n, || (0..n).for_each(|i| crowd.enter(i, queues.wait(0))));
            watches.time("cancel", n, || (0..n).for_each(|i| crowd.cancel(i)));

            (0..n).for_each(|i| crowd.enter(i, queues.wait(0)));
            watches.time(CANCEL_RANDOM, n, || order.iter().for_each(|&i| crowd.cancel(i)));

            if Q::NOTIFIES_ALL {
                (0..n).for_each(|i| crowd.enter(i, queues.wait(0)));
                watches.time("notify all", n, || queues.notify_all(0));
                (0..n).for_each(|i| drop(crowd.finish(i)));
            }
        }
        watches.samples(n)
    };
    scale.crowds().iter().flat_map(|&n| at_size(n)).collect()
}

/// As often as makes a small crowd precise.
fn repeats(scale: &Scale, n: usize) -> usize {
    (scale.operations(1_000_000) / n).max(1)
}

/// The shape of a program with many locks, or of a block of shared memory full of them.
fn many_words() -> Workload {
    let tokio = TokioNotify::NAME;
    Workload {
        name: "many-words",
        about: "One async waiter on each of N words, notified in random order. waitword looks the queue up by the word; the \
                others have a queue object per word.",
        contenders: contenders! {
            on_many_words: queues::Waitword, TokioNotify, queues::FuturesIntrusive, MaitakeQueue, EventListener;
        },
        goals: vec![
            goal_at_largest("enqueue", Limit::Times(1.3, tokio)),
            goal_at_largest("enqueue", Limit::Value(40.0)),
            goal_at_largest("notify random", Limit::Times(1.3, tokio)),
            goal_at_largest("notify random", Limit::Value(120.0)),
        ],
    }
}

fn on_many_words<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let at_size = |n: usize| {
        let queues = Q::with_words(n);
        let mut crowd = Crowd::new(n);
        let order = random_order(n);
        let mut watches = Stopwatches::default();
        for _ in 0..repeats(scale, n) {
            watches.time("enqueue", n, || (0..n).for_each(|i| crowd.enter(i, queues.wait(i))));
            watches.time("notify random", n, || order.iter().for_each(|&i| queues.notify_one(i)));
            watches.time("finish random", n, || order.iter().for_each(|&i| drop(crowd.finish(i))));

            (0..n).for_each(|i| crowd.enter(i, queues.wait(i)));
            watches.time(CANCEL_RANDOM, n, || order.iter().for_each(|&i| crowd.cancel(i)));
        }
        watches.samples(n)
    };
    scale.crowds().iter().flat_map(|&n| at_size(n)).collect()
}

fn memory() -> Workload {
    Workload {
        name: "memory",
        about: "The future's size, and the heap beyond it: while N wait on one word; while N words have one \
                waiter each, queue objects included (ours counts the word, 4 bytes); after the last was \
                cancelled.",
        contenders: contenders! {
            occupied: queues::Waitword, TokioNotify, queues::FuturesIntrusive, MaitakeQueue, EventListener;
        },
        goals: vec![
            goal(FUTURE, Limit::Value(72.0)),
            goal(ALLOCATIONS, Limit::Value(0.0)),
            goal(KEPT, Limit::Value(0.0)),
        ],
    }
}

const ALLOCATIONS: &str = "heap allocations per wait";
const KEPT: &str = "heap kept after all have gone";

fn occupied<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    // What the process or the thread sets up once is not the waits'.
    waits_on::<Q>(1, 1);
    let one = waits_on::<Q>(1, n);
    let many = waits_on::<Q>(n, n);
    let per_wait = |total: f64| total / n as f64;
    vec![
        Sample::new(FUTURE, n, Unit::Bytes, size_of::<Q::Wait<'static>>() as f64),
        Sample::new(ALLOCATIONS, n, Unit::Count, per_wait(one.allocations as f64)),
        Sample::new("heap per wait, one word", n, Unit::Bytes, per_wait(one.during as f64)),
        Sample::new("heap per wait, each on a word of its own", n, Unit::Bytes, per_wait(many.during as f64)),
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

/// The table from nothing to many words and back: the one operation that pays for it.
fn growth() -> Workload {
    Workload {
        name: "growth",
        about: "The longest single operation while waits on N words are made one by one, and cancelled, in CPU \
                time.",
        contenders: contenders! { growing: queues::Waitword; },
        goals: [LONGEST_ENQUEUE, LONGEST_CANCEL].map(|what| goal(what, Limit::Value(1e6))).into(),
    }
}

const LONGEST_ENQUEUE: &str = "longest enqueue";
const LONGEST_CANCEL: &str = "longest cancel";

fn growing<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    let queues = Q::with_words(n);
    let mut crowd = Crowd::new(n);
    let enqueue = longest(LONGEST_ENQUEUE, n, |i| crowd.enter(i, queues.wait(i)));
    vec![enqueue, longest(LONGEST_CANCEL, n, |i| crowd.cancel(i))]
}

fn held_mutex() -> Workload {
    Workload {
        name: "mutex-held",
        about: "N tasks queue for a mutex that is held, on one thread: *enqueue* makes the future and polls it once; \
                *release, and the next acquires* drops the guard and polls the head waiter to its end; *cancel* drops a \
                waiting future. The wakers do nothing. (The futures of async-lock have a heap allocation each, 56 bytes.)",
        contenders: contenders! {
            held_with_future: Waitword, AsyncLock, Tokio, Maitake, FuturesIntrusive;
        },
        goals: vec![
            goal("enqueue", Limit::Value(30.0)),
            goal("enqueue", Limit::TimesBest(1.0)),
            goal(NEXT, Limit::Value(50.0)),
            goal(NEXT, Limit::TimesBest(1.0)),
            goal(FUTURE, Limit::Value(88.0)),
        ],
    }
}

const NEXT: &str = "release, and the next acquires";

fn held_semaphore() -> Workload {
    Workload {
        name: "semaphore-held",
        about: "N tasks queue for the only permit of a semaphore, as in mutex-held.",
        contenders: contenders! {
            held: WaitwordSemaphore, AsyncLockSemaphore, TokioSemaphore, FuturesIntrusiveSemaphore;
        },
        goals: vec![cancel_random_as_fast_as(TokioSemaphore::NAME)],
    }
}

/// The future is the lock's own; those of semaphores are wrapped, to drop the result's error.
fn held_with_future<L: Lock>(scale: &Scale) -> Vec<Sample> {
    let mut samples = held::<L>(scale);
    let size = size_of_val(&L::new().acquire_async()) as f64;
    samples.push(Sample::new(FUTURE, 1, Unit::Bytes, size));
    samples
}

fn held<L: Lock>(scale: &Scale) -> Vec<Sample> {
    let at_size = |n: usize| {
        let lock = L::new();
        let mut crowd = Crowd::new(n);
        let order = random_order(n);
        let mut watches = Stopwatches::default();
        for _ in 0..repeats(scale, n) {
            let mut guard = lock.try_acquire();
            watches.time("enqueue", n, || (0..n).for_each(|i| crowd.enter(i, lock.acquire_async())));
            watches.time(NEXT, n, || {
                for i in 0..n {
                    // Free before the next one is polled.
                    drop(guard.take());
                    guard = Some(crowd.finish(i));
                }
            });

            watches.time("enqueue", n, || (0..n).for_each(|i| crowd.enter(i, lock.acquire_async())));
            watches.time("cancel", n, || (0..n).for_each(|i| crowd.cancel(i)));

            (0..n).for_each(|i| crowd.enter(i, lock.acquire_async()));
            watches.time(CANCEL_RANDOM, n, || order.iter().for_each(|&i| crowd.cancel(i)));
        }
        watches.samples(n)
    };
    let crowds = scale.crowds().iter().filter(|&&n| n <= 100_000);
    crowds.flat_map(|&n| at_size(n)).collect()
}
