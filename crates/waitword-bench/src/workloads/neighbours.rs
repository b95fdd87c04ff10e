//! The effect of other waits on one's own: a million of them when an agent exits, a thread on the same queue, and thousands on words that
//! were chosen to collide.

use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Waker};
use std::thread;

use waitword_core::{Inbox, InboxWait, notify_one, wait_async};

use crate::crowd::Crowd;
use crate::figures::{Sample, nanos};
use crate::measure::{Stopwatches, timed};
use crate::queues::{EventListener, FuturesIntrusive, MaitakeQueue, Queues, TokioNotify, Waitword};
use crate::workload::{Contender, OURS, Scale, Workload, contenders, workloads};

pub(super) fn workloads() -> Vec<Workload> {
    let mut all = vec![Workload { name: "agent-death", contenders: vec![Contender::new(OURS, agents_die)] }];
    all.extend(workloads! {
        "two-threads" => { on_two_threads: Waitword, TokioNotify, FuturesIntrusive, MaitakeQueue, EventListener; }
    });
    let contenders = vec![Contender::new(OURS, beside_colliding)];
    all.push(Workload { name: "collisions", contenders });
    all
}

/// An agent pays for its own waits only.
fn agents_die(scale: &Scale) -> Vec<Sample> {
    const WAITS: usize = 1_000;
    let among = |n: usize| {
        let words = (0..n.max(WAITS)).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
        let mut others = Crowd::new(n);
        (0..n).for_each(|i| others.enter(i, wait_async(&words[i], 0)));
        let mut random = fastrand::Rng::with_seed(7);
        let mut watches = Stopwatches::default();
        for _ in 0..scale.operations(100) {
            let inbox = Inbox::new(|| {});
            let waits = (0..WAITS).map(|_| {
                let mut wait = Box::pin(InboxWait::new(&inbox, &words[random.usize(..words.len())], 0));
                assert!(wait.as_mut().enqueue(0), "no store to the words");
                wait
            });
            let waits = waits.collect::<Vec<_>>();
            watches.time("per wait of its own", WAITS, || drop((waits, inbox)));
        }
        watches.samples(n)
    };
    [0, scale.largest()].into_iter().flat_map(among).collect()
}

fn on_two_threads<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    /// Measures several pairs of words, one word for each thread, because some pairs share a shard.
    const PAIRS: usize = 64;
    let calls = scale.operations(2_000_000);
    let queues = Q::with_words(2 * PAIRS);
    let alone = register_and_cancel(&queues, 0, calls);
    let same = both(|_| register_and_cancel(&queues, 0, calls));
    let pair = |pair| both(|thread| register_and_cancel(&queues, thread * PAIRS + pair, calls / PAIRS));
    let own = (0..PAIRS).map(pair).sum::<f64>() / PAIRS as f64;
    let figures =
        [("one thread alone", alone), ("two threads, same word", same), ("two threads, own words", own)];
    nanos(1, figures)
}

/// CPU time per call.
fn register_and_cancel<Q: Queues>(queues: &Q, word: usize, calls: usize) -> f64 {
    let waits = || {
        for _ in 0..calls {
            let wait = pin!(queues.wait(word));
            assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_pending(), "nobody notifies");
        }
    };
    timed("register and cancel", 1, calls, waits).value
}

/// The mean of the measurements of `work` on two threads at a time.
pub(super) fn both(work: impl Fn(usize) -> f64 + Sync) -> f64 {
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

/// The words are those that share a bucket under multiplicative hashing with the golden ratio, which is what a table without
/// a secret uses, as parking_lot_core does: the layout of one block of memory is enough to find them.
fn beside_colliding(scale: &Scale) -> Vec<Sample> {
    const GOLDEN: usize = 0x9E37_79B9_7F4A_7C15;
    // Somewhat more than there are victims.
    let others = scale.operations(4_000).max(40);
    let block = (0..1 << 20).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    // There are 4,096 of these words.
    let bucket = |word: &AtomicU32| word.as_ptr().addr().wrapping_mul(GOLDEN) >> (usize::BITS - 8);
    let without_secret = block.iter().filter(|word| bucket(word) == bucket(&block[0])).collect::<Vec<_>>();
    /// The number of words without other waiters: enough to average over their positions in our table.
    const VICTIMS: usize = 16;
    let (victims, crowded) = without_secret.split_at(VICTIMS);
    let calls = scale.operations(1_000_000);
    let at_size = |n: usize| {
        let mut crowd = Crowd::new(n);
        (0..n).for_each(|i| crowd.enter(i, wait_async(crowded[i % crowded.len()], 0)));
        let mut watches = Stopwatches::default();
        watches.time("notify, nobody waits on the word", calls, || {
            (0..calls).for_each(|call| assert_eq!(notify_one(victims[call % VICTIMS]), 0))
        });
        watches.time("wait and notify", calls, || {
            for call in 0..calls {
                let victim = victims[call % VICTIMS];
                let mut wait = pin!(wait_async(victim, 0));
                let mut cx = Context::from_waker(Waker::noop());
                assert!(wait.as_mut().poll(&mut cx).is_pending());
                assert_eq!(notify_one(victim), 1);
                assert!(wait.poll(&mut cx).is_ready());
            }
        });
        watches.samples(n)
    };
    // Without other waiters, and with this many.
    [0, others].into_iter().flat_map(at_size).collect()
}
