//! Notify of all while others are at work: for how long does it keep them out?

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword_core::{Outcome, Table, notify_all, wait_async};

use crate::crowd::Crowd;
use crate::queues::{EventListener, MaitakeQueue, Queues, TokioNotify, Waitword};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Contender, OURS, Page, Workload};

const QUIET: &str = "longest, nobody notifies";
const DURING: &str = "longest, during notify all";
const WHOLE: &str = "notify all of them, altogether";

pub(super) fn workload() -> Workload {
    Workload {
        name: "notify-all-stall",
        about: "The longest that another thread needs to register and cancel, in wall time, while N waiters \
                are notified at once. *neighbour* registers on another word of the same shard.",
        baseline: TokioNotify::NAME,
        contenders: vec![
            Contender { name: OURS, run: queues::<Waitword> },
            Contender { name: "waitword, neighbour", run: neighbour },
            Contender { name: TokioNotify::NAME, run: queues::<TokioNotify> },
            Contender { name: MaitakeQueue::NAME, run: queues::<MaitakeQueue> },
            Contender { name: EventListener::NAME, run: queues::<EventListener> },
        ],
        goals: Vec::new(),
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn queues<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    let queues = Q::with_words(1);
    let mut crowd = Crowd::new(n);
    (0..n).for_each(|i| crowd.enter(i, queues.wait(0)));
    let register = || register_and_cancel(queues.wait(0));
    let samples = stall(n, register, || queues.notify_all(0));
    (0..n).for_each(|i| drop(crowd.finish(i)));
    samples
}

fn neighbour(scale: &Scale) -> Vec<Sample> {
    let n = scale.largest();
    let table = Table::with_shards(1);
    let [word, other] = [const { AtomicU32::new(0) }; 2];
    let mut crowd = Crowd::new(n);
    (0..n).for_each(|i| crowd.enter(i, wait_async(table.at(&word), 0)));
    let register = || register_and_cancel(wait_async(table.at(&other), 0));
    let samples = stall(n, register, || assert_eq!(notify_all(table.at(&word)), n));
    (0..n).for_each(|i| assert_eq!(crowd.finish(i), Outcome::Notified));
    samples
}

fn register_and_cancel(wait: impl Future) {
    // Ready when a notify of all is under way: that is no wait, but it did have to ask.
    let _ = pin!(wait).poll(&mut Context::from_waker(Waker::noop()));
}

/// Runs `register` on another thread all the time, and `notify_all` once.
fn stall(n: usize, register: impl Fn() + Sync, notify_all: impl FnOnce()) -> Vec<Sample> {
    let during = Stalls::of(&register, || {
        let start = Instant::now();
        notify_all();
        start.elapsed()
    });
    let quiet = Stalls::quiet(&register, during.whole);
    let sample = |what, time: Duration| Sample::new(what, n, Unit::Nanos, time.as_nanos() as f64);
    vec![sample(QUIET, quiet.longest), sample(DURING, during.longest), sample(WHOLE, during.whole)]
}

/// What another thread notices of some work.
pub(super) struct Stalls {
    pub(super) longest: Duration,
    pub(super) whole: Duration,
}

impl Stalls {
    /// Of a thread that only spins for this long.
    pub(super) fn quiet(register: &(impl Fn() + Sync), time: Duration) -> Self {
        Self::of(register, || {
            let start = Instant::now();
            while start.elapsed() < time {
                std::hint::spin_loop();
            }
            start.elapsed()
        })
    }

    /// Calls `register` on another thread all the time while `work` is done. Returns how long its longest call took.
    pub(super) fn of(register: &(impl Fn() + Sync), work: impl FnOnce() -> Duration) -> Self {
        let (calls, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut longest = Duration::ZERO;
                while !done.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    register();
                    longest = longest.max(start.elapsed());
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                longest
            });
            while calls.load(Ordering::Relaxed) < 100 {
                thread::yield_now();
            }
            let whole = work();
            done.store(true, Ordering::Relaxed);
            Stalls { longest: other.join().expect("nothing in there panics"), whole }
        })
    }
}
