//! Mutexes without poisoning: the guarded data is consistent between any two statements.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even after a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
