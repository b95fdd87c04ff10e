//! parking_lot's mutex.

use ::parking_lot::MutexGuard;

use super::{BlockingMutex, Mutex};

pub(crate) type ParkingLot = ::parking_lot::Mutex<()>;

impl Mutex for ParkingLot {
    const NAME: &'static str = "parking_lot";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        ParkingLot::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl BlockingMutex for ParkingLot {
    fn lock(&self) -> Self::Guard<'_> {
        self.lock()
    }
}
