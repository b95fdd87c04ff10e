//! Read-write locks, which hold nothing.

use std::future::Future;

pub(crate) trait RwLock: Send + Sync + Sized + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// Unlock when dropped.
    type Read<'a>;
    type Write<'a>;

    fn new() -> Self;

    /// Never wait.
    fn try_read(&self) -> Option<Self::Read<'_>>;
    fn try_write(&self) -> Option<Self::Write<'_>>;
}

/// A read-write lock that a thread can wait for.
pub(crate) trait BlockingRwLock: RwLock {
    fn read(&self) -> Self::Read<'_>;
    fn write(&self) -> Self::Write<'_>;
}

/// A read-write lock that a task can wait for.
pub(crate) trait AsyncRwLock: RwLock {
    fn read_async(&self) -> impl Future<Output = Self::Read<'_>> + Send;
    fn write_async(&self) -> impl Future<Output = Self::Write<'_>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on::block_on;
    use crate::locks::{
        AsyncLockRwLock, AsyncbandRwLock, MaitakeRwLock, ParkingLotRwLock, SaaRwLock, StdRwLock, TokioRwLock,
        UsyncRwLock,
    };

    fn keeps_writers_alone<L: RwLock>(read: fn(&L) -> L::Read<'_>, write: fn(&L) -> L::Write<'_>) {
        let lock = L::new();
        let readers = (read(&lock), read(&lock));
        assert!(lock.try_read().is_some());
        assert!(lock.try_write().is_none());
        drop(readers);
        let writer = write(&lock);
        assert!(lock.try_read().is_none());
        assert!(lock.try_write().is_none());
        drop(writer);
        assert!(lock.try_write().is_some());
    }

    fn threads<L: BlockingRwLock>() {
        keeps_writers_alone::<L>(L::read, L::write);
    }

    fn tasks<L: AsyncRwLock>() {
        keeps_writers_alone::<L>(|lock| block_on(lock.read_async()), |lock| block_on(lock.write_async()));
    }

    #[test]
    fn many_read_and_one_writes() {
        threads::<AsyncLockRwLock>();
        threads::<ParkingLotRwLock>();
        threads::<SaaRwLock>();
        threads::<StdRwLock>();
        threads::<TokioRwLock>();
        threads::<UsyncRwLock>();
        tasks::<AsyncLockRwLock>();
        tasks::<AsyncbandRwLock>();
        tasks::<MaitakeRwLock>();
        tasks::<SaaRwLock>();
        tasks::<TokioRwLock>();
    }
}
