//! Two threads that enqueue and cancel, on one word and on words of their own.

use std::future::Future;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Waker};
use std::thread;

use crate::measure::Stopwatch;
use crate::queues::{
    BareList, EventListener, FuturesIntrusive, HandMade, MaitakeQueue, Queues, TokioNotify, Waitword,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Limit, Page, Workload, contenders, goal};

/// Pairs of words, one for each thread, tried one after another: some of them share a shard.
const PAIRS: usize = 64;

const ALONE: &str = "one thread alone";
const SAME: &str = "two threads, same word";
const OWN: &str = "two threads, own words";

pub(super) fn workload() -> Workload {
    Workload {
        name: "two-threads",
        about: "Register and cancel, in CPU time per thread: alone, and beside a thread that does the same on \
                the same word or on its own.",
        baseline: TokioNotify::NAME,
        contenders: contenders! {
            run: Waitword, HandMade, TokioNotify, FuturesIntrusive, MaitakeQueue, EventListener, BareList;
        },
        goals: vec![goal(SAME, Limit::Value(115.0)), goal(OWN, Limit::TimesOwn(1.2, ALONE))],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn run<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let calls = scale.operations(2_000_000);
    let queues = Q::with_words(2 * PAIRS);
    let alone = register_and_cancel(&queues, 0, calls);
    let same = both(|_| register_and_cancel(&queues, 0, calls));
    let pair = |pair| both(|thread| register_and_cancel(&queues, thread * PAIRS + pair, calls / PAIRS));
    let own = (0..PAIRS).map(pair).sum::<f64>() / PAIRS as f64;
    let sample = |what, value| Sample::new(what, 1, Unit::Nanos, value);
    vec![sample(ALONE, alone), sample(SAME, same), sample(OWN, own)]
}

/// CPU time per call.
fn register_and_cancel<Q: Queues>(queues: &Q, word: usize, calls: usize) -> f64 {
    let mut watch = Stopwatch::default();
    watch.time(calls, || {
        for _ in 0..calls {
            let wait = pin!(queues.wait(word));
            assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_pending(), "nobody notifies");
        }
    });
    watch.cpu_nanos()
}

/// The mean of what `work` measures on two threads at a time.
fn both(work: impl Fn(usize) -> f64 + Sync) -> f64 {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            start.wait();
            work(1)
        });
        start.wait();
        let mine = work(0);
        (mine + other.join().expect("nothing in there panics")) / 2.0
    })
}
