//! The guards that a condition variable takes and gives back.

use std::mem;
use std::ops::DerefMut;
use std::sync::Arc;

use crate::handle::{Handle, HasRaw as _};
use crate::holders::HoldId;
use crate::mutex::Mutex;
use crate::mutex::guard::{MutexGuard, OwnedMutexGuard};
use crate::raw_mutex::RawMutex;

/// A guard that a wait on a [`Condvar`](crate::Condvar) takes: [`MutexGuard`] or [`OwnedMutexGuard`]; and with the feature
/// `lock_api` the guard of a `waitword::lock_api::Mutex`.
///
/// Mapped guards are not among them: a wait releases the whole value.
pub trait CondvarGuard: DerefMut + sealed::Relock {}

impl<T: ?Sized> CondvarGuard for MutexGuard<'_, T> {}

impl<T: ?Sized> CondvarGuard for OwnedMutexGuard<T> {}

pub(crate) mod sealed {
    use super::{Handle, HoldId, RawMutex};

    /// A guard that can be made again.
    pub trait Relock: Sized {
        /// How a wait accesses the mutex.
        #[allow(private_bounds, reason = "the trait is sealed")]
        type Handle: Handle<Raw = RawMutex>;

        /// What else is needed to make the guard again.
        type Rest: Copy;

        /// Called when a wait begins, which may end in the queue of the mutex.
        fn handle(&self) -> Self::Handle;

        fn rest(&self) -> Self::Rest;

        /// # Safety
        /// The mutex of the handle was acquired, and this is the guard of that acquisition. Handle and rest are of one guard.
        unsafe fn relocked(handle: Self::Handle, rest: Self::Rest, hold: HoldId) -> Self;

        /// Replaces the [`HoldId`] that the guard keeps. Returns the former one.
        fn keep(&mut self, hold: HoldId) -> HoldId;
    }
}

impl<'a, T: ?Sized> sealed::Relock for MutexGuard<'a, T> {
    type Handle = &'a RawMutex;
    type Rest = &'a Mutex<T>;

    fn handle(&self) -> &'a RawMutex {
        Self::mutex(self).will_wait();
        &Self::mutex(self).raw
    }

    fn rest(&self) -> &'a Mutex<T> {
        Self::mutex(self)
    }

    unsafe fn relocked(_raw: &'a RawMutex, mutex: &'a Mutex<T>, hold: HoldId) -> Self {
        // SAFETY: the contract of `relocked` is that of `new` (invariant 1 of `guards/mod.rs`).
        unsafe { Self::new(mutex, hold) }
    }

    fn keep(&mut self, hold: HoldId) -> HoldId {
        mem::replace(&mut self.hold, hold)
    }
}

impl<T: ?Sized> sealed::Relock for OwnedMutexGuard<T> {
    type Handle = Arc<Mutex<T>>;
    type Rest = ();

    fn handle(&self) -> Arc<Mutex<T>> {
        Self::mutex(self).will_wait();
        Arc::clone(Self::mutex(self))
    }

    fn rest(&self) {}

    unsafe fn relocked(mutex: Arc<Mutex<T>>, _rest: (), hold: HoldId) -> Self {
        // SAFETY: the contract of `relocked` is that of `new` (invariant 1 of `guards/mod.rs`).
        unsafe { Self::new(mutex, hold) }
    }

    fn keep(&mut self, hold: HoldId) -> HoldId {
        mem::replace(&mut self.hold, hold)
    }
}
