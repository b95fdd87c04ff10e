//! A wait that finds another value, on a million different words: the cost of asking, and what it leaves behind.

use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

use waitword_core::{Outcome, wait, wait_async};

use crate::allocator::counting;
use crate::measure::Stopwatch;
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Contender, Limit, OURS, Page, Workload, goal};

const LIMIT: &str = "lock, load, unlock (limit)";

pub(super) fn workload() -> Workload {
    Workload {
        name: "not-equal",
        about: "A wait that returns at once, for the word holds another value: on one word, and on N words.",
        baseline: LIMIT,
        contenders: vec![
            Contender { name: LIMIT, run: limit },
            Contender { name: OURS, run: blocking },
            Contender { name: "waitword, async", run: future },
            Contender { name: "parking_lot_core", run: parking_lot_core },
        ],
        goals: vec![
            goal("wait", Limit::Times(1.3, LIMIT)),
            goal("allocations", Limit::Value(0.0)),
            goal("retained", Limit::Value(0.0)),
        ],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn blocking(scale: &Scale) -> Vec<Sample> {
    on_words(scale, |word| wait(word, 1) == Outcome::NotEqual)
}

fn future(scale: &Scale) -> Vec<Sample> {
    on_words(scale, |word| {
        let wait = pin!(wait_async(word, 1));
        wait.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    })
}

fn parking_lot_core(scale: &Scale) -> Vec<Sample> {
    on_words(scale, |word| {
        let key = std::ptr::from_ref(word).addr();
        let validate = || word.load(Ordering::SeqCst) == 1;
        // SAFETY: the key is the address of memory of ours, and the callbacks call nothing of that crate.
        let result = unsafe {
            parking_lot_core::park(
                key,
                validate,
                || {},
                |_, _| {},
                parking_lot_core::DEFAULT_PARK_TOKEN,
                None,
            )
        };
        result == parking_lot_core::ParkResult::Invalid
    })
}

fn limit(scale: &Scale) -> Vec<Sample> {
    let lock = Mutex::new(());
    on_words(scale, |word| {
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        word.load(Ordering::SeqCst) != 1
    })
}

fn on_words(scale: &Scale, asks: impl Fn(&AtomicU32) -> bool) -> Vec<Sample> {
    let words = scale.operations(1_000_000);
    let all = (0..words).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    // The first call of a process or thread may set something up for good.
    assert!(asks(&all[0]));
    let (mut one, mut each) = (Stopwatch::default(), Stopwatch::default());
    one.time(words, || (0..words).for_each(|_| assert!(asks(black_box(&all[0])))));
    let counted = counting(|counted| {
        each.time(words, || all.iter().for_each(|word| assert!(asks(word))));
        counted()
    });
    vec![
        one.sample("wait", 1),
        each.sample("wait", words),
        Sample::new("allocations", words, Unit::Count, counted.allocations as f64),
        Sample::new("retained", words, Unit::Bytes, counted.bytes as f64),
    ]
}
