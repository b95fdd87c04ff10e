//! The raw mutexes of `Mutex`, `FairMutex` and `ReentrantMutex`, implemented with waitword's mutex. Next is `raw_rwlock.rs`.

use std::mem::ManuallyDrop;
use std::panic::RefUnwindSafe;
use std::time::{Duration, Instant};

use lock_api::RawMutexFair as _;

use crate::raw::raw_traits;
use crate::{Held, Tried, inner, of_this_version};

/// The raw mutex of [`Mutex`](crate::Mutex) and [`ReentrantMutex`](crate::ReentrantMutex), without a value.
// A mutex around `()`, not a raw mutex, because waitword's condition variable takes the guard of a mutex.
pub struct RawMutex(inner::Mutex<()>);

// A panic cannot leave a `()` in an inconsistent state.
impl RefUnwindSafe for RawMutex {}

/// The raw mutex of [`FairMutex`](crate::FairMutex): each release reserves it for the thread that has waited longest.
pub struct RawFairMutex(RawMutex);

impl RawMutex {
    #[inline]
    fn inner(&self) -> &inner::RawMutex {
        // SAFETY: `raw` requires that the mutex is not released under a guard that others may use. Only `wait` makes guards, of mutexes that its
        // callers hold.
        unsafe { self.0.raw() }
    }

    /// Releases the mutex, blocks this thread until notified or until `deadline`, and locks the mutex again. Returns `true` if it timed out.
    ///
    /// # Panics
    /// If other waiters use another mutex. The mutex is still held then.
    ///
    /// # Safety
    /// The caller holds the mutex, and nobody uses the protected value until this returns or panics.
    #[track_caller]
    pub(crate) unsafe fn wait(&self, condvar: &waitword::Condvar, deadline: Option<Instant>) -> bool {
        // SAFETY: the caller holds the mutex. This guard is never dropped: the caller's guard releases the mutex.
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
            /// Creates a guard of the mutex.
            ///
            /// # Safety
            /// The caller holds the mutex, and no other guard of it is used while this one is.
            unsafe fn guard(&self) -> lock_api::MutexGuard<'_, inner::RawMutex, ()> {
                // SAFETY: the contract is the caller's. All guard states are equal.
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
