//! usync's locks.

use ::usync::{Condvar, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

use super::{BlockingMonitor, BlockingMutex, BlockingRwLock, Condition, Monitor, Mutex, RwLock, State};

pub(crate) type Usync = ::usync::Mutex<()>;

impl Mutex for Usync {
    const NAME: &'static str = "usync";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Usync::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl BlockingMutex for Usync {
    fn lock(&self) -> Self::Guard<'_> {
        self.lock()
    }
}

pub(crate) type UsyncRwLock = ::usync::RwLock<()>;

impl RwLock for UsyncRwLock {
    const NAME: &'static str = "usync";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        UsyncRwLock::new(())
    }

    fn try_read(&self) -> Option<Self::Read<'_>> {
        self.try_read()
    }

    fn try_write(&self) -> Option<Self::Write<'_>> {
        self.try_write()
    }
}

impl BlockingRwLock for UsyncRwLock {
    fn read(&self) -> Self::Read<'_> {
        self.read()
    }

    fn write(&self) -> Self::Write<'_> {
        self.write()
    }
}

#[derive(Default)]
pub(crate) struct UsyncMonitor {
    state: ::usync::Mutex<State>,
    conditions: [Condvar; 2],
}

impl Monitor for UsyncMonitor {
    const NAME: &'static str = "usync";

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        self.conditions[condition as usize].notify_one();
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify_all();
    }
}

impl BlockingMonitor for UsyncMonitor {
    fn lock(&self) -> Self::Guard<'_> {
        self.state.lock()
    }

    fn wait<'a>(&'a self, condition: Condition, mut guard: Self::Guard<'a>) -> Self::Guard<'a> {
        self.conditions[condition as usize].wait(&mut guard);
        guard
    }
}
