//! The guards that a condition variable takes and gives back.

use std::mem;
use std::ops::DerefMut;
use std::sync::Arc;

use crate::handle::HasRaw;
use crate::holders::HoldId;
use crate::kept::Keeper;
use crate::mutex::Mutex;
use crate::mutex::guard::{MutexGuard, OwnedMutexGuard};
use crate::raw_mutex::RawMutex;

/// A guard that a wait on a [`Condvar`](crate::Condvar) accepts: [`MutexGuard`], [`OwnedMutexGuard`], and with the feature
/// `lock_api` or `lock_api_05` the guard of that module's `Mutex`.
///
/// Mapped guards are not accepted, because a wait releases the whole value. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "a wait of `Condvar` does not take `{Self}`",
    label = "not a `MutexGuard` or an `OwnedMutexGuard`",
    note = "the `_async` methods take the guard by value and return it: `guard = condvar.wait_async(guard).await`",
    note = "only the methods that block borrow it: `condvar.wait(&mut guard)`"
)]
pub trait CondvarGuard: DerefMut + sealed::Relock {}

impl<T: ?Sized> CondvarGuard for MutexGuard<'_, T> {}

impl<T: ?Sized> CondvarGuard for OwnedMutexGuard<T> {}

pub(crate) mod sealed {
    use super::{HasRaw, HoldId, Keeper, RawMutex};

    /// A guard that can be made again.
    pub trait Relock: Sized {
        /// How a wait reaches the mutex.
        #[allow(private_bounds, reason = "the trait is sealed")]
        type Mutex: Keeper<Target: HasRaw<Raw = RawMutex>>;

        /// Called when a wait begins, which may end in the queue of the mutex.
        fn mutex_of(&self) -> Self::Mutex;

        /// # Safety
        /// The mutex was acquired, and this is the guard of that acquisition.
        unsafe fn relocked(mutex: Self::Mutex, hold: HoldId) -> Self;

        /// Replaces the [`HoldId`] that the guard keeps. Returns the former one.
        fn keep(&mut self, hold: HoldId) -> HoldId;
    }
}

macro_rules! relock {
    ($Guard:ident<$($life:lifetime,)? T>: $Mutex:ty, $guard:ident => $mutex:expr) => {
        impl<$($life,)? T: ?Sized> sealed::Relock for $Guard<$($life,)? T> {
            type Mutex = $Mutex;

            fn mutex_of(&self) -> $Mutex {
                let $guard = self;
                let mutex = $mutex;
                mutex.will_wait();
                mutex
            }

            unsafe fn relocked(mutex: $Mutex, hold: HoldId) -> Self {
                // SAFETY: the contract of `relocked` is that of `new` (invariant 1 of `guards/mod.rs`).
                unsafe { Self::new(mutex, hold) }
            }

            fn keep(&mut self, hold: HoldId) -> HoldId {
                mem::replace(&mut self.hold, hold)
            }
        }
    };
}

relock! { MutexGuard<'a, T>: &'a Mutex<T>, guard => Self::mutex(guard) }
relock! { OwnedMutexGuard<T>: Arc<Mutex<T>>, guard => Arc::clone(Self::mutex(guard)) }
