//! Two threads that get in line and leave it, on one word and on words of their own.

use std::future::Future;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Waker};
use std::thread;

use super::{Contender, Limit, OURS, Workload, goal};
use crate::measure::Stopwatch;
use crate::queues::{
    BareList, EventListener, FuturesIntrusive, HandMade, MaitakeQueue, Queues, TokioNotify, Waitword,
};
use crate::runner::Scale;
use crate::series::{Sample, Unit};

/// Words per thread, so that their shards average out.
const WORDS: usize = 256;

const ALONE: &str = "one thread alone";
const SAME: &str = "two threads, same word";
const OWN: &str = "two threads, own words";

pub(super) fn workload() -> Workload {
    Workload {
        name: "two-threads",
        about: "Register and cancel (make a wait, poll it once, drop it), in CPU time per thread: alone, and with \
                another thread that does the same on the same word or on words of its own.",
        baseline: TokioNotify::NAME,
        contenders: vec![
            Contender { name: OURS, run: run::<Waitword> },
            Contender { name: HandMade::NAME, run: run::<HandMade> },
            Contender { name: TokioNotify::NAME, run: run::<TokioNotify> },
            Contender { name: FuturesIntrusive::NAME, run: run::<FuturesIntrusive> },
            Contender { name: MaitakeQueue::NAME, run: run::<MaitakeQueue> },
            Contender { name: EventListener::NAME, run: run::<EventListener> },
            Contender { name: BareList::NAME, run: run::<BareList> },
        ],
        goals: vec![goal(SAME, Limit::AtMost(115.0)), goal(OWN, Limit::TimesOwn(1.2, ALONE))],
        charted: false,
    }
}

fn run<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let calls = scale.operations(2_000_000);
    let queues = Q::with_words(2 * WORDS);
    let alone = register_and_cancel(calls, &queues, |call| call % WORDS);
    let same = both(|_| register_and_cancel(calls, &queues, |_| 0));
    let own = both(|thread| register_and_cancel(calls, &queues, |call| thread * WORDS + call % WORDS));
    let sample = |what, value| Sample::new(what, 1, Unit::Nanos, value);
    vec![sample(ALONE, alone), sample(SAME, same), sample(OWN, own)]
}

/// CPU time per call.
fn register_and_cancel<Q: Queues>(calls: usize, queues: &Q, word: impl Fn(usize) -> usize) -> f64 {
    let mut watch = Stopwatch::default();
    watch.time(calls, || {
        for call in 0..calls {
            let wait = pin!(queues.wait(word(call)));
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
