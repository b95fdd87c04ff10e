//! A reference to a lock through which the value is only read, so it is covariant in the value where `&RwLock<T>` is not.
//!
//! A `&RwLock<&'long str>` must not become a `&RwLock<&'short str>`: a short-lived `str` could be written through it, and
//! read later. A reader's guard writes nothing, so for it the shortening is sound, as it is for a `&&'long str`; and std's
//! and tokio's guards allow it. The holder of such a reference must not give access to the lock itself: a guard that does so (the
//! writer's, the upgradable one, the ones over an `Arc`) stays invariant.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use crate::raw_rwlock::RawRwLock;
use crate::rwlock::RwLock;

/// See [the module](self). One word wide for a sized `T`, as the reference would be.
pub(crate) struct ReadRef<'a, T: ?Sized> {
    // R1. It comes from a `&'a RwLock<T>`, with a `T` that may have lived longer.
    lock: NonNull<Covariant<T>>,
    _borrowed: PhantomData<(&'a RawRwLock, &'a T)>,
}

/// The layout of a [`RwLock`], but covariant in `T`: both are `repr(C)`, with fields of the same layout.
#[repr(C)]
struct Covariant<T: ?Sized> {
    _raw: RawRwLock,
    _value: T,
}

const _: () = assert!(size_of::<ReadRef<'_, u64>>() == size_of::<usize>());

// SAFETY: it is a `&T`, and the right to release, which any thread may do.
unsafe impl<T: ?Sized + Sync> Send for ReadRef<'_, T> {}
// SAFETY: as for `Send`: it is a `&T`, and the right to release.
unsafe impl<T: ?Sized + Sync> Sync for ReadRef<'_, T> {}

impl<T: ?Sized> Clone for ReadRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for ReadRef<'_, T> {}

impl<'a, T: ?Sized> From<&'a RwLock<T>> for ReadRef<'a, T> {
    #[inline]
    fn from(lock: &'a RwLock<T>) -> Self {
        let lock = NonNull::from(lock).as_ptr() as *mut Covariant<T>;
        // SAFETY: it was a reference just now.
        Self { lock: unsafe { NonNull::new_unchecked(lock) }, _borrowed: PhantomData }
    }
}

impl<'a, T: ?Sized> From<ReadRef<'a, T>> for &'a RwLock<T> {
    #[inline]
    fn from(lock: ReadRef<'a, T>) -> Self {
        lock.lock()
    }
}

impl<'a, T: ?Sized> ReadRef<'a, T> {
    /// The lock, with a value that may live longer than its type says. The caller must not write to
    /// it, nor lend it to code that might.
    #[inline]
    pub(super) fn lock(self) -> &'a RwLock<T> {
        // SAFETY: a `&'a RwLock` of this layout (R1); and only lifetimes in `T` may differ, which are shorter here.
        unsafe { &*(self.lock.as_ptr() as *const RwLock<T>) }
    }
}

impl<T: ?Sized> Deref for ReadRef<'_, T> {
    type Target = RwLock<T>;

    #[inline]
    fn deref(&self) -> &RwLock<T> {
        self.lock()
    }
}
