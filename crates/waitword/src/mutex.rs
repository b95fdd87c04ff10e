//! The mutex: what you call, and the value that it protects.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use crate::acquire::{self, Acquire, AcquireAsync};
use crate::error::LockError;
use crate::raw_mutex::RawMutex;

/// A value that one thread or task at a time can reach.
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through the one guard that there is at a time.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    crate::sync::const_fn! {
        /// A free mutex.
        pub const fn new(value: T) -> Self {
            Self { raw: RawMutex::new(), value: UnsafeCell::new(value) }
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        if !self.raw.take() {
            acquire::block(&self.raw, "lock_async");
        }
        MutexGuard { mutex: self, _value: PhantomData }
    }

    /// Locks
    pub async fn lock_async(&self) -> MutexGuard<'_, T> {
        AcquireAsync::new(&self.raw).await;
        MutexGuard { mutex: self, _value: PhantomData }
    }

    /// Try
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.raw.take().then(|| MutexGuard { mutex: self, _value: PhantomData })
    }

    /// Locks for
    pub fn lock_for(&self, timeout: Duration) -> Result<MutexGuard<'_, T>, LockError> {
        if !self.raw.take() {
            acquire::block_until(&self.raw, Instant::now().checked_add(timeout))?;
        }
        Ok(MutexGuard { mutex: self, _value: PhantomData })
    }
}

/// guard
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    _value: PhantomData<&'a mut T>,
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: one guard
        unsafe { &*self.mutex.value.get() }
    }
}
impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: one guard
        unsafe { &mut *self.mutex.value.get() }
    }
}
impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.release();
    }
}
impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("locked", &self.raw.is_locked()).finish_non_exhaustive()
    }
}
