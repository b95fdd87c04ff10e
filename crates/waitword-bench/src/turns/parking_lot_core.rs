//! parking_lot_core: the turn is the word, and its address the key.

use std::sync::atomic::{AtomicU32, Ordering};

use ::parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, park, unpark_one};

use super::Turns;

pub(crate) struct ParkingLotCore(AtomicU32);

impl ParkingLotCore {
    fn key(&self) -> usize {
        self.0.as_ptr().addr()
    }
}

impl Turns for ParkingLotCore {
    const NAME: &'static str = "parking_lot_core";

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn wait_while(&self, turn: u32) {
        while self.0.load(Ordering::SeqCst) == turn {
            let still = || self.0.load(Ordering::SeqCst) == turn;
            // SAFETY: the key is the address of memory of ours, and the callbacks call nothing of that crate.
            unsafe { park(self.key(), still, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, None) };
        }
    }

    fn set(&self, turn: u32) {
        self.0.store(turn, Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { unpark_one(self.key(), |_| DEFAULT_UNPARK_TOKEN) };
    }
}
