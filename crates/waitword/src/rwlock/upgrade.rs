//! From reading to writing, without a release in between; and back to reading for good.
//!
//! An upgrading holder has the lock all the time. So the futures hold the guard. When dropped, they first stop waiting for
//! the readers to leave, then drop the guard.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use waitword_core::time::{Duration, Instant};

use pin_project_lite::pin_project;
use waitword_core::observe::{Caller, WaitsFor};

use crate::acquire::attempts::take;
use crate::acquire::future::AcquireAsync;
use crate::acquire::{self, Acquire};
use crate::deadline::{Deadline, NoDeadline, Output, Until, gives_up, polls_either};
use crate::error::LockError;
use crate::handle::HasRaw;
use crate::holders::{Change, Hold, awaited, changed};
use crate::kept::{Keeper, Kept};
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::rwlock::RwLock;
use crate::rwlock::guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

/// The error of an upgrade that failed. It returns the guard.
pub struct NotUpgraded<G> {
    /// The guard, unchanged: it still holds the upgradable read lock.
    pub guard: G,
    /// Why the upgrade failed.
    pub error: LockError,
}

impl<W, G> Output<Result<W, (G, Infallible)>> for W {
    fn of(upgraded: Result<W, (G, Infallible)>) -> W {
        let Ok(guard) = upgraded;
        guard
    }
}

impl<W, G> Output<Result<W, (G, LockError)>> for Result<W, NotUpgraded<G>> {
    fn of(upgraded: Result<W, (G, LockError)>) -> Self {
        upgraded.map_err(|(guard, error)| NotUpgraded { guard, error })
    }
}

impl<G> fmt::Debug for NotUpgraded<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotUpgraded").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<G> fmt::Display for NotUpgraded<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<G> Error for NotUpgraded<G> {}

