//! The methods that acquire: the same grid for each of the three modes, written once.

use std::fmt;
use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::Caller;
use waitword_core::observe::holders::HoldId;

use crate::acquire;
use crate::error::LockError;
use crate::raw_rwlock::Mode;
use crate::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockRead,
    RwLockReadGuard, RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil, RwLockUpgradableRead,
    RwLockUpgradableReadGuard, RwLockUpgradableReadOwned, RwLockUpgradableReadOwnedUntil,
    RwLockUpgradableReadUntil, RwLockWrite, RwLockWriteGuard, RwLockWriteOwned, RwLockWriteOwnedUntil,
    RwLockWriteUntil,
};

macro_rules! grid {
    (
        $title:literal, $what:literal, $until_when:literal, $mode:expr, $guard:ident, $owned_guard:ident;
        $plain:ident($instead:literal; $($plain_alias:literal),+), $try:ident,
        $for:ident($for_alias:literal), $until:ident($until_alias:literal);
        $async:ident($async_alias:literal) -> $future:ident,
        $async_for:ident, $async_until:ident -> $future_until:ident;
        $owned:ident($owned_alias:literal, $owned_instead:literal), $try_owned:ident,
        $owned_for:ident, $owned_until:ident;
        $owned_async:ident -> $owned_future:ident,
        $owned_async_for:ident, $owned_async_until:ident -> $owned_future_until:ident;
    ) => {
        #[doc = concat!("# ", $title)]
        impl<T: ?Sized> RwLock<T> {
            #[doc = concat!($what, ", blocking this thread until ", $until_when, ".")]
            ///
            /// ```
            #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($plain), "(), 1);")]
            /// ```
            ///
            /// # Panics
            /// If it has to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
            #[doc = concat!("[`", $instead, "`](Self::", $instead, ") there.")]
            ///
            /// # Deadlocks
            /// See [recursion](Self#recursion).
            #[doc(alias($($plain_alias),+))]
            #[inline]
            #[track_caller]
            pub fn $plain(&self) -> $guard<'_, T> {
                let hold = self.acquire(|| $mode, || $instead);
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                unsafe { $guard::new(self, hold) }
            }

            #[doc = concat!($what, " if there is room and no waiter has it reserved. Never waits.")]
            #[must_use = "if it is a guard, the lock is released when that is dropped"]
            #[inline]
            #[track_caller]
            pub fn $try(&self) -> Option<$guard<'_, T>> {
                // SAFETY: made only from an acquisition, for this guard alone (invariant 1).
                acquire::try_take(&self.raw, $mode).map(|hold| unsafe { $guard::new(self, hold) })
            }

            #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), for `timeout` at the longest.")]
            ///
            /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), ").")]
            #[doc(alias = $for_alias)]
            #[inline]
            #[track_caller]
            pub fn $for(&self, timeout: Duration) -> Result<$guard<'_, T>, LockError> {
                let hold = self.acquire_until(|| $mode, || Instant::now().checked_add(timeout))?;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                Ok(unsafe { $guard::new(self, hold) })
            }

            #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), until `deadline` at the latest.")]
            /// If there is room, it acquires also after the deadline.
            ///
            /// # Errors
            /// [`TimedOut`](LockError::TimedOut), never before the deadline;
            /// [`BlockingForbidden`](LockError::BlockingForbidden) if it has to wait on a thread that must not block.
            #[doc(alias = $until_alias)]
            #[inline]
            #[track_caller]
            pub fn $until(&self, deadline: Instant) -> Result<$guard<'_, T>, LockError> {
                let hold = self.acquire_until(|| $mode, || Some(deadline))?;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                Ok(unsafe { $guard::new(self, hold) })
            }

            #[doc = concat!($what, " without blocking this thread. The future is ready with the guard when ", $until_when, ".")]
            ///
            /// Works with any executor. Nothing happens before the first poll, which enqueues if it has to.
            ///
            /// ```
            /// # smol::block_on(async {
            #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($async), "().await, 1);")]
            /// # });
            /// ```
            ///
            /// # Cancellation
            /// Dropping the future dequeues it, at whatever moment. Its signal is forwarded to the next waiter.
            /// A future that is polled again later, as in a loop around `select!`, keeps its position, so keep the
            /// future rather than make a new one.
            ///
            /// # Fairness
            /// See [the type](Self#fairness). A poll tries and enqueues; it does not spin.
            ///
            /// # Panics
            /// When polled again after it was ready.
            #[doc(alias = $async_alias)]
            #[inline]
            #[track_caller]
            pub fn $async(&self) -> $future<'_, T> {
                $future::new(self)
            }

            #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), "), for `timeout` at the longest, counted from this call.")]
            ///
            /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
            ///
            /// # Errors, cancellation, panics
            #[doc = concat!("As [`", stringify!($async_until), "`](Self::", stringify!($async_until), ").")]
            #[track_caller]
            pub fn $async_for(&self, timeout: Duration) -> $future_until<'_, T> {
                $future_until::new(self, Instant::now().checked_add(timeout))
            }

            #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), "), until `deadline` at the latest.")]
            /// If there is room, it acquires also after the deadline. Needs no timer of the executor's.
            ///
            /// # Errors
            /// [`TimedOut`](LockError::TimedOut), never before the deadline.
            ///
            /// # Cancellation
            #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), ").")]
            ///
            /// # Panics
            /// When polled again after it was ready; and when it has to wait, if it is the first in the process and the
            /// system cannot start the thread that keeps the time.
            #[track_caller]
            pub fn $async_until(&self, deadline: Instant) -> $future_until<'_, T> {
                $future_until::new(self, Some(deadline))
            }

            #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), with a guard that has a share in the lock.")]
            ///
            /// # Panics
            /// If it has to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
            #[doc = concat!("[`", $owned_instead, "`](Self::", $owned_instead, ") there.")]
            #[doc(alias = $owned_alias)]
            #[inline]
            #[track_caller]
            pub fn $owned(self: &Arc<Self>) -> $owned_guard<T> {
                let hold = self.acquire(|| $mode, || $owned_instead);
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                unsafe { $owned_guard::new(Arc::clone(self), hold) }
            }

            #[doc = concat!("As [`", stringify!($try), "`](Self::", stringify!($try), "), with a guard that has a share in the lock.")]
            #[must_use = "if it is a guard, the lock is released when that is dropped"]
            #[inline]
            #[track_caller]
            pub fn $try_owned(self: &Arc<Self>) -> Option<$owned_guard<T>> {
                // SAFETY: made only from an acquisition, for this guard alone (invariant 1).
                acquire::try_take(&self.raw, $mode).map(|hold| unsafe { $owned_guard::new(Arc::clone(self), hold) })
            }

            #[doc = concat!("As [`", stringify!($for), "`](Self::", stringify!($for), "), with a guard that has a share in the lock.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), ").")]
            #[inline]
            #[track_caller]
            pub fn $owned_for(self: &Arc<Self>, timeout: Duration) -> Result<$owned_guard<T>, LockError> {
                let hold = self.acquire_until(|| $mode, || Instant::now().checked_add(timeout))?;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                Ok(unsafe { $owned_guard::new(Arc::clone(self), hold) })
            }

            #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), "), with a guard that has a share in the lock.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), ").")]
            #[inline]
            #[track_caller]
            pub fn $owned_until(self: &Arc<Self>, deadline: Instant) -> Result<$owned_guard<T>, LockError> {
                let hold = self.acquire_until(|| $mode, || Some(deadline))?;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                Ok(unsafe { $owned_guard::new(Arc::clone(self), hold) })
            }

            #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), "), with a guard and a future that have a share in the lock.")]
            ///
            /// # Cancellation, fairness, panics
            #[doc = concat!("As [`", stringify!($async), "`](Self::", stringify!($async), ").")]
            #[inline]
            #[track_caller]
            pub fn $owned_async(self: &Arc<Self>) -> $owned_future<T> {
                $owned_future::new(Arc::clone(self))
            }

            #[doc = concat!("As [`", stringify!($async_for), "`](Self::", stringify!($async_for), "), with a guard and a future that have a share in the lock.")]
            ///
            /// # Errors, cancellation, panics
            #[doc = concat!("As [`", stringify!($async_until), "`](Self::", stringify!($async_until), ").")]
            #[track_caller]
            pub fn $owned_async_for(self: &Arc<Self>, timeout: Duration) -> $owned_future_until<T> {
                $owned_future_until::new(Arc::clone(self), Instant::now().checked_add(timeout))
            }

            #[doc = concat!("As [`", stringify!($async_until), "`](Self::", stringify!($async_until), "), with a guard and a future that have a share in the lock.")]
            ///
            /// # Errors, cancellation, panics
            #[doc = concat!("As [`", stringify!($async_until), "`](Self::", stringify!($async_until), ").")]
            #[track_caller]
            pub fn $owned_async_until(self: &Arc<Self>, deadline: Instant) -> $owned_future_until<T> {
                $owned_future_until::new(Arc::clone(self), Some(deadline))
            }
        }
    };
}

