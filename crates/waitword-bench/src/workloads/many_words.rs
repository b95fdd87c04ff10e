//! Many words with one waiter each, notified in random order: the shape of a program with many locks, or of a block of
//! shared memory full of them.

use crate::crowd::Crowd;
use crate::measure::Stopwatch;
use crate::queues::{
    BareList, EventListener, FuturesIntrusive, HandMade, MaitakeMap, MaitakeQueue, Queues, TokioNotify,
    Waitword,
};
use crate::random::Random;
use crate::scale::Scale;
use crate::series::Sample;
use crate::workload::{Charts, Limit, Page, Workload, contenders, goal_at_largest};

pub(super) fn workload() -> Workload {
    let tokio = TokioNotify::NAME;
    Workload {
        name: "many-words",
        about: "One async waiter on each of N words, notified in random order. waitword and the hand-made map \
                look the queue up by the word; the others have a queue object per word.",
        baseline: tokio,
        contenders: contenders! {
            run: Waitword, HandMade, MaitakeMap, TokioNotify, FuturesIntrusive, MaitakeQueue, EventListener,
                BareList;
        },
        goals: vec![
            goal_at_largest("enqueue", Limit::Times(1.3, tokio)),
            goal_at_largest("enqueue", Limit::Value(40.0)),
            goal_at_largest("enqueue", Limit::Times(1.0 / 3.0, HandMade::NAME)),
            goal_at_largest("notify random", Limit::Times(1.3, tokio)),
            goal_at_largest("notify random", Limit::Value(120.0)),
            goal_at_largest("notify random", Limit::Times(1.0 / 3.0, HandMade::NAME)),
        ],
        page: Page::Queue,
        charts: Charts::CostAgainstN,
    }
}

fn run<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let sizes = scale.crowds().iter().filter(|&&n| n <= Q::MOST_WORDS);
    sizes.flat_map(|&n| at_size::<Q>(n, scale.operations(1_000_000) / n)).collect()
}

fn at_size<Q: Queues>(n: usize, repeats: usize) -> Vec<Sample> {
    let queues = Q::with_words(n);
    let mut crowd = Crowd::new(n);
    let order = Random(n as u64).order(n);
    let [mut enqueue, mut notify, mut finish, mut cancel] = <[Stopwatch; 4]>::default();
    // A search of a list need not be repeated until it is precise.
    let repeats = if Q::MOST_WORDS < usize::MAX { 1 } else { repeats.max(1) };
    for _ in 0..repeats {
        enqueue.time(n, || (0..n).for_each(|i| crowd.enter(i, queues.wait(i))));
        notify.time(n, || order.iter().for_each(|&i| queues.notify_one(i)));
        finish.time(n, || order.iter().for_each(|&i| drop(crowd.finish(i))));

        (0..n).for_each(|i| crowd.enter(i, queues.wait(i)));
        cancel.time(n, || order.iter().for_each(|&i| crowd.cancel(i)));
    }
    vec![
        enqueue.sample("enqueue", n),
        notify.sample("notify random", n),
        finish.sample("finish random", n),
        cancel.sample("cancel random", n),
    ]
}
