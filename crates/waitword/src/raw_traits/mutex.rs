//! The raw traits of a mutex, and its guard for a condition variable to take and give back.

use std::{fmt, mem, process};
use waitword_core::time::{Duration, Instant};

use crate::acquire::{self, OnUnwind};
use crate::condvar::guard::CondvarGuard;
use crate::condvar::guard::sealed::Relock;
use crate::handle::{HasRaw, has_raw};
use crate::holders::{HoldId, not_kept};
use crate::raw_mutex;
use crate::raw_traits::{Outcome, for_each_version, methods};

/// The raw mutex of [`crate::Mutex`], without a value and without guards, for `lock_api`.
///
/// # Where this thread must not block
/// If `lock` would have to wait on a thread that must not block ([`forbid_blocking`](crate::forbid_blocking)), it panics. But the process
/// aborts where a panic would leave a guard without its mutex: in `unlocked`, which locks the mutex again. With `lock_api` 0.4, `lock` cannot
/// tell these calls apart, so there the process always aborts. The timed methods fail at once, and `bump` does nothing.
pub struct RawMutex {
    raw: raw_mutex::RawMutex,
}

has_raw!(RawMutex, raw_mutex::RawMutex);

impl RawMutex {
    #[inline]
    #[track_caller]
    fn acquire(&self, may_unwind: bool) {
        let no_guard_without_lock = (!may_unwind).then(|| OnUnwind(|| process::abort()));
        let Ok(_) = acquire::block::acquire(self, || (), || "Mutex::lock_async");
        mem::forget(no_guard_without_lock);
    }

    #[inline]
    #[track_caller]
    fn acquire_until(&self, deadline: impl FnOnce() -> Option<Instant>) -> bool {
        acquire::block::acquire_until(self, || (), deadline).is_ok()
    }
}

/// Shows whether the mutex is held at this moment.
impl fmt::Debug for RawMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.raw.is_locked()).finish()
    }
}

macro_rules! implement {
    (
        $api:ident: $Held:ty, $Tried:ty, $TriedUpgrade:ty; ($($Guard:ty)?); $may_unwind:literal;
        [$($state:ident)*] [$($of_rwlock:ident)*] [$($of_upgrade:ident)*]
    ) => {
        // SAFETY: there is one holder at a time (the table in `raw_mutex/`), until it releases the word; any thread may release it, with a
        // state that is empty. `lock_api` calls `unlock` and `lock` while it has a guard, whose drop releases the word once more: `unlock`
        // never unwinds, for the wakers that it calls are caught (`waitword_core::signal_one`) and nothing else in it panics. `lock` unwinds
        // before it has acquired the word, if at all, and where `lock_api` does not abort then, it does so itself.
        unsafe impl ::$api::RawMutex for RawMutex {
            #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants a value to begin with")]
            const INIT: Self = Self { raw: raw_mutex::RawMutex::new() };

            $(type $state = ::$api::GuardSend;)*

            methods! {
                self, ($($Guard)?);
                always lock() -> $Held { self.acquire($may_unwind) }
                may try_lock() -> $Tried { acquire::held::try_take(&self.raw, ()).is_some() }
                release unlock() { self.raw.release(not_kept()) }
            }

            #[inline]
            fn is_locked(&self) -> bool {
                self.raw.is_locked()
            }
        }

        // SAFETY: a fair release is a release, which reserves the word for the present waiters, and does not unwind either. A bump ends
        // with the word held; it does not unwind, because it does nothing where this thread must not block, and aborts if it cannot acquire
        // the word again.
        unsafe impl ::$api::RawMutexFair for RawMutex {
            methods! {
                self, ($($Guard)?);
                release unlock_fair() { self.raw.release_fair(not_kept()) }
                bump bump() { self.raw.bump((), &mut { not_kept() }, None) }
            }
        }

        // SAFETY: there is one holder at a time; success means that the word was acquired.
        unsafe impl ::$api::RawMutexTimed for RawMutex {
            type Duration = Duration;
            type Instant = Instant;

            methods! {
                self, ();
                may try_lock_for(timeout: Duration) -> $Tried {
                    self.acquire_until(|| Instant::now().checked_add(timeout))
                }
                may try_lock_until(deadline: Instant) -> $Tried { self.acquire_until(|| Some(deadline)) }
            }
        }

        impl<T: ?Sized> HasRaw for ::$api::Mutex<RawMutex, T> {
            type Raw = raw_mutex::RawMutex;

            fn raw(&self) -> &raw_mutex::RawMutex {
                // SAFETY: this asks that its user does not release the word while there is a guard that others can use. A wait borrows or
                // owns that one when it releases the word, and acquires the word before the guard can be used again.
                &unsafe { ::$api::Mutex::raw(self) }.raw
            }
        }

        impl<T: ?Sized> CondvarGuard for ::$api::MutexGuard<'_, RawMutex, T> {}

        impl<'a, T: ?Sized> Relock for ::$api::MutexGuard<'a, RawMutex, T> {
            type Mutex = &'a ::$api::Mutex<RawMutex, T>;

            fn mutex_of(&self) -> Self::Mutex {
                Self::mutex(self)
            }

            unsafe fn relocked(mutex: Self::Mutex, _: HoldId) -> Self {
                // SAFETY: the mutex was acquired for this guard, by the contract of `relocked`. All states are the same.
                unsafe { mutex.make_guard_unchecked($(<$Guard>::new())?) }
            }

            fn keep(&mut self, _: HoldId) -> HoldId {
                not_kept()
            }
        }
    };
}

for_each_version!(implement);
