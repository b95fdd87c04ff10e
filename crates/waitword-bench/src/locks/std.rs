//! std's locks. Nothing in here panics while they are locked, so a poisoned one is as good as any.

use std::sync::{
    Condvar, LockResult, MutexGuard, PoisonError, RwLockReadGuard, RwLockWriteGuard, TryLockError,
    TryLockResult,
};

use super::{BlockingMonitor, BlockingMutex, BlockingRwLock, Condition, Monitor, Mutex, RwLock, State};

pub(crate) type Std = std::sync::Mutex<()>;

impl Mutex for Std {
    const NAME: &'static str = "std";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Std::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        tried(self.try_lock())
    }
}

impl BlockingMutex for Std {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        locked(self.lock())
    }
}

pub(crate) type StdRwLock = std::sync::RwLock<()>;

impl RwLock for StdRwLock {
    const NAME: &'static str = "std";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        StdRwLock::new(())
    }

    #[inline]
    fn try_read(&self) -> Option<Self::Read<'_>> {
        tried(self.try_read())
    }

    #[inline]
    fn try_write(&self) -> Option<Self::Write<'_>> {
        tried(self.try_write())
    }
}

impl BlockingRwLock for StdRwLock {
    #[inline]
    fn read(&self) -> Self::Read<'_> {
        locked(self.read())
    }

    #[inline]
    fn write(&self) -> Self::Write<'_> {
        locked(self.write())
    }
}

#[derive(Default)]
pub(crate) struct StdMonitor {
    state: std::sync::Mutex<State>,
    conditions: [Condvar; 2],
}

impl Monitor for StdMonitor {
    const NAME: &'static str = "std";

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        self.conditions[condition as usize].notify_one();
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify_all();
    }
}

impl BlockingMonitor for StdMonitor {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        locked(self.state.lock())
    }

    fn wait<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        locked(self.conditions[condition as usize].wait(guard))
    }
}

fn locked<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}

fn tried<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