macro_rules! upgrade {
    (
        $guard:ident<$($life:lifetime,)? T> -> $write:ident, $read:ident
    ) => {
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// Upgrades to exclusive access, blocking this thread until all other readers release.
            ///
            /// The upgrade is atomic: no other writer acquires the lock in between. While it waits, no new reader acquires the lock.
            ///
            /// ```
            /// use waitword::{RwLock, RwLockUpgradableReadGuard};
            ///
            /// let lock = RwLock::new(vec![1]);
            /// let reader = lock.upgradable_read();
            /// if reader.len() < 2 {
            ///     RwLockUpgradableReadGuard::upgrade(reader).push(2);
            /// }
            /// assert_eq!(*lock.read(), [1, 2]);
            /// ```
            ///
            /// # Panics
            /// If there are readers and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
            /// [`upgrade_async`](Self::upgrade_async) there.
            ///
            /// # Deadlocks
            /// A thread that holds another read guard of this lock waits for itself.
            #[inline]
            #[track_caller]
            pub fn upgrade(this: Self) -> $write<$($life,)? T> {
                if !take(Self::rwlock(&this).raw(), Mode::Upgrade) {
                    Self::rwlock(&this).will_wait();
                    let Ok(_) = acquire::block::block(Self::rwlock(&this).raw(), Mode::Upgrade, "upgrade_async");
                }
                let caller = Caller::here();
                // SAFETY: the acquisition of this guard has become one of a writer.
                unsafe { Self::upgraded(this, |word| awaited(word, WaitsFor::Upgrade, caller, None)) }
            }

            /// Attempts to upgrade to exclusive access without waiting.
            ///
            /// # Errors
            /// Returns this guard, unchanged, if there are other readers.
            #[inline]
            pub fn try_upgrade(this: Self) -> Result<$write<$($life,)? T>, Self> {
                if take(Self::rwlock(&this).raw(), Mode::Upgrade) {
                    // SAFETY: the acquisition of this guard has become one of a writer.
                    return Ok(unsafe { Self::upgraded(this, |_| ()) });
                }
                Err(this)
            }

            /// Upgrades to exclusive access without blocking this thread: the task waits until all other readers release.
            ///
            /// Nothing happens before the first poll. From then on, no new reader acquires the lock.
            ///
            /// ```
            /// use waitword::{RwLock, RwLockUpgradableReadGuard};
            ///
            /// # smol::block_on(async {
            /// let lock = RwLock::new(1);
            /// let reader = lock.upgradable_read_async().await;
            /// *RwLockUpgradableReadGuard::upgrade_async(reader).await += 1;
            /// assert_eq!(lock.into_inner(), 2);
            /// # });
            /// ```
            ///
            /// # Cancellation
            /// The future holds the guard. Dropping the future before it is ready releases the lock, as dropping the guard does, and
            /// readers can acquire it again.
            ///
            /// The future keeps the guard while it exists, even if it is not polled. From its first poll on, all other acquirers wait for it.
            ///
            /// With a timeout ([`RwLockUpgrade::timeout`]), a future that times out returns the guard, unchanged.
            ///
            /// # Panics
            /// When polled again after it was ready.
            #[track_caller]
            pub fn upgrade_async(this: Self) -> RwLockUpgrade<Self> {
                RwLockUpgrade::new(this)
            }

            /// Upgrades to exclusive access, blocking this thread for at most `timeout`.
            ///
            /// A timeout beyond what [`Instant`] can hold never expires.
            ///
            /// # Errors
            /// As with [`upgrade_until`](Self::upgrade_until).
            #[doc(alias = "try_upgrade_for")]
            #[track_caller]
            pub fn upgrade_for(this: Self, timeout: Duration) -> Result<$write<$($life,)? T>, NotUpgraded<Self>> {
                Self::upgrade_within(this, || Instant::now().checked_add(timeout))
            }

            /// Upgrades to exclusive access, blocking this thread until `deadline` at the latest.
            ///
            /// # Errors
            /// Returns the guard, unchanged, with one of
            /// - [`TimedOut`](LockError::TimedOut), never before the deadline;
            /// - [`BlockingForbidden`](LockError::BlockingForbidden), if there are other readers and this thread must not block.
            #[doc(alias = "try_upgrade_until")]
            #[track_caller]
            pub fn upgrade_until(this: Self, deadline: Instant) -> Result<$write<$($life,)? T>, NotUpgraded<Self>> {
                Self::upgrade_within(this, || Some(deadline))
            }

            /// Downgrades the upgradable read lock to shared access, so that others can acquire the upgradable read lock. Never waits.
            #[inline]
            pub fn downgrade(this: Self) -> $read<$($life,)? T> {
                let hold = this.hold;
                Self::rwlock(&this).raw().downgrade_upgradable(hold);
                // SAFETY: the acquisition of the guard that is forgotten is one of a reader now (invariant 1).
                unsafe { $read::new(Self::forget(this), hold) }
            }

            #[track_caller]
            fn upgrade_within(
                this: Self,
                deadline: impl FnOnce() -> Option<Instant>,
            ) -> Result<$write<$($life,)? T>, NotUpgraded<Self>> {
                if !take(Self::rwlock(&this).raw(), Mode::Upgrade) {
                    Self::rwlock(&this).will_wait();
                    let result = acquire::block::block_until(Self::rwlock(&this).raw(), Mode::Upgrade, deadline());
                    if let Err(error) = result {
                        return Err(NotUpgraded { guard: this, error });
                    }
                }
                // SAFETY: the acquisition of this guard has become one of a writer.
                Ok(unsafe { Self::upgraded(this, |_| ()) })
            }

            /// If holds are recorded, calls `tells` with the address of the word.
            ///
            /// # Safety
            /// The acquisition of this guard has become one of a writer.
            unsafe fn upgraded(this: Self, tells: impl FnOnce(usize)) -> $write<$($life,)? T> {
                let (hold, word) = (this.hold, Self::rwlock(&this).raw().held_at());
                if changed(word, Hold::UpgradableRead, hold, Change::To(Hold::Write)).is_some() {
                    tells(word);
                }
                // SAFETY: this guard is forgotten, and by the contract of this function the acquisition is one of a writer
                // (invariant 1).
                unsafe { $write::new(Self::forget(this), hold) }
            }

        }

        // SAFETY: the guard keeps the lock in place, by its borrow or its `Arc` (invariant 3 of `guards/mod.rs`).
        unsafe impl<$($life,)? T: ?Sized> Keeper for $guard<$($life,)? T> {
            type Target = RwLock<T>;

            fn target(&self) -> &RwLock<T> {
                Self::rwlock(self)
            }
        }

        impl<$($life,)? T: ?Sized, D: Deadline> RwLockUpgrade<$guard<$($life,)? T>, D> {
            fn poll_either(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
            ) -> Poll<Result<$write<$($life,)? T>, ($guard<$($life,)? T>, D::Error)>> {
                let (mut acquire, guard) = self.project().kept.split();
                if let Some(guard) = &guard {
                    guard.target().will_wait();
                }
                acquire.as_mut().poll(cx).map(|upgraded| {
                    // The acquisition has ended, and uses the borrow no more (K2 of `kept.rs`).
                    let guard = guard.take().expect("it is ready once");
                    if let Err(error) = upgraded {
                        return Err((guard, error));
                    }
                    let tells = |word| {
                        if !D::IS_TIMED {
                            awaited(word, WaitsFor::Upgrade, acquire.caller(), Some(cx.waker()));
                        }
                    };
                    // SAFETY: the acquisition of this guard has become one of a writer.
                    Ok(unsafe { $guard::upgraded(guard, tells) })
                })
            }
        }

        polls_either! {
            [$($life,)? T: ?Sized] RwLockUpgrade[$guard<$($life,)? T>]:
                $write<$($life,)? T>, Result<$write<$($life,)? T>, NotUpgraded<$guard<$($life,)? T>>>
        }
    };
}

upgrade! { RwLockUpgradableReadGuard<'a, T> -> RwLockWriteGuard, RwLockReadGuard }
upgrade! { OwnedRwLockUpgradableReadGuard<T> -> OwnedRwLockWriteGuard, OwnedRwLockReadGuard }

pin_project! {
    /// The future returned by `upgrade_async`. `G` is a [`RwLockUpgradableReadGuard`] or an [`OwnedRwLockUpgradableReadGuard`].
    #[must_use = "nothing is upgraded until this is awaited, and dropping it releases the lock: add `.await`"]
    pub struct RwLockUpgrade<G, D = NoDeadline> {
        #[pin]
        kept: Kept<G, AcquireAsync<'static, RawRwLock, D>>,
    }
}

impl<G> RwLockUpgrade<G> {
    #[track_caller]
    fn new(guard: G) -> Self
    where
        G: Keeper<Target: HasRaw<Raw = RawRwLock>>,
    {
        let caller = Caller::here();
        Self { kept: Kept::new(guard, |raw| AcquireAsync::from_caller(caller, raw, Mode::Upgrade)) }
    }
}

impl<G> RwLockUpgrade<G> {
    fn until(self, deadline: Until) -> RwLockUpgrade<G, Until> {
        RwLockUpgrade { kept: self.kept.map(|acquire| acquire.until(deadline)) }
    }
}

impl<G, D> RwLockUpgrade<G, D> {
    fn is_waiting(&self) -> bool {
        self.kept.get().is_waiting()
    }
}

gives_up! { [G,] RwLockUpgrade[G], "a `Result` with [`NotUpgraded`](crate::NotUpgraded), which contains the guard and [`LockError::TimedOut`](crate::LockError::TimedOut)," }