grid! {
    "Reading", "Reads, together with others", "nobody writes and nobody before it is queued",
    Mode::Read, RwLockReadGuard, OwnedRwLockReadGuard;
    read("read_async"; "blocking_read", "read_blocking", "lock_shared", "pthread_rwlock_rdlock"), try_read, read_for("try_read_for"), read_until("try_read_until");
    read_async("async_read") -> RwLockRead, read_async_for, read_async_until -> RwLockReadUntil;
    read_owned("read_arc", "read_owned_async"), try_read_owned, read_owned_for, read_owned_until;
    read_owned_async -> RwLockReadOwned, read_owned_async_for, read_owned_async_until -> RwLockReadOwnedUntil;
}

grid! {
    "Writing", "Has the value alone", "everybody else has left",
    Mode::Write, RwLockWriteGuard, OwnedRwLockWriteGuard;
    write("write_async"; "blocking_write", "write_blocking", "lock_exclusive", "pthread_rwlock_wrlock"), try_write, write_for("try_write_for"), write_until("try_write_until");
    write_async("async_write") -> RwLockWrite, write_async_for, write_async_until -> RwLockWriteUntil;
    write_owned("write_arc", "write_owned_async"), try_write_owned, write_owned_for, write_owned_until;
    write_owned_async -> RwLockWriteOwned,
    write_owned_async_for, write_owned_async_until -> RwLockWriteOwnedUntil;
}

