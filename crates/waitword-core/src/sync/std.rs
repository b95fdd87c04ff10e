//! The standard library behind the facade.

pub use super::once::OnceLock;
pub use std::sync::atomic;

use std::sync::{MutexGuard, PoisonError};

use super::platform;

pub(crate) mod thread {
    pub(crate) use crate::sync::platform::{park, park_until};
    pub(crate) use std::thread::{Thread, current};
}

/// Nothing to add: the read-modify-write before this is sequentially consistent. loom's is not (`loom.rs`).
#[inline(always)]
pub(crate) fn announced() {}

/// A mutex that does not poison: no foreign code runs under it, so no panic can interrupt its owner.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Unlocked.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Locks it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        platform::lock(&self.0)
    }
}

/// A condition variable for it.
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Sleeps until notified; may wake spuriously.
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
