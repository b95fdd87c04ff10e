//! The raw traits of a mutex.

use std::fmt;
use std::time::{Duration, Instant};

use ::lock_api::{GuardSend, RawMutexFair, RawMutexTimed};

use crate::acquire::{self, Acquire};
use crate::raw_mutex;

/// The word of [`crate::Mutex`], without a value and without guards.
///
/// # Panics
/// As [`crate::Mutex::lock`]: `lock` does, where it would have to wait on a thread that must not block, and so does `bump`,
/// which still holds it then. The timed forms return `false` there at once.
pub struct RawMutex(raw_mutex::RawMutex);

impl RawMutex {
    pub(super) fn inner(&self) -> &raw_mutex::RawMutex {
        &self.0
    }
}

/// Shows whether it is held at this moment.
impl fmt::Debug for RawMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.0.is_locked()).finish()
    }
}

// SAFETY: the word is locked by one at a time, until that one releases it; any thread may.
unsafe impl ::lock_api::RawMutex for RawMutex {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants a value to begin with")]
    const INIT: Self = Self(raw_mutex::RawMutex::new());

    type GuardMarker = GuardSend;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        if !self.0.take(()) {
            acquire::block(&self.0, (), "Mutex::lock_async");
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        acquire::try_take(&self.0, ())
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.release();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above; it is for the waiters of that moment. A bump ends with the lock held, also if it unwinds.
unsafe impl RawMutexFair for RawMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        self.0.release_fair();
    }

    #[inline]
    #[track_caller]
    unsafe fn bump(&self) {
        self.0.bump("Mutex::lock_async");
    }
}

// SAFETY: as above; `true` means that it was acquired.
unsafe impl RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.0.take(()) || acquire::block_until(&self.0, (), Instant::now().checked_add(timeout)).is_ok()
    }

    #[inline]
    fn try_lock_until(&self, deadline: Instant) -> bool {
        self.0.take(()) || acquire::block_until(&self.0, (), Some(deadline)).is_ok()
    }
}
