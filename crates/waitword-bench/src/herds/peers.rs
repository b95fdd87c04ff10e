//! The keyed queue of `parking_lot`, and a condition variable.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, ParkResult, park, unpark_all};

use super::herd::Herd;

pub(crate) struct ParkingLotCore(AtomicU32);

impl ParkingLotCore {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.0).addr()
    }

    fn park(&self, generation: u32, deadline: Option<Instant>) -> ParkResult {
        let validate = || self.0.load(Ordering::SeqCst) == generation;
        // SAFETY: only this file parks on the address of this word, and no callback parks or panics.
        unsafe { park(self.key(), validate, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, deadline) }
    }
}

impl Herd for ParkingLotCore {
    const NAME: &'static str = "parking_lot_core";

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn wait_while(&self, generation: u32) {
        while self.0.load(Ordering::SeqCst) == generation {
            self.park(generation, None);
        }
    }

    fn time_out(&self, timeout: Duration) {
        let generation = self.0.load(Ordering::SeqCst);
        assert_eq!(self.park(generation, Some(Instant::now() + timeout)), ParkResult::TimedOut);
    }

    fn advance(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        // SAFETY: as in `park`.
        unsafe { unpark_all(self.key(), DEFAULT_UNPARK_TOKEN) };
    }
}

/// A mutex for the generation, and a condition variable.
pub(crate) struct StdCondvar {
    generation: Mutex<u32>,
    changed: Condvar,
}

impl Herd for StdCondvar {
    const NAME: &'static str = "std Condvar";

    fn new() -> Self {
        Self { generation: Mutex::new(0), changed: Condvar::new() }
    }

    fn wait_while(&self, generation: u32) {
        let now = self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        let _now =
            self.changed.wait_while(now, |now| *now == generation).unwrap_or_else(PoisonError::into_inner);
    }

    fn time_out(&self, timeout: Duration) {
        let now = self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        let (_now, result) =
            self.changed.wait_timeout_while(now, timeout, |_| true).unwrap_or_else(PoisonError::into_inner);
        assert!(result.timed_out());
    }

    fn advance(&self) {
        *self.generation.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }
}
