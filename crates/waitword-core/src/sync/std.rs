//! The standard library behind the facade.

pub(crate) use std::sync::OnceLock;
pub use std::sync::atomic;

use std::sync::{MutexGuard, PoisonError};

pub(crate) mod thread {
    pub(crate) use std::thread::{Thread, current, park};

    use std::time::Instant;

    /// Parks until `deadline` at the latest; may return before it.
    pub(crate) fn park_until(deadline: Instant) {
        std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

/// The read-modify-write before this is sequentially consistent, so there is nothing to add; see the model's.
#[inline(always)]
pub(crate) fn announced() {}

/// A mutex that does not poison: nothing foreign runs under it, so no panic can interrupt its owner.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for it.
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Sleeps until notified, or for no reason.
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// `std::cell::UnsafeCell` with loom's interface.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}
