//! A lock of the family, as the tests that hold for all of them see it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Whatever a lock gives to its holder. Dropping it releases the lock.
pub(crate) trait Guard {}

impl<T: ?Sized> Guard for T {}

pub(crate) type Held<'a> = Box<dyn Guard + Send + 'a>;

/// A future that waits for the lock.
pub(crate) type Waiting<'a> = Pin<Box<dyn Future<Output = Held<'a>> + Send + 'a>>;

/// The ways for a task to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Borrowed,
    /// With a deadline that is not reached.
    Timed,
    Owned,
    OwnedTimed,
}

pub(crate) const WAYS: [Way; 4] = [Way::Borrowed, Way::Timed, Way::Owned, Way::OwnedTimed];

/// A lock that one at a time can hold: a mutex, a read-write lock with writers only, a semaphore of one permit.
pub(crate) trait Exclusive: Send + Sync + 'static {
    fn free() -> Arc<Self>;

    fn lock(&self) -> Held<'_>;

    fn lock_until(&self, deadline: Instant) -> Held<'_>;

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>>;

    fn try_lock(&self) -> Option<Held<'_>>;

    /// Nothing happens before the first poll.
    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_>;

    /// How many are queued.
    fn waiters(&self) -> usize;
}
