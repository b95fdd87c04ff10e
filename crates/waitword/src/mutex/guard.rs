//! The guards: borrowed and over an `Arc`, of the whole value and of a part; and the future that ends with them. What the guards do is
//! written in `guards/`.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::acquire::Acquire as _;
use crate::acquire::grid::guard_future;
use crate::guards::mapped::{map, mapped};
use crate::guards::whole::{guard, into_arc, leads_to_its_lock, writes};
use crate::holders::{Change, Hold, HoldId, changed};
use crate::mutex::Mutex;
use crate::raw_mutex::RawMutex;

guard! {
    /// A guard of a locked [`Mutex`], which gives access to the value. Dropping the guard releases the mutex.
    ///
    /// It is [`Send`] when `T` is `Send`, and may be dropped on another thread than the one that locked the mutex. It is [`Sync`]
    /// when `T` is `Send` and `Sync`.
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
    /// // Another thread takes the guard, and releases the mutex.
    /// thread::scope(|scope| drop(scope.spawn(move || *guard += 1)));
    /// assert_eq!(*mutex.lock(), 2);
    /// ```
    #[doc(alias("unlock", "lock_guard", "unique_lock", "scoped_lock"))]
    #[must_use = "dropping the guard releases the mutex: keep it with `let guard = ...`"]
    MutexGuard<'a, T> of Mutex as &'a Mutex<T>, as if &'a mut T, (),
    by "lock" or "lock_async" -> MutexLock<&'a Mutex<T>>, written to by "lock",
    RawMutex::{release, release_fair}, ""
}

guard! {
    /// A guard of a locked [`Mutex`] that holds an `Arc` of the mutex. Dropping the guard releases the mutex.
    ///
    /// It is like [`MutexGuard`], but borrows nothing.
    #[doc(alias = "ArcMutexGuard")]
    #[must_use = "dropping the guard releases the mutex: keep it with `let guard = ...`"]
    OwnedMutexGuard<T> of Mutex as Arc<Mutex<T>>, as if T, (),
    by "lock_owned" or "lock_owned_async" -> MutexLock<Arc<Mutex<T>>>, written to by "lock",
    RawMutex::{release, release_fair}, "", sent as Mutex
}

writes! {
    ['a, T: ?Sized] MutexGuard<'a, T>: this => &mut *this.lock.value.get();
    [T: ?Sized] OwnedMutexGuard<T>: this => &mut *this.lock.value.get();
    ['a, U: ?Sized] MappedMutexGuard<'a, U>: this => this.part.as_mut();
    [T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>: this => this.part.as_mut();
}

leads_to_its_lock! {
    mutex;
    ['a, T: ?Sized] MutexGuard<'a, T>: this -> &'a Mutex<T> { this.lock }
    [T: ?Sized] OwnedMutexGuard<T>: this -> &Arc<Mutex<T>> { &this.lock }
    [T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>: this -> &Arc<Mutex<T>> { &this.lock }
}

into_arc! { OwnedMutexGuard of Mutex by "lock_owned": release, release_fair; }

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Returns a mutable reference to the value and never unlocks the mutex. The reference is valid for as long as the mutex is borrowed.
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
}

map! { ['a, T: ?Sized] MutexGuard['a, T] of Mutex by "lock" -> MappedMutexGuard['a], mutex => &mutex.raw; mut }
map! { [T: ?Sized] OwnedMutexGuard[T] of Mutex by "lock_owned" -> OwnedMappedMutexGuard[T], mutex => mutex; mut }

mapped! {
    /// A guard of a locked [`Mutex`], which gives access to a part of the value. Dropping the guard releases the mutex.
    ///
    /// Returned by [`MutexGuard::map`].
    #[must_use = "dropping the guard releases the mutex: keep it with `let guard = ...`"]
    ['a,] MappedMutexGuard['a]: &'a RawMutex, as if &'a mut U, release, release_fair, raw => raw; mut
}

mapped! {
    /// A guard of a locked [`Mutex`] that gives access to a part of the value and holds an `Arc` of the mutex. Dropping the guard releases
    /// the mutex.
    ///
    /// Returned by [`OwnedMutexGuard::map`]. `T` is the type of the value, `U` that of the part.
    #[doc(alias = "MappedArcMutexGuard")]
    #[must_use = "dropping the guard releases the mutex: keep it with `let guard = ...`"]
    // As if `*mut U`, for the variance of a `&mut U` without its lifetime.
    [T: ?Sized,] OwnedMappedMutexGuard[T]: Arc<Mutex<T>>, as if *mut U, release, release_fair, mutex => mutex.raw; mut
}

// SAFETY: it is a `&mut U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Send> Send for MappedMutexGuard<'_, U> {}
// SAFETY: shared, it is a `&U`.
unsafe impl<U: ?Sized + Sync> Sync for MappedMutexGuard<'_, U> {}
// SAFETY: it is a `&mut U`, the right to release, which any thread may do, and an `Arc` of the mutex, for which `T` has to be
// `Send`.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: shared, it is a `&U` and a `&Arc` of the mutex, for which `T` has to be `Send`.
unsafe impl<T: ?Sized + Send, U: ?Sized + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

guard_future! {
    Mutex over RawMutex, (); MutexLock("lock_async", "lock_owned_async") -> MutexGuard, OwnedMutexGuard
}
