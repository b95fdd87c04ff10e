//! The guard of a mutex of `lock_api`, for a condition variable to take and give back.

use ::lock_api::MutexGuard;

use crate::condvar::{CondvarGuard, Relock};
use crate::lock_api::Mutex;
use crate::lock_api::mutex::RawMutex;
use crate::raw_mutex;

impl<T: ?Sized> CondvarGuard for MutexGuard<'_, RawMutex, T> {}

impl<'a, T: ?Sized> Relock for MutexGuard<'a, RawMutex, T> {
    type Handle = &'a raw_mutex::RawMutex;
    type Rest = &'a Mutex<T>;

    fn handle(&self) -> &'a raw_mutex::RawMutex {
        // SAFETY: the word is shared only to wait. The wait borrows or owns the guard when it releases the word, and acquires the
        // word before there is a guard again.
        unsafe { Self::mutex(self).raw() }.inner()
    }

    fn rest(&self) -> &'a Mutex<T> {
        Self::mutex(self)
    }

    unsafe fn relocked(_raw: &'a raw_mutex::RawMutex, mutex: &'a Mutex<T>) -> Self {
        // SAFETY: the mutex was acquired for this guard, by the contract of `relocked`.
        unsafe { mutex.make_guard_unchecked() }
    }
}
