//! The guard: exclusive access to the value for as long as it exists.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

use waitword_core::observe::holders::HoldId;

use crate::mutex::lock::Mutex;
use crate::mutex::mapped::MappedMutexGuard;

/// Access to the value of a locked [`Mutex`]. Dropping the guard releases the mutex.
///
/// It is [`Send`] when `T` is, and can be dropped on another thread than the one that locked. It is [`Sync`] when `T` is
/// `Send` and `Sync`.
///
/// The operations on a guard are associated functions, so that they do not hide methods of the value:
/// `MutexGuard::map(guard, ..)`.
///
/// ```
/// use std::thread;
/// use waitword::Mutex;
///
/// let mutex = Mutex::new(1);
/// let mut guard = mutex.lock();
/// // Another thread goes on with it, and releases the mutex.
/// thread::scope(|scope| drop(scope.spawn(move || *guard += 1)));
/// assert_eq!(*mutex.lock(), 2);
/// ```
#[doc(alias("unlock", "lock_guard", "unique_lock", "scoped_lock"))]
#[must_use = "the mutex is unlocked again at once if nobody keeps the guard: `let guard = ...`"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    pub(crate) hold: HoldId,
    _value: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// # Safety
    /// The mutex was acquired, and this is the guard of that acquisition (invariant 1).
    #[inline]
    pub(crate) unsafe fn new(mutex: &'a Mutex<T>, hold: HoldId) -> Self {
        Self { mutex, hold, _value: PhantomData }
    }

    /// The mutex that this is the guard of.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// assert!(std::ptr::eq(MutexGuard::mutex(&guard), &mutex));
    /// ```
    #[doc(alias = "source")]
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }

    /// Releases the mutex, and reserves it for the waiters if there are any.
    ///
    /// No acquirer barges past the head waiter then: new acquirers enqueue behind it. The head waiter has to wake up first, so
    /// such a handoff costs a switch of threads or tasks, which an ordinary release may not need. Without waiters it is an
    /// ordinary release.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// // Something took long, and others have waited for it.
    /// MutexGuard::unlock_fair(guard);
    /// ```
    #[doc(alias("drop_fair", "release_fair"))]
    pub fn unlock_fair(this: Self) {
        let hold = this.hold;
        Self::forget(this).raw.release_fair(hold);
    }

    /// Releases the mutex to the head waiter, and acquires it again afterwards, blocking this thread until then. Other holders
    /// may have changed the value in between.
    ///
    /// It is [`unlock_fair`](Self::unlock_fair) and [`lock`](Mutex::lock) in one, for a holder that needs the mutex for long and
    /// can release it for a moment. Without waiters it costs a load, and the mutex is not released.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// let numbers = Mutex::new(vec![3, 1, 2]);
    /// let mut guard = numbers.lock();
    /// while let Some(number) = guard.pop() {
    ///     println!("{number}");
    ///     // Others may push some, or pop some themselves.
    ///     MutexGuard::bump(&mut guard);
    /// }
    /// ```
    ///
    /// # Fairness
    /// No acquirer barges past the head waiter. Afterwards this thread is a new acquirer: it may acquire the mutex before or
    /// after the waiters further behind. If the head waiter is a task that is not polled, it delays this thread no longer than
    /// any other acquirer ([`STALL_TIMEOUT`](crate::STALL_TIMEOUT)).
    ///
    /// Tasks use `unlock_fair` and [`lock_async`](Mutex::lock_async) instead.
    ///
    /// # Panics
    /// If there are waiters and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)); and if the waker
    /// of the signalled waiter does. The mutex is held again then.
    #[doc(alias("yield_fair", "relock"))]
    #[inline]
    #[track_caller]
    pub fn bump(this: &mut Self) {
        this.mutex.raw.bump(&mut this.hold, Some("lock_async"));
    }

    /// A guard of a part of the value. The mutex is held until that guard is dropped.
    ///
    /// If `to_part` panics, the mutex is released.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new((1, "one"));
    /// let mut number = MutexGuard::map(mutex.lock(), |pair| &mut pair.0);
    /// *number = 2;
    /// assert!(mutex.is_locked());
    /// drop(number);
    /// assert_eq!(mutex.into_inner(), (2, "one"));
    /// ```
    pub fn map<U: ?Sized>(mut this: Self, to_part: impl FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'a, U> {
        let (part, hold) = (to_part(&mut this).into(), this.hold);
        // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
        unsafe { MappedMutexGuard::new(hold, &Self::forget(this).raw, part) }
    }

    /// As [`map`](Self::map), if there is such a part.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(vec![1, 2]);
    /// let second = MutexGuard::filter_map(mutex.lock(), |all| all.get_mut(1)).unwrap();
    /// assert_eq!(*second, 2);
    /// drop(second);
    /// let all = MutexGuard::filter_map(mutex.lock(), |all| all.get_mut(2)).unwrap_err();
    /// assert_eq!(all.len(), 2);
    /// ```
    ///
    /// # Errors
    /// This guard, if `to_part` returned `None`.
    #[doc(alias = "try_map")]
    pub fn filter_map<U: ?Sized>(
        this: Self,
        to_part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, Self> {
        Self::try_map_or_err(this, |value| to_part(value).ok_or(())).map_err(|(this, ())| this)
    }

    /// As [`map`](Self::map), if there is such a part; otherwise with the reason why not.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(vec![1, 2]);
    /// let second = MutexGuard::try_map_or_err(mutex.lock(), |all| all.get_mut(1).ok_or("too short"));
    /// assert_eq!(*second.unwrap(), 2);
    /// let third = MutexGuard::try_map_or_err(mutex.lock(), |all| all.get_mut(2).ok_or("too short"));
    /// let (all, why) = third.unwrap_err();
    /// assert_eq!((all.len(), why), (2, "too short"));
    /// ```
    ///
    /// # Errors
    /// This guard, and the error that `to_part` returned.
    pub fn try_map_or_err<U: ?Sized, E>(
        mut this: Self,
        to_part: impl FnOnce(&mut T) -> Result<&mut U, E>,
    ) -> Result<MappedMutexGuard<'a, U>, (Self, E)> {
        let hold = this.hold;
        match to_part(&mut this).map(Into::into) {
            // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
            Ok(part) => Ok(unsafe { MappedMutexGuard::new(hold, &Self::forget(this).raw, part) }),
            Err(error) => Err((this, error)),
        }
    }

    /// The value, for as long as the mutex lives. Nothing unlocks the mutex again.
    ///
    /// ```
    /// use waitword::{Mutex, MutexGuard};
    ///
    /// static NAME: Mutex<String> = Mutex::new(String::new());
    /// let name: &'static mut String = MutexGuard::leak(NAME.lock());
    /// name.push_str("waitword");
    /// assert!(NAME.is_locked());
    /// ```
    pub fn leak(this: Self) -> &'a mut T {
        let mutex = Self::forget(this);
        // SAFETY: this was the only guard. It is never dropped, so no other is ever made (invariants 1 and 2).
        unsafe { &mut *mutex.value.get() }
    }

    /// The mutex, which stays locked.
    pub(super) fn forget(this: Self) -> &'a Mutex<T> {
        ManuallyDrop::new(this).mutex
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.release(self.hold);
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the only guard, and it is borrowed (invariants 1 and 2).
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only guard, and it is borrowed mutably (invariants 1 and 2).
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
