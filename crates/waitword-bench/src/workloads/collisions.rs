//! Hostile neighbours: thousands of waiters on words that were picked to collide with ours.
//!
//! The words are those that share a bucket under multiplicative hashing with the golden ratio, which is what a table
//! without a secret uses, as parking_lot_core does. The layout of one block of memory is enough to find them.
//!
//! Then those that are found by brute force with the secret of our table.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, park, unpark_all, unpark_one};
use waitword_core::{Location, Table, Word, notify_one, wait_async};

use crate::crowd::Crowd;
use crate::measure::Stopwatch;
use crate::scale::Scale;
use crate::series::Sample;
use crate::workload::{Charts, Contender, Limit, OURS, Page, Workload, goal};

const MISS: &str = "notify, nobody waits on the word";
const HIT: &str = "wait and notify";
const MISS_WITH_SECRET: &str = "notify, nobody waits on the word; picked with our secret";
const HIT_WITH_SECRET: &str = "wait and notify; picked with our secret";

const GOLDEN: usize = 0x9E37_79B9_7F4A_7C15;
/// Words of which a few do not have a crowd, so that their places in our table average out.
const VICTIMS: usize = 16;

pub(super) fn workload() -> Workload {
    Workload {
        name: "collisions",
        about: "N others wait on words that collide with ours in a hash table without a secret: blocked \
                threads of parking_lot_core, tasks of waitword. Then with words picked with our secret, in a \
                table of one shard: each notify takes the lock, and all are in one bucket until the shard \
                draws another secret.",
        baseline: OURS,
        contenders: vec![
            Contender { name: OURS, run: ours },
            Contender { name: "parking_lot_core", run: parking_lot_core },
        ],
        goals: vec![
            goal(MISS, Limit::TimesSmallest(2.0)),
            goal(HIT, Limit::TimesSmallest(2.0)),
            goal(HIT_WITH_SECRET, Limit::TimesSmallest(2.0)),
        ],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn crowds(scale: &Scale) -> [usize; 2] {
    [0, if scale.quick { 400 } else { 4_000 }]
}

fn ours(scale: &Scale) -> Vec<Sample> {
    let block = block(1 << 20);
    // 4,096 of them.
    let without = colliding(&block, 8);
    let mut samples = measure(scale, &without, [MISS, HIT]);
    let table = Table::with_shards(1);
    let bits = crowds(scale)[1].ilog2();
    let block = self::block(crowds(scale)[1] << (bits + 1));
    let with = block.iter().filter(|word| table.secret_hash(word.as_ptr().addr()) & ((1 << bits) - 1) == 0);
    let with = with.map(|word| table.at(word)).collect::<Vec<_>>();
    samples.extend(measure(scale, &with, [MISS_WITH_SECRET, HIT_WITH_SECRET]));
    samples
}

fn measure<L: Location + Copy>(
    scale: &Scale,
    colliding: &[L],
    [miss_name, hit_name]: [&'static str; 2],
) -> Vec<Sample>
where
    L::Word: Word<Value = u32>,
{
    let (victims, others) = colliding.split_at(VICTIMS);
    let calls = scale.operations(1_000_000);
    let at_size = |n: usize| {
        let mut crowd = Crowd::new(n);
        (0..n).for_each(|i| crowd.enter(i, wait_async(others[i % others.len()], 0)));
        let [mut miss, mut hit] = <[Stopwatch; 2]>::default();
        miss.time(calls, || (0..calls).for_each(|call| assert_eq!(notify_one(victims[call % VICTIMS]), 0)));
        hit.time(calls, || {
            for call in 0..calls {
                let victim = victims[call % VICTIMS];
                let mut wait = pin!(wait_async(victim, 0));
                let mut cx = Context::from_waker(Waker::noop());
                assert!(wait.as_mut().poll(&mut cx).is_pending());
                assert_eq!(notify_one(victim), 1);
                assert!(wait.poll(&mut cx).is_ready());
            }
        });
        [miss.sample(miss_name, n), hit.sample(hit_name, n)]
    };
    crowds(scale).into_iter().flat_map(at_size).collect()
}

fn parking_lot_core(scale: &Scale) -> Vec<Sample> {
    let block = block(1 << 20);
    // It has three buckets per thread: 16,384 for 4,000 of them, and 64 words of the block in each.
    let colliding = colliding(&block, 14);
    let (victim, others) = colliding.split_first().expect("a block of a million words has that many");
    let key = |word: &AtomicU32| word.as_ptr().addr();
    let at_size = |n: usize| {
        let parked = AtomicUsize::new(0);
        let about_to_park = || {
            parked.fetch_add(1, Ordering::SeqCst);
        };
        thread::scope(|scope| {
            for word in others.iter().cycle().take(n) {
                let sleep = || {
                    // SAFETY: the key is the address of memory of ours, and the callbacks call nothing of that crate.
                    unsafe { park(key(word), || true, about_to_park, |_, _| {}, DEFAULT_PARK_TOKEN, None) };
                };
                let thread = thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, sleep);
                thread.expect("the system has room for the threads");
            }
            while parked.load(Ordering::SeqCst) < n {
                thread::yield_now();
            }
            let calls = scale.operations(1_000_000) / (1 + n / 2);
            let mut miss = Stopwatch::default();
            miss.time(calls, || {
                for _ in 0..calls {
                    // SAFETY: as above.
                    unsafe { unpark_one(key(victim), |_| DEFAULT_UNPARK_TOKEN) };
                }
            });
            for word in others {
                // SAFETY: as above.
                unsafe { unpark_all(key(word), DEFAULT_UNPARK_TOKEN) };
            }
            miss.sample(MISS, n)
        })
    };
    crowds(scale).map(at_size).to_vec()
}

fn block(words: usize) -> Vec<AtomicU32> {
    (0..words).map(|_| AtomicU32::new(0)).collect()
}

/// The words of `block` that share a bucket with the first, if there are 2^`bits` buckets.
fn colliding(block: &[AtomicU32], bits: u32) -> Vec<&AtomicU32> {
    let bucket = |word: &AtomicU32| word.as_ptr().addr().wrapping_mul(GOLDEN) >> (usize::BITS - bits);
    block.iter().filter(|word| bucket(word) == bucket(&block[0])).collect()
}
