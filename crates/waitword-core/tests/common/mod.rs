//! What several tests need.
#![allow(dead_code, reason = "each test file uses another part")]

use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::time::{Duration, Instant};

use waitword_core::{Location, WaitAsync, Word, wait_async};

/// Waits until another thread has made the condition true. Fails after a minute, instead of hanging.
#[track_caller]
pub(crate) fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::yield_now();
    }
}

/// A source of choices that is not any other `index`'s; `cargo xtask repeat` makes it another in each round.
pub(crate) fn random(index: u64) -> Random {
    let given = std::env::var("WAITWORD_SOAK_SEED").map_or(0, |seed| seed.parse().expect("a whole number"));
    // Neighbours of small numbers begin alike, and none may be 0.
    Random(index.wrapping_add(given).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }
}

/// Counts wakes, and the wakers that are still held somewhere.
pub(crate) struct Probe(Arc<Count>);

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Probe {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Count(AtomicUsize::new(0))))
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    pub(crate) fn wakes(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    pub(crate) fn held(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// A waker that reads the clock.
pub(crate) struct Ring {
    pub(crate) deadline: Instant,
    pub(crate) count: AtomicUsize,
    pub(crate) early: AtomicUsize,
}

impl Ring {
    pub(crate) fn at(deadline: Instant) -> Self {
        Self { deadline, count: AtomicUsize::new(0), early: AtomicUsize::new(0) }
    }
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.early.fetch_add(usize::from(Instant::now() < self.deadline), Ordering::SeqCst);
        self.count.fetch_add(1, Ordering::SeqCst);
    }
}

/// A waker that panics while it is [`armed`](Bomb::armed) for one of the constants.
pub(crate) struct Bomb;

impl Bomb {
    pub(crate) const NEVER: usize = 0;
    pub(crate) const CLONE: usize = 1;
    pub(crate) const SECOND_CLONE: usize = 2;
    pub(crate) const WAKE: usize = 3;
    pub(crate) const DROP: usize = 4;

    pub(crate) fn waker(armed: &'static AtomicUsize) -> ManuallyDrop<Waker> {
        // SAFETY: the functions of the table keep to its contract: the data is a static atomic.
        ManuallyDrop::new(unsafe { Waker::new(std::ptr::from_ref(armed).cast(), &VTABLE) })
    }

    /// Runs `run` with it armed.
    pub(crate) fn armed<T>(waker: &Waker, when: usize, run: impl FnOnce() -> T) -> std::thread::Result<T> {
        armed(waker.data()).store(when, Ordering::SeqCst);
        let ended = catch_unwind(AssertUnwindSafe(run));
        armed(waker.data()).store(Self::NEVER, Ordering::SeqCst);
        ended
    }
}

fn armed<'a>(data: *const ()) -> &'a AtomicUsize {
    // SAFETY: `Bomb::waker` was given a static.
    unsafe { &*data.cast() }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        assert_ne!(armed(data).load(Ordering::SeqCst), Bomb::CLONE, "on purpose");
        let _ =
            armed(data).compare_exchange(Bomb::SECOND_CLONE, Bomb::CLONE, Ordering::SeqCst, Ordering::SeqCst);
        RawWaker::new(data, &VTABLE)
    },
    |data| assert_ne!(armed(data).load(Ordering::SeqCst), Bomb::WAKE, "on purpose"),
    |data| assert_ne!(armed(data).load(Ordering::SeqCst), Bomb::WAKE, "on purpose"),
    |data| assert_ne!(armed(data).load(Ordering::SeqCst), Bomb::DROP, "on purpose"),
);

/// Polls once, with a waker that does nothing.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

pub(crate) fn poll_with<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// A wait that is queued, with a waker that does nothing.
#[track_caller]
pub(crate) fn queued<L: Location>(at: L, expected: Value<L>) -> Pin<Box<WaitAsync<L>>> {
    queued_with(at, expected, Waker::noop())
}

#[track_caller]
pub(crate) fn queued_with<L: Location>(at: L, expected: Value<L>, waker: &Waker) -> Pin<Box<WaitAsync<L>>> {
    let mut wait = Box::pin(wait_async(at, expected));
    assert!(poll_with(wait.as_mut(), waker).is_pending());
    wait
}

type Value<L> = <<L as Location>::Word as Word>::Value;
