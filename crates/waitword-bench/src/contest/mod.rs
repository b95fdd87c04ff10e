//! Threads or tasks that contend for one lock for a given time: how they start and stop, and what each does in its turns.

mod tally;

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::yield_now;

use crate::executor::Executor;
use crate::locks::{Exclusive, Lock, Shared};
use crate::work::Work;

pub(crate) use tally::{Outcome, Tally};

/// The lock and what is done with it, until the time is over. Each contender checks the time before each turn, so that none is
/// left waiting at the end, however unfair the lock.
pub(crate) struct Contest<L> {
    /// On cache lines of its own, away from what is only read.
    lock: Apart<L>,
    /// Tasks that are there before the others only yield.
    begun: AtomicBool,
    over: AtomicBool,
    /// With the lock, and without it.
    inside: Work,
    outside: Work,
}

#[repr(align(128))]
struct Apart<L>(L);

/// One turn of a hundred writes; the others read.
const WRITE_EVERY: u64 = 100;

impl<L> Contest<L> {
    /// Each turn works so many nanoseconds with the lock, and so many without it.
    pub(crate) fn new(lock: L, [inside, outside]: [u32; 2]) -> Self {
        // Its comparison of the clocks is not to fall into the contest.
        Tally::default();
        let [inside, outside] = [inside, outside].map(Work::nanos);
        let [begun, over] = [false; 2].map(AtomicBool::new);
        Self { lock: Apart(lock), begun, over, inside, outside }
    }

    /// `n` threads take part, each by `turns`, which is given its number.
    pub(crate) fn among_threads(
        &self,
        n: usize,
        time: Duration,
        turns: impl Fn(&Self, usize) -> Tally + Sync,
    ) -> Outcome
    where
        L: Sync,
    {
        let start = Barrier::new(n + 1);
        thread::scope(|scope| {
            let thread = |index| {
                start.wait();
                turns(self, index)
            };
            let threads = (0..n).map(|index| scope.spawn(move || thread(index))).collect::<Vec<_>>();
            start.wait();
            let time = self.run_for(time);
            let tallies = threads.into_iter().map(|thread| thread.join().expect("nothing in there panics"));
            Outcome { tallies: tallies.collect(), time }
        })
    }

    /// Lets the contenders run for a while, then stops them. Returns how long they ran.
    fn run_for(&self, time: Duration) -> Duration {
        let start = Instant::now();
        self.begun.store(true, Ordering::Relaxed);
        thread::sleep(time);
        self.over.store(true, Ordering::Relaxed);
        start.elapsed()
    }

    async fn begins(&self) {
        while !self.begun.load(Ordering::Relaxed) {
            yield_now().await;
        }
    }

    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    /// The turns of a thread.
    #[inline]
    fn turns(&self, mut inside: impl FnMut(&L, &mut Tally)) -> Tally {
        let mut tally = Tally::default();
        while self.goes_on() {
            inside(&self.lock.0, &mut tally);
            self.outside.run();
        }
        tally
    }
}

impl<L: Lock> Contest<L> {
    pub(crate) fn thread(&self, _index: usize) -> Tally {
        self.turns(|lock, tally| {
            let _guard = tally.acquire(|| lock.try_acquire(), || lock.acquire());
            self.inside.run();
        })
    }

    /// The turns of a task that lets its executor go on between two of them.
    pub(crate) async fn task(self: Arc<Self>, _index: usize) -> Tally {
        let mut tally = Tally::default();
        self.begins().await;
        while self.goes_on() {
            {
                let _guard = self.acquire_async(&mut tally).await;
                self.inside.run();
            }
            self.outside.run();
            yield_now().await;
        }
        tally
    }

    /// The turns of a task that lets its executor go on while it has the lock.
    pub(crate) async fn task_across_yield(self: Arc<Self>, _index: usize) -> Tally {
        let mut tally = Tally::default();
        self.begins().await;
        while self.goes_on() {
            let guard = self.acquire_async(&mut tally).await;
            self.inside.run();
            yield_now().await;
            drop(guard);
            self.outside.run();
        }
        tally
    }

    /// A wait that blocks within the poll is timed as a thread's; making that future costs nothing.
    #[inline]
    async fn acquire_async(&self, tally: &mut Tally) -> L::Guard<'_> {
        let lock = &self.lock.0;
        if !L::BLOCKS_WORKER {
            return tally.acquire_async(lock.acquire_async(), None).await;
        }
        if let Some(guard) = lock.try_acquire() {
            tally.acquisitions += 1;
            return guard;
        }
        let start = tally.now();
        tally.acquire_async(lock.acquire_async(), Some(start)).await
    }

    /// So many threads and tasks take part, each task by `turns`, which is given its number.
    pub(crate) fn among_both<F>(
        self: &Arc<Self>,
        executor: Executor,
        [threads, tasks]: [usize; 2],
        time: Duration,
        turns: impl Fn(Arc<Self>, usize) -> F,
    ) -> [Outcome; 2]
    where
        F: Future<Output = Tally> + Send + 'static,
    {
        let tasks = (0..tasks).map(|index| turns(Arc::clone(self), index));
        let (tallies, threads) = executor.run(tasks, || self.among_threads(threads, time, Self::thread));
        let time = threads.time;
        [threads, Outcome { tallies, time }]
    }
}

impl<L: Lock + Lock<Shared>> Contest<L> {
    /// The turns of a thread or a task begin at different numbers, so that not all write at the same time.
    fn writes(index: usize, tally: &Tally) -> bool {
        (tally.acquisitions + 7 * index as u64).is_multiple_of(WRITE_EVERY)
    }

    /// The turns of a thread that reads, and writes once in a while.
    pub(crate) fn reading_thread(&self, index: usize) -> Tally {
        self.turns(|lock, tally| {
            if Self::writes(index, tally) {
                let _guard = tally
                    .acquire(|| Lock::<Exclusive>::try_acquire(lock), || Lock::<Exclusive>::acquire(lock));
                self.inside.run();
            } else {
                let _guard =
                    tally.acquire(|| Lock::<Shared>::try_acquire(lock), || Lock::<Shared>::acquire(lock));
                self.inside.run();
            }
        })
    }

    /// The turns of a task that reads, writes once in a while, and lets its executor go on between two turns.
    pub(crate) async fn reading_task(self: Arc<Self>, index: usize) -> Tally {
        let lock = &self.lock.0;
        let mut tally = Tally::default();
        self.begins().await;
        while self.goes_on() {
            if Self::writes(index, &tally) {
                let _guard = tally.acquire_async(Lock::<Exclusive>::acquire_async(lock), None).await;
                self.inside.run();
            } else {
                let _guard = tally.acquire_async(Lock::<Shared>::acquire_async(lock), None).await;
                self.inside.run();
            }
            self.outside.run();
            yield_now().await;
        }
        tally
    }
}
