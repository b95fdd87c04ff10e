//! loom behind the facade.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::lazy_static;
pub use loom::sync::atomic;
// What is made once for the process is none of a model's business.
pub(crate) use std::sync::OnceLock;

use std::sync::PoisonError;

use loom::sync::MutexGuard;

pub(crate) mod thread {
    pub(crate) use loom::thread::{Thread, current, park};

    use std::time::Instant;

    /// loom has no clock. In a model a timeout is another thread that cancels.
    pub(crate) fn park_until(_deadline: Instant) {
        panic!("a model has no clock: let another thread cancel instead of waiting with a deadline")
    }
}

/// loom takes a sequentially consistent read-modify-write for one that acquires and releases. The fence makes of it what
/// it is.
pub(crate) fn announced() {
    atomic::fence(atomic::Ordering::SeqCst);
}

#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}
