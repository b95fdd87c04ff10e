//! The raw mutexes: waitword's, which `Mutex`, `FairMutex` and `ReentrantMutex` are made of. Next is `raw_rwlock.rs`.

use std::mem::ManuallyDrop;
use std::panic::RefUnwindSafe;
use std::time::{Duration, Instant};

use lock_api::RawMutexFair as _;

use crate::raw::raw_traits;
use crate::{Held, Tried, inner, of_this_version};

/// The lock of [`Mutex`](crate::Mutex), without a value.
// waitword's mutex of `()`, because waitword's condition variable takes the guard of one.
pub struct RawMutex(inner::Mutex<()>);

// A value of `()` cannot be seen half changed.
impl RefUnwindSafe for RawMutex {}

/// The lock of [`FairMutex`](crate::FairMutex): each release reserves it for the thread that has waited longest.
pub struct RawFairMutex(RawMutex);

impl RawMutex {
    #[inline]
    fn inner(&self) -> &inner::RawMutex {
        // SAFETY: this wants that no guard that others may use loses its mutex. `wait` makes the only guards, of mutexes that its callers hold.
        unsafe { self.0.raw() }
    }

    /// Waits for a notify, with the mutex released. Returns whether the deadline came first.
    ///
    /// # Panics
    /// If other waiters use another mutex. The mutex is still held then.
    ///
    /// # Safety
    /// The caller holds the mutex, and nobody uses its value until this returns or panics.
    #[track_caller]
    pub(crate) unsafe fn wait(&self, condvar: &waitword::Condvar, deadline: Option<Instant>) -> bool {
        // SAFETY: the mutex is held. This guard is never dropped: that of the caller releases the mutex.
        let mut guard = ManuallyDrop::new(unsafe { self.guard() });
        match deadline {
            None => condvar.wait(&mut *guard),
            Some(deadline) => return condvar.wait_until(&mut *guard, deadline).is_err(),
        }
        false
    }
}

impl RawFairMutex {
    #[inline]
    fn inner(&self) -> &RawMutex {
        &self.0
    }
}

macro_rules! implement {
    (($($state:ident: $Guard:ty)?); $mutex_types:tt $rwlock_types:tt $upgrade_types:tt) => {
        implement! { RawMutex, Self(inner::Mutex::new(())), unlock; ($($state: $Guard)?) $mutex_types }
        implement! { RawFairMutex, Self(RawMutex::INIT), unlock_fair; ($($state: $Guard)?) $mutex_types }

        impl RawMutex {
            /// # Safety
            /// The mutex is held, and no other guard is used meanwhile.
            unsafe fn guard(&self) -> lock_api::MutexGuard<'_, inner::RawMutex, ()> {
                // SAFETY: the contract is the caller's. All states are the same.
                unsafe { self.0.make_guard_unchecked($(crate::raw::Outcome::of(<$Guard>::new()))?) }
            }
        }
    };
    ($Raw:ident, $init:expr, $unlock:ident; $states:tt [$($types:tt)*]) => {
        raw_traits! {
            $Raw, $states;
            RawMutex {
                [#[allow(clippy::declare_interior_mutable_const, reason = "the trait wants it")] const INIT: Self = $init; $($types)*]
                acquires lock() -> Held;
                acquires try_lock() -> Tried;
                releases unlock by $unlock;
                asks is_locked;
            }
            RawMutexFair { [] releases unlock_fair by unlock_fair; bumps bump; }
            RawMutexTimed {
                [type Duration = Duration; type Instant = Instant;]
                acquires try_lock_for(timeout: Duration) -> Tried;
                acquires try_lock_until(deadline: Instant) -> Tried;
            }
        }
    };
}

of_this_version!(implement);
