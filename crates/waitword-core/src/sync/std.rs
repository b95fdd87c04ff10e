//! The standard library behind the facade.

pub(crate) use std::sync::MutexGuard;
pub(crate) use std::sync::atomic;

pub(crate) mod thread {
    pub(crate) use std::thread::{Thread, current, park};

    use std::time::Instant;

    /// Parks until `deadline` at the latest; may return before it.
    pub(crate) fn park_until(deadline: Instant) {
        std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

/// A mutex that does not poison: nothing foreign runs under it, so no panic can interrupt its owner.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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
