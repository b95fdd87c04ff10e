//! Hostile neighbours: thousands of waiters on words that were picked to collide with ours.
//!
//! The words are those that share a bucket under multiplicative hashing with the golden ratio, which is what a table
//! without a secret uses, as parking_lot_core does. Whoever knows the layout of one block of memory finds them.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;

use waitword_core::{notify_all, notify_one, wait_async};

use super::{Contender, Limit, OURS, Workload, goal};
use crate::crowd::Crowd;
use crate::measure::Stopwatch;
use crate::runner::Scale;
use crate::series::Sample;

const MISS: &str = "notify, nobody waits on the word";
const HIT: &str = "wait and notify";
const GOLDEN: usize = 0x9E37_79B9_7F4A_7C15;
/// What a table of three buckets per thread has for 4,000 threads.
const BITS: u32 = 14;

pub(super) fn workload() -> Workload {
    Workload {
        name: "collisions",
        about: "Notify on a word, and a wait with the notify that ends it, while N others wait on words that collide \
                with it in a hash table without a secret. For parking_lot_core the N are blocked threads, for waitword \
                async waiters; a wait of parking_lot_core is not shown, because its thread would have to sleep.",
        baseline: OURS,
        contenders: vec![
            Contender { name: OURS, run: ours },
            Contender { name: "parking_lot_core", run: parking_lot_core },
        ],
        goals: vec![goal(MISS, Limit::TimesSmallest(2.0)), goal(HIT, Limit::TimesSmallest(2.0))],
        charted: false,
    }
}

fn crowds(scale: &Scale) -> [usize; 2] {
    [0, if scale.quick { 400 } else { 4_000 }]
}

fn ours(scale: &Scale) -> Vec<Sample> {
    let calls = scale.operations(1_000_000);
    let block = Block::new();
    let (victim, colliding) = block.colliding();
    let at_size = |n: usize| {
        let mut crowd = Crowd::new(n);
        (0..n).for_each(|i| crowd.enter(i, wait_async(colliding[i % colliding.len()], 0)));
        let [mut miss, mut hit] = <[Stopwatch; 2]>::default();
        miss.time(calls, || (0..calls).for_each(|_| assert_eq!(notify_one(victim), 0)));
        hit.time(calls, || {
            for _ in 0..calls {
                let mut wait = pin!(wait_async(victim, 0));
                let mut cx = Context::from_waker(Waker::noop());
                assert!(wait.as_mut().poll(&mut cx).is_pending());
                assert_eq!(notify_one(victim), 1);
                assert!(wait.poll(&mut cx).is_ready());
            }
        });
        [miss.sample(MISS, n), hit.sample(HIT, n)]
    };
    let samples = crowds(scale).into_iter().flat_map(at_size).collect();
    colliding.iter().for_each(|word| assert_eq!(notify_all(*word), 0));
    samples
}

fn parking_lot_core(scale: &Scale) -> Vec<Sample> {
    let block = Block::new();
    let (victim, colliding) = block.colliding();
    let key = |word: &AtomicU32| word.as_ptr().addr();
    let at_size = |n: usize| {
        let parked = AtomicUsize::new(0);
        thread::scope(|scope| {
            for i in 0..n {
                let word = colliding[i % colliding.len()];
                let sleeper = || {
                    let count = || {
                        parked.fetch_add(1, Ordering::SeqCst);
                    };
                    let token = parking_lot_core::DEFAULT_PARK_TOKEN;
                    // SAFETY: the key is the address of memory of ours, and the callbacks call nothing of that crate.
                    unsafe { parking_lot_core::park(key(word), || true, count, |_, _| {}, token, None) };
                };
                let builder = thread::Builder::new().stack_size(64 << 10);
                builder.spawn_scoped(scope, sleeper).expect("the system has room for the threads");
            }
            while parked.load(Ordering::SeqCst) < n {
                thread::yield_now();
            }
            let calls = scale.operations(1_000_000) / (1 + n / 2);
            let mut miss = Stopwatch::default();
            miss.time(calls, || {
                for _ in 0..calls {
                    // SAFETY: as above.
                    unsafe {
                        parking_lot_core::unpark_one(key(victim), |_| parking_lot_core::DEFAULT_UNPARK_TOKEN)
                    };
                }
            });
            for word in &colliding {
                // SAFETY: as above.
                unsafe { parking_lot_core::unpark_all(key(word), parking_lot_core::DEFAULT_UNPARK_TOKEN) };
            }
            miss.sample(MISS, n)
        })
    };
    crowds(scale).map(at_size).to_vec()
}

/// Memory with enough words that dozens of them collide.
struct Block(Vec<AtomicU32>);

impl Block {
    fn new() -> Self {
        Self((0..1 << 20).map(|_| AtomicU32::new(0)).collect())
    }

    /// A word, and all others of the block that share its bucket.
    fn colliding(&self) -> (&AtomicU32, Vec<&AtomicU32>) {
        let bucket = |word: &AtomicU32| word.as_ptr().addr().wrapping_mul(GOLDEN) >> (usize::BITS - BITS);
        let (victim, others) = self.0.split_first().expect("it is not empty");
        let colliding = others.iter().filter(|word| bucket(word) == bucket(victim)).collect::<Vec<_>>();
        assert!(!colliding.is_empty(), "one in 16,384 words collides");
        (victim, colliding)
    }
}
