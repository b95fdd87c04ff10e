//! shuttle behind the facade. It schedules at random, and every schedule is sequentially consistent: it searches for lost
//! wakeups and broken lists in models that are too large for loom, and leaves the orderings to loom.

pub use shuttle::sync::atomic;
pub(crate) use shuttle::{lazy_static, thread_local};
// What is made once for the process is none of a model's business.
pub use std::sync::OnceLock;

use std::sync::PoisonError;

use shuttle::sync::MutexGuard;

pub(crate) mod thread {
    pub(crate) use shuttle::thread::{Thread, current, park};

    use std::time::Instant;

    /// A model has no clock. In it a timeout is another thread that cancels.
    pub(crate) fn park_until(_deadline: Instant) {
        panic!("a model has no clock: let another thread cancel instead of waiting with a deadline")
    }
}

/// Every operation is sequentially consistent.
pub(crate) fn announced() {}

#[derive(Debug)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(shuttle::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// `std::cell::UnsafeCell` with loom's interface. That accesses exclude each other is loom's to check.
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
