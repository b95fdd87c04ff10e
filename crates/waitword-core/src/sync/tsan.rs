//! The standard library behind the facade, for ThreadSanitizer.
//!
//! It learns what happens before what from the atomics that it sees, and the standard library comes compiled without it: of
//! a mutex it sees the part that is inlined, and of the first use of a lazy value nothing. Everything that those protect
//! looks like a race. So here they are made of atomics, which are compiled with the rest of this crate. They are simple
//! and slow, and order exactly what the real ones promise to order.
//!
//! Parking stays the standard library's: nothing in this crate relies on it for more than a wakeup.

pub use std::sync::atomic;

pub(crate) mod thread {
    pub(crate) use std::thread::{Thread, current, park};

    use std::time::Instant;

    /// Parks until `deadline` at the latest; may return before it.
    pub(crate) fn park_until(deadline: Instant) {
        std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Once;

use atomic::{AtomicBool, Ordering};

/// A lock whose waiters yield.
#[derive(Default)]
pub(crate) struct Mutex<T> {
    locked: AtomicBool,
    value: std::cell::UnsafeCell<T>,
}

// SAFETY: the value is reached through the guard alone, of which there is one at a time.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: std::cell::UnsafeCell::new(value) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        while self.locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        MutexGuard { mutex: self }
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
}

// SAFETY: a shared guard gives shared access to the value and nothing else.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock, and is borrowed exclusively.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.locked.store(false, Ordering::Release);
    }
}

/// Whose waiters yield once, which they may: a wait may end for no reason.
#[derive(Debug, Default)]
pub(crate) struct Condvar;

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = guard.mutex;
        drop(guard);
        std::thread::yield_now();
        mutex.lock()
    }

    pub(crate) fn notify_one(&self) {}
}

/// As in `std.rs`.
pub(crate) fn announced() {}

/// `std::sync::OnceLock`, with the order that it promises shown to the sanitizer.
#[derive(Debug)]
pub struct OnceLock<T> {
    once: Once,
    made: AtomicBool,
    value: std::cell::UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, before anybody gets a reference to it; then it is only shared. It may be dropped by
// another thread than the one that made it.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub const fn new() -> Self {
        Self { once: Once::new(), made: AtomicBool::new(false), value: std::cell::UnsafeCell::new(None) }
    }

    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.once.call_once(|| {
            let value = make();
            // SAFETY: once, and before anybody else is let through.
            unsafe { *self.value.get() = Some(value) };
            self.made.store(true, Ordering::Release);
        });
        self.get().expect("just made")
    }

    pub fn get(&self) -> Option<&T> {
        // SAFETY: written before that store, and not any more.
        self.made.load(Ordering::Acquire).then(|| unsafe { (*self.value.get()).as_ref() }).flatten()
    }
}

/// `std::cell::UnsafeCell` with loom's interface.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}
