//! The semaphore. Nobody closes that of waitword inside.

use std::sync::Arc;

pub use waitword::{OwnedSemaphorePermit as SemaphoreGuardArc, SemaphorePermit as SemaphoreGuard};

use crate::wrap::{future, inside};

const OPEN: &str = "nobody can close it";

/// A number of permits that tasks and threads acquire in FIFO order.
///
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
    /// A semaphore with `n` permits, or with as many as there can be, if these are less.
    pub const fn new(n: usize) -> Self {
        let most = waitword::Semaphore::MAX_PERMITS;
        Self(waitword::Semaphore::new(if n < most { n } else { most }))
    }

    /// A permit, if one is free. Never waits.
    #[track_caller]
    pub fn try_acquire(&self) -> Option<SemaphoreGuard<'_>> {
        self.inside().try_acquire().ok()
    }

    /// A permit, waiting without blocking this thread. Cancel-safe; keeps its place in the queue between polls.
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_> {
        Acquire { inside: self.inside().acquire_async() }
    }

    /// A permit, blocking this thread until then.
    #[track_caller]
    pub fn acquire_blocking(&self) -> SemaphoreGuard<'_> {
        self.inside().acquire().expect(OPEN)
    }

    /// As [`try_acquire`](Self::try_acquire), with a permit that has a share in the semaphore.
    #[track_caller]
    pub fn try_acquire_arc(self: &Arc<Self>) -> Option<SemaphoreGuardArc> {
        self.shared().try_acquire_owned().ok()
    }

    /// As [`acquire`](Self::acquire), with a permit and a future that have a share in the semaphore.
    #[track_caller]
    pub fn acquire_arc(self: &Arc<Self>) -> AcquireArc {
        AcquireArc { inside: self.shared().acquire_owned_async() }
    }

    /// As [`acquire_blocking`](Self::acquire_blocking), with a permit that has a share in the semaphore.
    #[track_caller]
    pub fn acquire_arc_blocking(self: &Arc<Self>) -> SemaphoreGuardArc {
        self.shared().acquire_owned().expect(OPEN)
    }

    /// Adds `n` permits.
    ///
    /// # Panics
    /// If there are more than 2⁶¹ − 1 then (2²⁹ − 1 on 32-bit targets).
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.0.add_permits(n);
    }

    /// How many permits are free at this moment.
    pub fn available_permits(&self) -> usize {
        self.0.available_permits()
    }
}

future! {
    /// The future of [`Semaphore::acquire`].
    Acquire [<'a>] [<'a>]: waitword::future::SemaphoreAcquire<&'a waitword::Semaphore> => SemaphoreGuard<'a>, |acquired| acquired.expect(OPEN), "Acquire { .. }"
}

future! {
    /// The future of [`Semaphore::acquire_arc`].
    AcquireArc [] []: waitword::future::SemaphoreAcquire<Arc<waitword::Semaphore>> => SemaphoreGuardArc, |acquired| acquired.expect(OPEN), "AcquireArc { .. }"
}
