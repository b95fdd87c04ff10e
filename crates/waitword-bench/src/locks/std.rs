//! std's mutex. Nothing in here panics while it is locked, so a poisoned one is as good as any.

use std::sync::{MutexGuard, PoisonError, TryLockError};

use super::{BlockingMutex, Mutex};

pub(crate) type Std = std::sync::Mutex<()>;

impl Mutex for Std {
    const NAME: &'static str = "std";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Std::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        match self.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl BlockingMutex for Std {
    fn lock(&self) -> Self::Guard<'_> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
