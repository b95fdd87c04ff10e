//! Many threads and tasks, on four executors, increment one counter under one lock, and nothing is lost.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::exclusive::{Exclusive, WAYS};
use super::{PlainCounter, block_on, far};

/// All of them, for one lock.
macro_rules! one_at_a_time {
    ($Lock:ty) => {
        $crate::common::stress::one_at_a_time! { $Lock:
            threads_alone,
            threads_and_hand_polled_tasks,
            threads_and_tokio_on_one_thread,
            threads_and_tokio_on_many_threads,
            threads_and_smol,
        }
    };
    ($Lock:ty: $($test:ident),* $(,)?) => {$(
        #[test]
        fn $test() {
            $crate::common::stress::$test::<$Lock>();
        }
    )*};
}
pub(crate) use one_at_a_time;

const ROUNDS: usize = 2_000;

struct Shared<L> {
    lock: Arc<L>,
    counter: PlainCounter,
    /// What the counter should come to.
    entered: AtomicU64,
}

impl<L: Exclusive> Shared<L> {
    fn increment(&self) {
        self.counter.increment();
        self.entered.fetch_add(1, Ordering::Relaxed);
    }

    fn as_thread(&self, seed: usize) {
        for round in 0..ROUNDS {
            let held = match (seed + round) % 4 {
                0 => self.lock.try_lock(),
                1 => Some(self.lock.lock_until(far())),
                _ => Some(self.lock.lock()),
            };
            if held.is_some() {
                self.increment();
            }
        }
    }

    async fn as_task(self: Arc<Self>, seed: usize) {
        for round in 0..ROUNDS {
            let way = WAYS[round % WAYS.len()];
            let wait = async {
                let _held = self.lock.wait(way).await;
                if round % 7 == 0 {
                    smol::future::yield_now().await;
                }
                self.increment();
            };
            match (seed + round) % 3 {
                // Dropped while it waits, perhaps after its signal; or while it holds.
                0 => smol::future::or(wait, smol::future::yield_now()).await,
                _ => wait.await,
            }
        }
    }
}

/// Runs `start`, which starts some of the acquirers, beside two threads and a task on a thread of its own.
fn stress<L: Exclusive>(start: impl FnOnce(&Arc<Shared<L>>)) {
    let shared =
        Arc::new(Shared { lock: L::free(), counter: PlainCounter::default(), entered: AtomicU64::new(0) });
    thread::scope(|scope| {
        for seed in 0..2 {
            let shared = &shared;
            scope.spawn(move || shared.as_thread(seed));
        }
        scope.spawn(|| block_on(Arc::clone(&shared).as_task(2)));
        start(&shared);
    });
    assert_eq!(shared.counter.get(), shared.entered.load(Ordering::Relaxed));
    assert!(shared.lock.try_lock().is_some());
    assert_eq!(shared.lock.waiters(), 0);
}

fn tasks<L: Exclusive>(
    shared: &Arc<Shared<L>>,
) -> impl Iterator<Item = impl Future<Output = ()> + Send + 'static> {
    (0..4).map(|seed| Arc::clone(shared).as_task(seed))
}

pub(crate) fn threads_alone<L: Exclusive>() {
    stress::<L>(|shared| shared.as_thread(3));
}

pub(crate) fn threads_and_hand_polled_tasks<L: Exclusive>() {
    stress::<L>(|shared| {
        thread::scope(|scope| tasks(shared).for_each(|task| drop(scope.spawn(|| block_on(task)))));
    });
}

pub(crate) fn threads_and_tokio_on_one_thread<L: Exclusive>() {
    stress::<L>(|shared| tokio_runs(tokio::runtime::Builder::new_current_thread(), shared));
}

pub(crate) fn threads_and_tokio_on_many_threads<L: Exclusive>() {
    stress::<L>(|shared| tokio_runs(tokio::runtime::Builder::new_multi_thread(), shared));
}

fn tokio_runs<L: Exclusive>(mut builder: tokio::runtime::Builder, shared: &Arc<Shared<L>>) {
    builder.worker_threads(3).build().unwrap().block_on(async {
        for task in tasks(shared).map(tokio::spawn).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

pub(crate) fn threads_and_smol<L: Exclusive>() {
    stress::<L>(|shared| {
        smol::block_on(async {
            for task in tasks(shared).map(smol::spawn).collect::<Vec<_>>() {
                task.await;
            }
        });
    });
}
