//! loom behind the facade.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::MutexGuard;
pub(crate) use loom::sync::atomic;

pub(crate) mod thread {
    pub(crate) use loom::thread::{Thread, current, park};

    use std::time::Instant;

    /// loom has no clock. In a model a timeout is another thread that cancels.
    pub(crate) fn park_until(_deadline: Instant) {
        panic!("a model has no clock: let another thread cancel instead of waiting with a deadline")
    }
}

#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
