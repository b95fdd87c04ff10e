//! The condition variable: waitword's `Condvar`, with the traits of `lock_api` 0.5.

use std::time::{Duration, Instant};

use crate::RawMutex;
use crate::raw::GuardMarker;

/// A condition variable: blocks threads until another thread notifies them of a change of the value in a [`Mutex`](crate::Mutex).
///
/// All concurrent waiters have to use the same mutex: a wait with another mutex panics. There are no spurious wakeups.
pub type Condvar = lock_api::Condvar<RawCondvar>;

/// The raw condition variable of [`Condvar`], which takes a [`RawMutex`] instead of a guard.
pub struct RawCondvar(waitword::Condvar);

// SAFETY: the mutex is held when a wait returns. A wait that panics does so before it releases the mutex. There are no spurious wakeups.
unsafe impl lock_api::RawCondvar for RawCondvar {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants it")]
    const INIT: Self = Self(waitword::Condvar::new());

    type RawMutex = RawMutex;

    unsafe fn wait(&self, mutex: &RawMutex, _: &mut GuardMarker) {
        // SAFETY: the contract is the caller's.
        unsafe { mutex.wait(&self.0, None) };
    }

    fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    fn notify_all(&self) -> usize {
        self.0.notify_all()
    }
}

// SAFETY: as for `RawCondvar`.
unsafe impl lock_api::RawCondvarTimed for RawCondvar {
    fn checked_duration_to_instant(timeout: &Duration) -> Option<Instant> {
        Instant::now().checked_add(*timeout)
    }

    unsafe fn wait_until(&self, mutex: &RawMutex, _: &mut GuardMarker, deadline: &Instant) -> bool {
        // SAFETY: the contract is the caller's.
        unsafe { mutex.wait(&self.0, Some(*deadline)) }
    }
}
