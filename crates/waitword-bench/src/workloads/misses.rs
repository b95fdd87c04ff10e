//! Operations without effect: a notify of a word without waiters, whose cost an uncontended unlock includes, and a wait that finds another
//! value.

use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

use waitword_core::{Outcome, wait, wait_async};

use super::neighbours::both;
use crate::figures::{Sample, Unit};
use crate::measure::{counting, timed};
use crate::queues::{EventListener, MaitakeQueue, Queues, TokioNotify, Waitword};
use crate::words::{Parking, ParkingLotCore};
use crate::workload::{Contender, OURS, Scale, Workload, contenders};

pub(super) fn workloads() -> Vec<Workload> {
    let mut notifies = vec![
        Contender::new("fence and load (limit)", fence_and_load),
        Contender::new(ParkingLotCore::NAME, unpark),
    ];
    notifies.extend(contenders! { notify: Waitword, TokioNotify, EventListener, MaitakeQueue; });
    let waits = vec![
        Contender::new("lock, load, unlock (limit)", locked_load),
        Contender::new(OURS, |scale| on_words(scale, |word| assert_eq!(wait(word, 1), Outcome::NotEqual))),
        Contender::new("waitword, async", future),
        Contender::new(ParkingLotCore::NAME, |scale| {
            on_words(scale, |word| ParkingLotCore::wait(word, 1, None))
        }),
    ];
    vec![
        Workload { name: "notify-miss", contenders: notifies },
        Workload { name: "not-equal", contenders: waits },
    ]
}

/// Words per thread: enough to average over their positions in memory and in a table.
const WORDS: usize = 64;

fn notify<Q: Queues>(scale: &Scale) -> Vec<Sample> {
    let queues = Q::with_words(2 * WORDS);
    at_one_and_two_threads(scale, |word| queues.notify_one(word))
}

fn unpark(scale: &Scale) -> Vec<Sample> {
    let words = [const { AtomicU32::new(0) }; 2 * WORDS];
    at_one_and_two_threads(scale, |word| ParkingLotCore::wake_one(&words[word]))
}

fn fence_and_load(scale: &Scale) -> Vec<Sample> {
    let counts = [const { AtomicUsize::new(0) }; 2 * WORDS];
    at_one_and_two_threads(scale, |word| {
        fence(Ordering::SeqCst);
        black_box(counts[word].load(Ordering::Relaxed));
    })
}

/// CPU time per call of `notify`. Each thread calls it on its own words.
fn at_one_and_two_threads(scale: &Scale, notify: impl Fn(usize) + Sync) -> Vec<Sample> {
    let calls = scale.operations(5_000_000);
    let on_words_of = |thread: usize, n| {
        let call = |call| notify(black_box(thread * WORDS + call % WORDS));
        timed("notify", n, calls, || (0..calls).for_each(call))
    };
    let one = on_words_of(0, 1);
    let two = both(|thread| on_words_of(thread, 2).value);
    vec![one, Sample::new("notify", 2, Unit::Nanos, two)]
}

fn future(scale: &Scale) -> Vec<Sample> {
    on_words(scale, |word| {
        let wait = pin!(wait_async(word, 1));
        assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    })
}

fn locked_load(scale: &Scale) -> Vec<Sample> {
    let lock = Mutex::new(());
    on_words(scale, |word| {
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(word.load(Ordering::SeqCst), 0);
    })
}

/// The cost of the call on a million different words, and the memory that it leaves allocated.
fn on_words(scale: &Scale, ask: impl Fn(&AtomicU32)) -> Vec<Sample> {
    let words = scale.operations(1_000_000);
    let all = (0..words).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    // The first call of a process or thread may allocate something once.
    ask(&all[0]);
    let one = timed("wait", 1, words, || (0..words).for_each(|_| ask(black_box(&all[0]))));
    let (each, counted) = counting(|counted| {
        let each = timed("wait", words, words, || all.iter().for_each(&ask));
        (each, counted())
    });
    vec![
        one,
        each,
        Sample::new("allocations", words, Unit::Count, counted.allocations as f64),
        Sample::new("retained", words, Unit::Bytes, counted.bytes as f64),
    ]
}
