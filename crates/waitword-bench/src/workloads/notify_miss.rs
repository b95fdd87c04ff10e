//! Notify on a word without waiters: what an uncontended unlock pays.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread;

use crate::measure::Stopwatch;
use crate::queues::{EventListener, HandMade, MaitakeQueue, Queues, TokioNotify, Waitword};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Contender, Goal, Limit, OURS, Page, Workload, goal};

/// Words per thread, so that their places in memory and in a table average out.
const WORDS: usize = 64;

const LIMIT: &str = "fence and load (limit)";

pub(super) fn workload() -> Workload {
    Workload {
        name: "notify-miss",
        about: "`notify` on a word without waiters, from N threads on words of their own. tokio's `Notify` \
                stores a permit.",
        baseline: LIMIT,
        contenders: vec![
            Contender { name: LIMIT, run: limit },
            Contender { name: OURS, run: queues::<Waitword> },
            Contender { name: "parking_lot_core", run: parking_lot_core },
            Contender { name: TokioNotify::NAME, run: queues::<TokioNotify> },
            Contender { name: EventListener::NAME, run: queues::<EventListener> },
            Contender { name: MaitakeQueue::NAME, run: queues::<MaitakeQueue> },
            Contender { name: HandMade::NAME, run: queues::<HandMade> },
        ],
        goals: vec![goal("notify", Limit::Value(10.0)), flat()],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn flat() -> Goal {
    goal("notify", Limit::TimesSmallest(1.2))
}

fn queues<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let queues = Q::with_words(2 * WORDS);
    at_one_and_two_threads(scale, |word| queues.notify_one(word))
}

fn parking_lot_core(scale: &Scale) -> Vec<Sample> {
    let words = [0_u64; 2 * WORDS];
    at_one_and_two_threads(scale, |word| {
        let key = std::ptr::from_ref(&words[word]).addr();
        // SAFETY: the key is the address of memory of ours, and the callback does nothing.
        unsafe { parking_lot_core::unpark_one(key, |_| parking_lot_core::DEFAULT_UNPARK_TOKEN) };
    })
}

fn limit(scale: &Scale) -> Vec<Sample> {
    let counts = [const { AtomicUsize::new(0) }; 2 * WORDS];
    at_one_and_two_threads(scale, |word| {
        fence(Ordering::SeqCst);
        black_box(counts[word].load(Ordering::Relaxed));
    })
}

/// CPU time per call of `notify`, which each thread makes on words of its own.
fn at_one_and_two_threads(scale: &Scale, notify: impl Fn(usize) + Sync) -> Vec<Sample> {
    let calls = scale.operations(5_000_000);
    let on_words_of = |thread: usize| {
        let mut watch = Stopwatch::default();
        watch.time(calls, || (0..calls).for_each(|call| notify(black_box(thread * WORDS + call % WORDS))));
        watch
    };
    let one = on_words_of(0);
    let start = Barrier::new(2);
    let two = thread::scope(|scope| {
        let other = scope.spawn(|| {
            start.wait();
            on_words_of(1).cpu_nanos()
        });
        start.wait();
        let mine = on_words_of(0).cpu_nanos();
        (mine + other.join().expect("nothing in there panics")) / 2.0
    });
    vec![one.sample("notify", 1), Sample::new("notify", 2, Unit::Nanos, two)]
}
