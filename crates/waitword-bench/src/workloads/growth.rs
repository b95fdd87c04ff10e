//! The table from nothing to many words and back: the one operation that pays for it.

use crate::crowd::Crowd;
use crate::measure::Longest;
use crate::queues::{HandMade, Queues, Waitword};
use crate::scale::Scale;
use crate::series::Sample;
use crate::workload::{Charts, Limit, Page, Workload, contenders, goal};

const ENQUEUE: &str = "longest enqueue";
const CANCEL: &str = "longest cancel";

pub(super) fn workload() -> Workload {
    Workload {
        name: "growth",
        about: "The longest single operation while waits on N words are made one by one, and cancelled, in CPU \
                time.",
        baseline: HandMade::NAME,
        contenders: contenders! {
            run: Waitword, HandMade;
        },
        goals: vec![goal(ENQUEUE, Limit::Value(1e6)), goal(CANCEL, Limit::Value(1e6))],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn run<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    let queues = Q::with_words(n);
    let mut crowd = Crowd::new(n);
    let [mut enqueue, mut cancel] = <[Longest; 2]>::default();
    (0..n).for_each(|i| enqueue.time(|| crowd.enter(i, queues.wait(i))));
    (0..n).for_each(|i| cancel.time(|| crowd.cancel(i)));
    vec![enqueue.sample(ENQUEUE, n), cancel.sample(CANCEL, n)]
}
