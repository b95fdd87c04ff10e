//! parking_lot's locks.

use ::parking_lot::{Condvar, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

use super::{BlockingMonitor, BlockingMutex, BlockingRwLock, Condition, Monitor, Mutex, RwLock, State};

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

pub(crate) type ParkingLotRwLock = ::parking_lot::RwLock<()>;

impl RwLock for ParkingLotRwLock {
    const NAME: &'static str = "parking_lot";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        ParkingLotRwLock::new(())
    }

    fn try_read(&self) -> Option<Self::Read<'_>> {
        self.try_read()
    }

    fn try_write(&self) -> Option<Self::Write<'_>> {
        self.try_write()
    }
}

impl BlockingRwLock for ParkingLotRwLock {
    fn read(&self) -> Self::Read<'_> {
        self.read()
    }

    fn write(&self) -> Self::Write<'_> {
        self.write()
    }
}

#[derive(Default)]
pub(crate) struct ParkingLotMonitor {
    state: ::parking_lot::Mutex<State>,
    conditions: [Condvar; 2],
}

impl Monitor for ParkingLotMonitor {
    const NAME: &'static str = "parking_lot";

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        self.conditions[condition as usize].notify_one();
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify_all();
    }
}

impl BlockingMonitor for ParkingLotMonitor {
    fn lock(&self) -> Self::Guard<'_> {
        self.state.lock()
    }

    fn wait<'a>(&'a self, condition: Condition, mut guard: Self::Guard<'a>) -> Self::Guard<'a> {
        self.conditions[condition as usize].wait(&mut guard);
        guard
    }
}
