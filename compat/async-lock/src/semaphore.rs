//! The semaphore. The inner semaphore, waitword's, is never closed.

use std::sync::Arc;

pub use waitword::{OwnedSemaphorePermit as SemaphoreGuardArc, SemaphorePermit as SemaphoreGuard};

use crate::wrap::{future, inside};

const OPEN: &str = "this semaphore is never closed";

/// An async counting semaphore: a number of permits, which tasks and threads acquire in FIFO order.
///
/// # Example
/// ```
/// let semaphore = async_lock::Semaphore::new(1);
/// let guard = semaphore.try_acquire().unwrap();
/// assert!(semaphore.try_acquire().is_none());
/// drop(guard);
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct Semaphore(waitword::Semaphore);

inside! { [] Semaphore => waitword::Semaphore }

impl Semaphore {
    /// Creates a semaphore with `n` permits, or with the maximum of 2⁶¹ − 1 permits (2²⁹ − 1 on 32-bit targets) if `n` is more.
    pub const fn new(n: usize) -> Self {
        let most = waitword::Semaphore::MAX_PERMITS;
        Self(waitword::Semaphore::new(if n < most { n } else { most }))
    }

    /// Attempts to acquire a permit without waiting. Returns `None` also if the available permits are reserved for waiters.
    #[track_caller]
    pub fn try_acquire(&self) -> Option<SemaphoreGuard<'_>> {
        self.inside().try_acquire().ok()
    }

    /// Acquires a permit without blocking this thread: the task waits until one is available.
    ///
    /// # Cancellation
    /// The future is cancel-safe, and keeps its position in the queue between polls.
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_> {
        Acquire { inside: self.inside().acquire_async() }
    }

    /// Acquires a permit, blocking this thread until one is available.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn acquire_blocking(&self) -> SemaphoreGuard<'_> {
        self.inside().acquire().expect(OPEN)
    }

    /// Attempts to acquire a permit that holds an `Arc` of the semaphore, without waiting.
    #[track_caller]
    pub fn try_acquire_arc(self: &Arc<Self>) -> Option<SemaphoreGuardArc> {
        self.shared().try_acquire_owned().ok()
    }

    /// Acquires a permit without blocking this thread, with a future and a permit that hold an `Arc` of the semaphore.
    ///
    /// # Cancellation
    /// As with [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_arc(self: &Arc<Self>) -> AcquireArc {
        AcquireArc { inside: self.shared().acquire_owned_async() }
    }

    /// Acquires a permit that holds an `Arc` of the semaphore, blocking this thread until one is available.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn acquire_arc_blocking(self: &Arc<Self>) -> SemaphoreGuardArc {
        self.shared().acquire_owned().expect(OPEN)
    }

    /// Adds `n` permits.
    ///
    /// # Panics
    /// If the semaphore would have more than 2⁶¹ − 1 permits (2²⁹ − 1 on 32-bit targets).
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.0.add_permits(n);
    }

    /// Returns the number of permits that are available at this moment.
    pub fn available_permits(&self) -> usize {
        self.0.available_permits()
    }
}

future! {
    /// The future returned by [`Semaphore::acquire`].
    Acquire [<'a>] [<'a>]: waitword::future::SemaphoreAcquire<&'a waitword::Semaphore> => SemaphoreGuard<'a>, |acquired| acquired.expect(OPEN), "Acquire { .. }"
}

future! {
    /// The future returned by [`Semaphore::acquire_arc`].
    AcquireArc [] []: waitword::future::SemaphoreAcquire<Arc<waitword::Semaphore>> => SemaphoreGuardArc, |acquired| acquired.expect(OPEN), "AcquireArc { .. }"
}
