//! Semaphores, of which one permit at a time is taken.

use std::future::Future;

pub(crate) trait Semaphore: Send + Sync + Sized + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// Goes back when dropped.
    type Permit<'a>;

    fn new(permits: usize) -> Self;

    /// Never waits.
    fn try_acquire(&self) -> Option<Self::Permit<'_>>;
}

/// A semaphore that a thread can wait for.
pub(crate) trait BlockingSemaphore: Semaphore {
    fn acquire(&self) -> Self::Permit<'_>;

    /// Adds a permit; to forget one that was acquired removes it.
    fn add_one(&self);
}

/// A semaphore that a task can wait for.
pub(crate) trait AsyncSemaphore: Semaphore {
    fn acquire_async(&self) -> impl Future<Output = Self::Permit<'_>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on::block_on;
    use crate::locks::{
        AsyncLockSemaphore, AsyncbandSemaphore, FuturesIntrusiveSemaphore, MaitakeSemaphore, SaaSemaphore,
        TokioSemaphore,
    };

    fn counts<S: Semaphore>(acquire: fn(&S) -> S::Permit<'_>) {
        let semaphore = S::new(2);
        let first = acquire(&semaphore);
        let second = acquire(&semaphore);
        assert!(semaphore.try_acquire().is_none());
        drop(first);
        assert!(semaphore.try_acquire().is_some());
        drop(second);
    }

    fn threads<S: BlockingSemaphore>() {
        counts::<S>(S::acquire);
        let semaphore = S::new(0);
        for _ in 0..3 {
            assert!(semaphore.try_acquire().is_none());
            semaphore.add_one();
            std::mem::forget(semaphore.acquire());
        }
    }

    fn tasks<S: AsyncSemaphore>() {
        counts::<S>(|semaphore| block_on(semaphore.acquire_async()));
    }

    #[test]
    fn there_are_as_many_permits_as_one_asks_for() {
        threads::<AsyncLockSemaphore>();
        threads::<SaaSemaphore>();
        threads::<TokioSemaphore>();
        tasks::<AsyncLockSemaphore>();
        tasks::<AsyncbandSemaphore>();
        tasks::<FuturesIntrusiveSemaphore>();
        tasks::<MaitakeSemaphore>();
        tasks::<SaaSemaphore>();
        tasks::<TokioSemaphore>();
    }
}
