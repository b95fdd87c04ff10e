//! An agent dies while others wait: it pays for its own waits only.

use std::sync::atomic::AtomicU32;

use waitword_core::{Inbox, InboxWait, wait_async};

use crate::crowd::Crowd;
use crate::measure::Stopwatch;
use crate::random::Random;
use crate::scale::Scale;
use crate::series::Sample;
use crate::workload::{Charts, Contender, Limit, OURS, Page, Workload, goal};

const WAITS: usize = 1_000;
const DEATH: &str = "per wait of its own";

pub(super) fn workload() -> Workload {
    Workload {
        name: "agent-death",
        about: "An agent with 1,000 pending waits dies while N waits of others are pending: cost per wait of \
                its own.",
        baseline: OURS,
        contenders: vec![Contender { name: OURS, run }],
        goals: vec![goal(DEATH, Limit::Value(1_000.0))],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn run(scale: &Scale) -> Vec<Sample> {
    [0, scale.largest()].map(|n| at_size(n, scale.operations(100))).to_vec()
}

fn at_size(n: usize, repeats: usize) -> Sample {
    let words = (0..n.max(WAITS)).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    let mut others = Crowd::new(n);
    (0..n).for_each(|i| others.enter(i, wait_async(&words[i], 0)));
    let mut random = Random(7);
    let mut watch = Stopwatch::default();
    for _ in 0..repeats {
        let inbox = Inbox::new(|| {});
        let waits = (0..WAITS).map(|_| {
            let mut wait = Box::pin(InboxWait::new(&inbox, &words[random.below(words.len())], 0));
            assert!(wait.as_mut().enqueue(0), "no store to the words");
            wait
        });
        let waits = waits.collect::<Vec<_>>();
        watch.time(WAITS, || drop((waits, inbox)));
    }
    watch.sample(DEATH, n)
}
