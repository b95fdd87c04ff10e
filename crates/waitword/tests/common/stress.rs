//! Crowds of threads and tasks, on four executors, that use one lock many times: exclusion holds, and no waiter is forgotten.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::exclusive::{Exclusive, WAYS};
use super::{PlainCounter, block_on, far};

/// All of them, for one crowd.
macro_rules! on_every_executor {
    ($Crowd:ty) => {
        $crate::common::stress::on_every_executor! { $Crowd:
            threads_alone,
            threads_and_hand_polled_tasks,
            threads_and_tokio_on_one_thread,
            threads_and_tokio_on_many_threads,
            threads_and_smol,
        }
    };
    ($Crowd:ty: $($test:ident),* $(,)?) => {$(
        #[test]
        fn $test() {
            $crate::common::stress::$test::<$Crowd>();
        }
    )*};
}
pub(crate) use on_every_executor;

/// What a crowd shares, and how each member uses it.
pub(crate) trait Crowd: Default + Send + Sync + 'static {
    fn as_thread(&self, seed: u64);

    fn as_task(self: Arc<Self>, seed: u64) -> impl Future<Output = ()> + Send + 'static;

    /// When all are through.
    fn check(&self);
}

const ROUNDS: usize = 2_000;

/// A counter under a lock that one at a time can hold.
pub(crate) struct OneAtATime<L> {
    lock: Arc<L>,
    counter: PlainCounter,
    /// What the counter should come to.
    entered: AtomicU64,
}

impl<L: Exclusive> OneAtATime<L> {
    fn increment(&self) {
        self.counter.increment();
        self.entered.fetch_add(1, Ordering::Relaxed);
    }
}

impl<L: Exclusive> Default for OneAtATime<L> {
    fn default() -> Self {
        Self { lock: L::free(), counter: PlainCounter::default(), entered: AtomicU64::new(0) }
    }
}

impl<L: Exclusive> Crowd for OneAtATime<L> {
    fn as_thread(&self, seed: u64) {
        for round in 0..ROUNDS {
            let held = match (seed as usize + round) % 4 {
                0 => self.lock.try_lock(),
                1 => Some(self.lock.lock_until(far())),
                _ => Some(self.lock.lock()),
            };
            if held.is_some() {
                self.increment();
            }
        }
    }

    async fn as_task(self: Arc<Self>, seed: u64) {
        for round in 0..ROUNDS {
            let way = WAYS[round % WAYS.len()];
            let wait = async {
                let _held = self.lock.wait(way).await;
                if round % 7 == 0 {
                    smol::future::yield_now().await;
                }
                self.increment();
            };
            match (seed as usize + round) % 3 {
                // Dropped while it waits, perhaps after its signal; or while it holds.
                0 => smol::future::or(wait, smol::future::yield_now()).await,
                _ => wait.await,
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.counter.get(), self.entered.load(Ordering::Relaxed));
        assert!(self.lock.try_lock().is_some());
        assert_eq!(self.lock.waiters(), 0);
    }
}

/// Runs `start`, which starts some of the crowd, beside two threads and a task on a thread of its own.
fn stress<C: Crowd>(start: impl FnOnce(&Arc<C>)) {
    let crowd = Arc::new(C::default());
    thread::scope(|scope| {
        for seed in 0..2 {
            let crowd = &crowd;
            scope.spawn(move || crowd.as_thread(seed));
        }
        scope.spawn(|| block_on(Arc::clone(&crowd).as_task(2)));
        start(&crowd);
    });
    crowd.check();
}

fn tasks<C: Crowd>(crowd: &Arc<C>) -> impl Iterator<Item = impl Future<Output = ()> + Send + 'static> {
    (0..4).map(|seed| Arc::clone(crowd).as_task(seed))
}

pub(crate) fn threads_alone<C: Crowd>() {
    stress::<C>(|crowd| crowd.as_thread(3));
}

pub(crate) fn threads_and_hand_polled_tasks<C: Crowd>() {
    stress::<C>(|crowd| {
        thread::scope(|scope| tasks(crowd).for_each(|task| drop(scope.spawn(|| block_on(task)))));
    });
}

pub(crate) fn threads_and_tokio_on_one_thread<C: Crowd>() {
    stress::<C>(|crowd| tokio_runs(tokio::runtime::Builder::new_current_thread(), crowd));
}

pub(crate) fn threads_and_tokio_on_many_threads<C: Crowd>() {
    stress::<C>(|crowd| tokio_runs(tokio::runtime::Builder::new_multi_thread(), crowd));
}

fn tokio_runs<C: Crowd>(mut builder: tokio::runtime::Builder, crowd: &Arc<C>) {
    builder.worker_threads(3).build().unwrap().block_on(async {
        for task in tasks(crowd).map(tokio::spawn).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

pub(crate) fn threads_and_smol<C: Crowd>() {
    stress::<C>(|crowd| {
        smol::future::block_on(async {
            for task in tasks(crowd).map(smol::spawn).collect::<Vec<_>>() {
                task.await;
            }
        });
    });
}
