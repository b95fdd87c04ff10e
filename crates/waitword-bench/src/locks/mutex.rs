//! Mutexes, which hold nothing.

use std::future::Future;

/// A mutex with nothing in it.
pub(crate) trait Mutex: Send + Sync + Sized + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// Unlocks when dropped.
    type Guard<'a>;

    fn new() -> Self;

    /// Never waits.
    fn try_lock(&self) -> Option<Self::Guard<'_>>;
}

/// A mutex that a thread can wait for.
pub(crate) trait BlockingMutex: Mutex {
    fn lock(&self) -> Self::Guard<'_>;
}

/// A mutex that a task can wait for.
pub(crate) trait AsyncMutex: Mutex {
    /// Whether it waits within a poll, and so makes all tasks of that worker wait.
    const BLOCKS_WORKER: bool = false;

    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::block_on::block_on;
    use crate::locks::{
        AsyncLock, Asyncband, FuturesIntrusive, FuturesUtil, Maitake, OnThread, OnWorker, ParkingLot, Saa,
        Std, Tokio, Usync, Waitword,
    };

    const TURNS: usize = 500;

    /// What is measured has to be a lock.
    #[derive(Default)]
    struct Room(AtomicBool);

    impl Room {
        fn visit(&self) {
            assert!(!self.0.swap(true, Ordering::Relaxed), "two at a time");
            thread::yield_now();
            self.0.store(false, Ordering::Relaxed);
        }
    }

    fn by_threads<M: BlockingMutex>(mutex: &M, room: &Room) {
        for _ in 0..TURNS {
            let guard = mutex.lock();
            assert!(mutex.try_lock().is_none());
            room.visit();
            drop(guard);
        }
    }

    fn by_tasks<M: AsyncMutex>(mutex: &M, room: &Room) {
        for _ in 0..TURNS {
            block_on(async {
                let guard = mutex.lock_async().await;
                assert!(mutex.try_lock().is_none());
                room.visit();
                drop(guard);
            });
        }
    }

    fn excludes_threads<M: BlockingMutex>() {
        let (mutex, room) = (M::new(), Room::default());
        thread::scope(|scope| {
            scope.spawn(|| by_threads(&mutex, &room));
            scope.spawn(|| by_threads(&mutex, &room));
        });
        assert!(mutex.try_lock().is_some());
    }

    fn excludes_tasks<M: AsyncMutex>() {
        let (mutex, room) = (M::new(), Room::default());
        thread::scope(|scope| {
            scope.spawn(|| by_tasks(&mutex, &room));
            scope.spawn(|| by_tasks(&mutex, &room));
        });
        assert!(mutex.try_lock().is_some());
    }

    fn excludes_both<M: BlockingMutex + AsyncMutex>() {
        let (mutex, room) = (M::new(), Room::default());
        thread::scope(|scope| {
            scope.spawn(|| by_threads(&mutex, &room));
            scope.spawn(|| by_tasks(&mutex, &room));
        });
        assert!(mutex.try_lock().is_some());
    }

    macro_rules! adapters {
        ($($name:ident: $mutex:ty, $($property:ident)*;)*) => {$(
            #[test]
            fn $name() {
                $($property::<$mutex>();)*
            }
        )*};
    }

    adapters! {
        async_lock: AsyncLock, excludes_threads excludes_tasks excludes_both;
        asyncband: OnThread<Asyncband>, excludes_threads excludes_tasks excludes_both;
        futures_intrusive: OnThread<FuturesIntrusive>, excludes_threads excludes_tasks excludes_both;
        futures_util: OnThread<FuturesUtil>, excludes_threads excludes_tasks excludes_both;
        maitake: OnThread<Maitake>, excludes_threads excludes_tasks excludes_both;
        parking_lot: OnWorker<ParkingLot>, excludes_threads excludes_tasks excludes_both;
        saa: Saa, excludes_threads excludes_tasks excludes_both;
        std: OnWorker<Std>, excludes_threads excludes_tasks excludes_both;
        tokio: Tokio, excludes_threads excludes_tasks excludes_both;
        usync: OnWorker<Usync>, excludes_threads excludes_tasks excludes_both;
        waitword: Waitword, excludes_threads excludes_tasks excludes_both;
    }
}
