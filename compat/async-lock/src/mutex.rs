//! The mutex.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::wrap::{future, guard, inside, owns_its_value, ways};

/// A value that one task or thread at a time can reach. All wait in one FIFO queue; a running one may barge, for 200 µs at the most.
///
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
        self: &Self => inside, "Locks the mutex";
        try_lock by try_lock, lock by lock_async -> Lock<'_, T>, lock_blocking by lock -> MutexGuard<'_, T> = MutexGuard
    }

    ways! {
        self: &Arc<Self> => shared, "Locks the mutex, over an `Arc`";
        try_lock_arc by try_lock_owned, lock_arc by lock_owned_async -> LockArc<T>,
        lock_arc_blocking by lock_owned -> MutexGuardArc<T> = MutexGuardArc::new
    }
}

guard! {
    /// Access to the value of a locked [`Mutex`].
    MutexGuard<'a, T>: waitword::MutexGuard<'a, T>, mut
}

guard! {
    /// Access to the value of a locked [`Mutex`], with a share in the mutex.
    MutexGuardArc<T>: waitword::OwnedMutexGuard<T>, mut; ManuallyDrop<Arc<Mutex<T>>>
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex of this guard.
    pub fn source(guard: &Self) -> &'a Mutex<T> {
        let inside = std::ptr::from_ref(waitword::MutexGuard::mutex(&guard.0)) as *const Mutex<T>;
        // SAFETY: it is inside of a `Mutex`, which has its address and its layout (`repr(transparent)`), and is borrowed for `'a`.
        unsafe { &*inside }
    }
}

impl<T: ?Sized> MutexGuardArc<T> {
    fn new(guard: waitword::OwnedMutexGuard<T>) -> Self {
        let inside = Arc::as_ptr(waitword::OwnedMutexGuard::mutex(&guard)) as *const Mutex<T>;
        // SAFETY: it is inside of a `Mutex`, which has its address and its layout (`repr(transparent)`). Never dropped, this gives up no share:
        // it shows that of the guard, beside which it is.
        let mutex = ManuallyDrop::new(unsafe { Arc::from_raw(inside) });
        Self(guard, mutex)
    }

    /// The mutex of this guard.
    pub fn source(guard: &Self) -> &Arc<Mutex<T>> {
        &guard.1
    }
}

future! {
    /// The future of [`Mutex::lock`].
    Lock [<'a, T: ?Sized>] [<'a, T>]: waitword::future::MutexLock<&'a waitword::Mutex<T>> => MutexGuard<'a, T>, MutexGuard, "Lock { .. }"
}

future! {
    /// The future of [`Mutex::lock_arc`].
    LockArc [<T: ?Sized>] [<T>]: waitword::future::MutexLock<Arc<waitword::Mutex<T>>> => MutexGuardArc<T>, MutexGuardArc::new, "LockArc { .. }"
}
