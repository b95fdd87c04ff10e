//! Many tasks wait on one word: the shape of a popular lock, a semaphore, a broadcast.

use crate::crowd::Crowd;
use crate::measure::Stopwatch;
use crate::queues::{BareList, EventListener, FuturesIntrusive, MaitakeQueue, Queues, TokioNotify, Waitword};
use crate::scale::Scale;
use crate::series::Sample;
use crate::workload::{Charts, Limit, Page, Workload, contenders, goal};

pub(super) fn workload() -> Workload {
    let tokio = TokioNotify::NAME;
    Workload {
        name: "one-word",
        about: "N async waiters on one word: *enqueue* makes the future and polls it once; *finish* polls a \
                notified one and drops it; *cancel* drops a waiting one; *notify all* is the cost per waiter. \
                The wakers do nothing.",
        baseline: tokio,
        contenders: contenders! {
            run: Waitword, TokioNotify, FuturesIntrusive, MaitakeQueue, EventListener, BareList;
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
            goal("notify all", Limit::Value(15.0)),
        ],
        page: Page::Queue,
        charts: Charts::CostAgainstN,
    }
}

fn run<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    scale.crowds().iter().flat_map(|&n| at_size::<Q>(n, scale.operations(1_000_000) / n)).collect()
}

fn at_size<Q: Queues>(n: usize, repeats: usize) -> Vec<Sample> {
    let queues = Q::with_words(1);
    let mut crowd = Crowd::new(n);
    let [mut enqueue, mut notify_one, mut finish, mut cancel, mut notify_all] = <[Stopwatch; 5]>::default();
    for _ in 0..repeats.max(1) {
        enqueue.time(n, || (0..n).for_each(|i| crowd.enter(i, queues.wait(0))));
        notify_one.time(n, || (0..n).for_each(|_| queues.notify_one(0)));
        finish.time(n, || (0..n).for_each(|i| drop(crowd.finish(i))));

        enqueue.time(n, || (0..n).for_each(|i| crowd.enter(i, queues.wait(0))));
        cancel.time(n, || (0..n).for_each(|i| crowd.cancel(i)));

        if Q::NOTIFIES_ALL {
            (0..n).for_each(|i| crowd.enter(i, queues.wait(0)));
            notify_all.time(n, || queues.notify_all(0));
            (0..n).for_each(|i| drop(crowd.finish(i)));
        }
    }
    let mut samples = vec![
        enqueue.sample("enqueue", n),
        notify_one.sample("notify one", n),
        finish.sample("finish", n),
        cancel.sample("cancel", n),
    ];
    samples.extend(Q::NOTIFIES_ALL.then(|| notify_all.sample("notify all", n)));
    samples
}
