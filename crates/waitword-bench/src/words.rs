//! Words of memory on which threads wait: ours and its peers. `turns.rs` has two parties that take turns by a word, `workloads/herds.rs`
//! herds of threads on one.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, park, unpark_all, unpark_one};
#[cfg(target_os = "linux")]
use rustix::{thread::futex, time::Timespec};
use waitword_core::{notify_all, notify_one, wait, wait_async, wait_for};

use crate::workload::{OURS, Subject};

/// Wait queues of threads, one for each word, identified by its address.
pub(crate) trait Parking: Send + Sync + 'static {
    /// The name in the tables.
    const NAME: &'static str;

    /// Blocks while the word holds `value`, for at most `timeout`. May return spuriously.
    fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>);

    /// Waits while the word holds `value`, as a task. By default this blocks the thread.
    fn wait_async(word: &AtomicU32, value: u32) -> impl Future + Send {
        async move { Self::wait(word, value, None) }
    }

    fn wake_one(word: &AtomicU32);
    fn wake_all(word: &AtomicU32);
}

/// One row per contender: its name here and in the tables, and its operations, for tasks too if it supports them.
macro_rules! words {
    ($($(#[$attribute:meta])* $Name:ident, $name:expr, {
        wait |$w:ident, $value:ident, $timeout:ident| $wait:expr;
        wake |$o:ident| $one:expr, $all:expr;
        $(wait_async |$aw:ident, $av:ident| $wait_async:expr;)?
    })+) => {$(
        $(#[$attribute])*
        pub(crate) struct $Name;

        $(#[$attribute])*
        impl Parking for $Name {
            const NAME: &'static str = $name;

            #[inline]
            fn wait($w: &AtomicU32, $value: u32, $timeout: Option<Duration>) {
                let _ = $wait;
            }

            $(#[inline]
            fn wait_async($aw: &AtomicU32, $av: u32) -> impl Future + Send {
                $wait_async
            })?

            #[inline]
            fn wake_one($o: &AtomicU32) {
                let _ = $one;
            }

            #[inline]
            fn wake_all($o: &AtomicU32) {
                let _ = $all;
            }
        }
    )+};
}

words! {
    Waitword, OURS, {
        wait |word, value, timeout| match timeout {
            Some(timeout) => wait_for(word, value, timeout),
            None => wait(word, value),
        };
        wake |word| notify_one(word), notify_all(word);
        wait_async |word, value| wait_async(word, value);
    }

    ParkingLotCore, "parking_lot_core", {
        wait |word, value, timeout| {
            let validate = || word.load(Ordering::SeqCst) == value;
            let deadline = timeout.map(|timeout| Instant::now() + timeout);
            // SAFETY: the key is the address of our own memory, and the callbacks call nothing of that crate.
            unsafe { park(word.as_ptr().addr(), validate, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, deadline) }
        };
        // SAFETY: as in `wait`.
        wake |word| unsafe { unpark_one(word.as_ptr().addr(), |_| DEFAULT_UNPARK_TOKEN) },
            // SAFETY: as in `wait`.
            unsafe { unpark_all(word.as_ptr().addr(), DEFAULT_UNPARK_TOKEN) };
    }

    /// The system's own wait queue of a word, without a check for waiters.
    #[cfg(target_os = "linux")]
    RawFutex, "raw futex (limit)", {
        wait |word, value, timeout| {
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            let _ = futex::wait(word, futex::Flags::PRIVATE, value, timeout.as_ref());
        };
        wake |word| futex::wake(word, futex::Flags::PRIVATE, 1),
            futex::wake(word, futex::Flags::PRIVATE, i32::MAX.unsigned_abs());
    }
}

/// A word, and the contender that waits on it.
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
