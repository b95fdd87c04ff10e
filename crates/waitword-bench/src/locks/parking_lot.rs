//! parking_lot's locks, and usync's, which have the same interface.

use super::{BlockingMonitor, BlockingMutex, BlockingRwLock, Condition, Monitor, Mutex, RwLock, State};

macro_rules! locks {
    ($library:ident: $Mutex:ident, $RwLock:ident, $Monitor:ident) => {
        pub(crate) type $Mutex = ::$library::Mutex<()>;

        impl Mutex for $Mutex {
            const NAME: &'static str = stringify!($library);

            type Guard<'a> = ::$library::MutexGuard<'a, ()>;

            fn new() -> Self {
                $Mutex::new(())
            }

            #[inline]
            fn try_lock(&self) -> Option<Self::Guard<'_>> {
                self.try_lock()
            }
        }

        impl BlockingMutex for $Mutex {
            #[inline]
            fn lock(&self) -> Self::Guard<'_> {
                self.lock()
            }
        }

        pub(crate) type $RwLock = ::$library::RwLock<()>;

        impl RwLock for $RwLock {
            const NAME: &'static str = stringify!($library);

            type Read<'a> = ::$library::RwLockReadGuard<'a, ()>;
            type Write<'a> = ::$library::RwLockWriteGuard<'a, ()>;

            fn new() -> Self {
                $RwLock::new(())
            }

            #[inline]
            fn try_read(&self) -> Option<Self::Read<'_>> {
                self.try_read()
            }

            #[inline]
            fn try_write(&self) -> Option<Self::Write<'_>> {
                self.try_write()
            }
        }

        impl BlockingRwLock for $RwLock {
            #[inline]
            fn read(&self) -> Self::Read<'_> {
                self.read()
            }

            #[inline]
            fn write(&self) -> Self::Write<'_> {
                self.write()
            }
        }

        #[derive(Default)]
        pub(crate) struct $Monitor {
            state: ::$library::Mutex<State>,
            conditions: [::$library::Condvar; 2],
        }

        impl Monitor for $Monitor {
            const NAME: &'static str = stringify!($library);

            type Guard<'a> = ::$library::MutexGuard<'a, State>;

            fn notify_one(&self, condition: Condition) {
                self.conditions[condition as usize].notify_one();
            }

            fn notify_all(&self, condition: Condition) {
                self.conditions[condition as usize].notify_all();
            }
        }

        impl BlockingMonitor for $Monitor {
            #[inline]
            fn lock(&self) -> Self::Guard<'_> {
                self.state.lock()
            }

            fn wait<'a>(&'a self, condition: Condition, mut guard: Self::Guard<'a>) -> Self::Guard<'a> {
                self.conditions[condition as usize].wait(&mut guard);
                guard
            }
        }
    };
}

locks!(parking_lot: ParkingLot, ParkingLotRwLock, ParkingLotMonitor);
locks!(usync: Usync, UsyncRwLock, UsyncMonitor);
