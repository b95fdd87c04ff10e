//! Words of memory that threads wait on: ours, and its peers. `turns.rs` has two parties that take turns by a word, `workloads/herds.rs`
//! herds of threads on one.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, park, unpark_all, unpark_one};
use waitword_core::{notify_all, notify_one, wait, wait_async, wait_for};

#[cfg(target_os = "linux")]
use crate::platform::{futex_wait, futex_wake};
use crate::workload::{OURS, Subject};

/// Wait queues of threads, one for each word, which is known by its address.
pub(crate) trait Parking: Send + Sync + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// Sleeps while the word holds `value`, for at most `timeout`; may return for no reason.
    fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>);

    /// The same without a timeout, by a task. It blocks its thread unless there is another way.
    fn wait_async(word: &AtomicU32, value: u32) -> impl Future + Send {
        async move { Self::wait(word, value, None) }
    }

    fn wake_one(word: &AtomicU32);
    fn wake_all(word: &AtomicU32);
}

pub(crate) struct Waitword;

impl Parking for Waitword {
    const NAME: &'static str = OURS;

    #[inline]
    fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
        let _ = match timeout {
            Some(timeout) => wait_for(word, value, timeout),
            None => wait(word, value),
        };
    }

    #[inline]
    fn wait_async(word: &AtomicU32, value: u32) -> impl Future + Send {
        wait_async(word, value)
    }

    #[inline]
    fn wake_one(word: &AtomicU32) {
        notify_one(word);
    }

    #[inline]
    fn wake_all(word: &AtomicU32) {
        notify_all(word);
    }
}

pub(crate) struct ParkingLotCore;

impl Parking for ParkingLotCore {
    const NAME: &'static str = "parking_lot_core";

    #[inline]
    fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
        let validate = || word.load(Ordering::SeqCst) == value;
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        // SAFETY: the key is the address of memory of ours, and the callbacks call nothing of that crate.
        unsafe { park(word.as_ptr().addr(), validate, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, deadline) };
    }

    #[inline]
    fn wake_one(word: &AtomicU32) {
        // SAFETY: as in `wait`.
        unsafe { unpark_one(word.as_ptr().addr(), |_| DEFAULT_UNPARK_TOKEN) };
    }

    #[inline]
    fn wake_all(word: &AtomicU32) {
        // SAFETY: as in `wait`.
        unsafe { unpark_all(word.as_ptr().addr(), DEFAULT_UNPARK_TOKEN) };
    }
}

/// The system's own wait queue on a word, without a check whether there are waiters.
#[cfg(target_os = "linux")]
pub(crate) struct RawFutex;

#[cfg(target_os = "linux")]
impl Parking for RawFutex {
    const NAME: &'static str = "raw futex (limit)";

    #[inline]
    fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
        futex_wait(word, value, timeout);
    }

    #[inline]
    fn wake_one(word: &AtomicU32) {
        futex_wake(word, 1);
    }

    #[inline]
    fn wake_all(word: &AtomicU32) {
        futex_wake(word, i32::MAX.unsigned_abs());
    }
}

/// What our waits on words are compared with.
#[cfg(target_os = "linux")]
pub(crate) const BASELINE: &str = RawFutex::NAME;
#[cfg(not(target_os = "linux"))]
pub(crate) const BASELINE: &str = ParkingLotCore::NAME;

/// A word, and what finds its waiters.
pub(crate) struct OnWord<P> {
    pub(crate) word: AtomicU32,
    _parking: PhantomData<P>,
}

impl<P: Parking> Subject for OnWord<P> {
    const NAME: &'static str = P::NAME;

    fn new() -> Self {
        Self { word: AtomicU32::new(0), _parking: PhantomData }
    }
}

impl<P: Parking> OnWord<P> {
    pub(crate) fn sleep_while(&self, value: u32) {
        while self.word.load(Ordering::SeqCst) == value {
            P::wait(&self.word, value, None);
        }
    }
}