grid! {
    "Reading, perhaps to write", "Reads together with others, as the one who may upgrade to writing",
    "nobody writes, nobody else may upgrade, and nobody before it is queued",
    Mode::Upgradable, RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard;
    upgradable_read("upgradable_read_async"; "upgradeable_read", "lock_upgradable", "upgradable_read_blocking"), try_upgradable_read,
    upgradable_read_for("try_upgradable_read_for"), upgradable_read_until("try_upgradable_read_until");
    upgradable_read_async("upgradeable_read_async") -> RwLockUpgradableRead,
    upgradable_read_async_for, upgradable_read_async_until -> RwLockUpgradableReadUntil;
    upgradable_read_owned("upgradable_read_arc", "upgradable_read_owned_async"), try_upgradable_read_owned,
    upgradable_read_owned_for, upgradable_read_owned_until;
    upgradable_read_owned_async -> RwLockUpgradableReadOwned,
    upgradable_read_owned_async_for, upgradable_read_owned_async_until -> RwLockUpgradableReadOwnedUntil;
}

impl<T: ?Sized> RwLock<T> {
    /// The blocking half of the grid. `instead` is for threads that must not block. The mode is a function: see [`acquire::take`].
    #[inline]
    #[track_caller]
    fn acquire(&self, mode: impl Fn() -> Mode + Copy, instead: impl Fn() -> &'static str + Copy) -> HoldId {
        let Ok(hold) = acquire::acquire(self, mode, instead);
        hold
    }

    /// The clock is not read if there is no need to wait.
    #[inline]
    #[track_caller]
    fn acquire_until(
        &self,
        mode: impl Fn() -> Mode + Copy,
        deadline: impl FnOnce() -> Option<Instant>,
    ) -> Result<HoldId, LockError> {
        match acquire::take::<{ acquire::TIMED }, _>(&self.raw, mode) {
            Some(hold) => Ok(hold),
            None => acquire::block_until_for(self, mode(), deadline()).map(|Ok(hold)| hold),
        }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Reads if there is no writer, even if one is queued; also while an upgrade is pending, if there is another reader.
    /// Never waits.
    ///
    /// It always succeeds for a holder that reads already. For others it is not fair: a stream of such reads starves
    /// writers.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let outer = lock.read();
    /// // Somewhere inside; perhaps a writer is queued.
    /// let inner = lock.try_read_recursive().expect("read already");
    /// assert_eq!(*outer, *inner);
    /// ```
    #[doc(alias("read_recursive", "recursive_read"))]
    #[must_use = "if it is a guard, the lock is released when that is dropped"]
    #[track_caller]
    pub fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, T>> {
        if !self.raw.read_recursive() {
            return None;
        }
        let hold = acquire::held_by_thread(&self.raw, Mode::Read, Caller::here(), true);
        // SAFETY: made only from an acquisition as a reader, for this guard (invariant 1).
        Some(unsafe { RwLockReadGuard::new(self, hold) })
    }
}

/// Shows the value if there is no writer, reading it meanwhile. Does not wait.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read_recursive() {
            Some(guard) => shown.field("data", &&*guard),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
