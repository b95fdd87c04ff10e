//! The mutex.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::wrap::{future, guard, inside, owns_its_value, ways};

/// An async mutual exclusion lock around a value, which threads can lock too.
///
/// # Fairness
/// All waiters, tasks and threads alike, are in one queue, and acquire the mutex in FIFO order. Others may barge for a window of at most 200 µs.
///
/// # Example
/// ```
/// let mutex = async_lock::Mutex::new(1);
/// *mutex.lock_blocking() += 1;
/// assert_eq!(mutex.into_inner(), 2);
/// ```
#[derive(Default)]
#[repr(transparent)]
pub struct Mutex<T: ?Sized>(waitword::Mutex<T>);

owns_its_value!(Mutex, try_lock as "data");
inside! { [T: ?Sized] Mutex<T> => waitword::Mutex<T> }

impl<T: ?Sized> Mutex<T> {
    ways! {
        self: &Self => inside;
        /// Attempts to lock the mutex without waiting. Returns `None` also while it is reserved for a waiter.
        try_lock by try_lock,
        /// Locks the mutex without blocking this thread: the task waits until it is acquired, and the future returns the guard.
        lock by lock_async -> Lock<'_, T>,
        /// Locks the mutex, blocking this thread until it is acquired.
        lock_blocking by lock -> MutexGuard<'_, T> = MutexGuard
    }

    ways! {
        self: &Arc<Self> => shared;
        /// Attempts to lock the mutex without waiting, with a guard that holds an `Arc` of it.
        try_lock_arc by try_lock_owned,
        /// Locks the mutex without blocking this thread, with a future and a guard that hold an `Arc` of it.
        lock_arc by lock_owned_async -> LockArc<T>,
        /// Locks the mutex with a guard that holds an `Arc` of it, blocking this thread until it is acquired.
        lock_arc_blocking by lock_owned -> MutexGuardArc<T> = MutexGuardArc::new
    }
}

guard! {
    /// The guard of a locked [`Mutex`]. Dropping it releases the mutex.
    MutexGuard<'a, T>: waitword::MutexGuard<'a, T>, mut
}

guard! {
    /// The guard of a locked [`Mutex`], which holds an `Arc` of the mutex. Dropping it releases the mutex.
    MutexGuardArc<T>: waitword::OwnedMutexGuard<T>, mut; ManuallyDrop<Arc<Mutex<T>>>
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Returns the mutex that this guard locks.
    pub fn source(guard: &Self) -> &'a Mutex<T> {
        let inside = std::ptr::from_ref(waitword::MutexGuard::mutex(&guard.0)) as *const Mutex<T>;
        // SAFETY: the inner mutex is the field of a `Mutex` with the same address and layout (`repr(transparent)`), which is borrowed for `'a`.
        unsafe { &*inside }
    }
}

impl<T: ?Sized> MutexGuardArc<T> {
    fn new(guard: waitword::OwnedMutexGuard<T>) -> Self {
        let inside = Arc::as_ptr(waitword::OwnedMutexGuard::mutex(&guard)) as *const Mutex<T>;
        // SAFETY: the inner mutex is the field of a `Mutex` with the same address and layout (`repr(transparent)`). This `Arc` is a copy of the
        // guard's, beside which it is stored. It is never dropped, so the reference count stays right.
        let mutex = ManuallyDrop::new(unsafe { Arc::from_raw(inside) });
        Self(guard, mutex)
    }

    /// Returns the `Arc` of the mutex that this guard locks.
    pub fn source(guard: &Self) -> &Arc<Mutex<T>> {
        &guard.1
    }
}

future! {
    /// The future returned by [`Mutex::lock`].
    Lock [<'a, T: ?Sized>] [<'a, T>]: waitword::future::MutexLock<&'a waitword::Mutex<T>> => MutexGuard<'a, T>, MutexGuard, "Lock { .. }"
}

future! {
    /// The future returned by [`Mutex::lock_arc`].
    LockArc [<T: ?Sized>] [<T>]: waitword::future::MutexLock<Arc<waitword::Mutex<T>>> => MutexGuardArc<T>, MutexGuardArc::new, "LockArc { .. }"
}
