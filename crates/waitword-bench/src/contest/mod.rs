//! Threads or tasks that contend for one lock for a given time: their start and stop, and their loops.

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

/// The lock and the work with it, until the time is over. Each contender checks the time before each turn, so that none is
/// left waiting at the end, however unfair the lock.
pub(crate) struct Contest<L> {
    /// On cache lines of its own, apart from the fields that are only read.
    lock: Apart<L>,
    /// Tasks that start before the others only yield.
    begun: AtomicBool,
    over: AtomicBool,
    /// The work inside the lock, and outside of it.
    inside: Work,
    outside: Work,
}

#[repr(align(128))]
struct Apart<L>(L);

/// One turn of a hundred writes. The others read.
const WRITE_EVERY: u64 = 100;

impl<L> Contest<L> {
    /// Creates a contest whose turns work this many nanoseconds inside the lock, and this many outside of it.
    pub(crate) fn new(lock: L, [inside, outside]: [u32; 2]) -> Self {
        // Compares the clocks now, so that this does not happen during the contest.
        Tally::default();
        let [inside, outside] = [inside, outside].map(Work::nanos);
        let [begun, over] = [false; 2].map(AtomicBool::new);
        Self { lock: Apart(lock), begun, over, inside, outside }
    }

    /// Runs these numbers of threads and tasks, each with its loop, whose argument is its number. Without an executor there are no tasks.
    pub(crate) fn run<F>(
        self: &Arc<Self>,
        threads: usize,
        tasks: Option<(Executor, usize)>,
        time: Duration,
        thread_turns: fn(&Self, usize) -> Tally,
        task_turns: fn(Arc<Self>, usize) -> F,
    ) -> [Outcome; 2]
    where
        L: Send + Sync + 'static,
        F: Future<Output = Tally> + Send + 'static,
    {
        let among_threads = || self.among_threads(threads, time, thread_turns);
        let (tallies, threads) = match tasks {
            Some((executor, n)) => {
                executor.run((0..n).map(|index| task_turns(Arc::clone(self), index)), among_threads)
            }
            None => (Vec::new(), among_threads()),
        };
        let time = threads.time;
        [threads, Outcome { tallies, time }]
    }

    fn among_threads(&self, n: usize, time: Duration, turns: fn(&Self, usize) -> Tally) -> Outcome
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

    /// Lets the contenders run for this time, then stops them. Returns how long they ran.
    fn run_for(&self, time: Duration) -> Duration {
        let start = Instant::now();
        self.begun.store(true, Ordering::Relaxed);
        thread::sleep(time);
        self.over.store(true, Ordering::Relaxed);
        start.elapsed()
    }

    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    /// The loop of a thread.
    #[inline]
    fn turns(&self, mut inside: impl FnMut(&mut Tally)) -> Tally {
        let mut tally = Tally::default();
        while self.goes_on() {
            inside(&mut tally);
            self.outside.run();
        }
        tally
    }

    #[inline]
    fn turn<Mode>(&self, tally: &mut Tally)
    where
        L: Lock<Mode>,
    {
        let lock = &self.lock.0;
        let _guard = tally.acquire(|| lock.try_acquire(), || lock.acquire());
        self.inside.run();
    }

    /// The start of a task, before its first turn.
    async fn begins(&self) -> Tally {
        let tally = Tally::default();
        while !self.begun.load(Ordering::Relaxed) {
            yield_now().await;
        }
        tally
    }

    #[inline]
    async fn turn_async<Mode>(&self, tally: &mut Tally)
    where
        L: Lock<Mode>,
    {
        let _guard = self.acquire_async::<Mode>(tally).await;
        self.inside.run();
    }

    /// Yields to the executor between two turns of a task.
    #[inline]
    async fn rest(&self) {
        self.outside.run();
        yield_now().await;
    }

    /// A wait that blocks within the poll is timed as a thread's wait, because creating that future costs nothing.
    #[inline]
    async fn acquire_async<Mode>(&self, tally: &mut Tally) -> L::Guard<'_>
    where
        L: Lock<Mode>,
    {
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
}

impl<L: Lock> Contest<L> {
    pub(crate) fn thread(&self, _index: usize) -> Tally {
        self.turns(|tally| self.turn::<Exclusive>(tally))
    }

    pub(crate) async fn task(self: Arc<Self>, _index: usize) -> Tally {
        let mut tally = self.begins().await;
        while self.goes_on() {
            self.turn_async::<Exclusive>(&mut tally).await;
            self.rest().await;
        }
        tally
    }

    /// The loop of a task that yields to its executor while it holds the lock.
    pub(crate) async fn task_across_yield(self: Arc<Self>, _index: usize) -> Tally {
        let mut tally = self.begins().await;
        while self.goes_on() {
            let guard = self.acquire_async::<Exclusive>(&mut tally).await;
            self.inside.run();
            yield_now().await;
            drop(guard);
            self.outside.run();
        }
        tally
    }
}

/// The loops of contenders that read, and write once in a hundred turns.
impl<L: Lock + Lock<Shared>> Contest<L> {
    /// Threads and tasks begin at different numbers, so that not all write at the same time.
    fn writes(index: usize, tally: &Tally) -> bool {
        (tally.acquisitions + 7 * index as u64).is_multiple_of(WRITE_EVERY)
    }

    pub(crate) fn reading_thread(&self, index: usize) -> Tally {
        self.turns(|tally| match Self::writes(index, tally) {
            true => self.turn::<Exclusive>(tally),
            false => self.turn::<Shared>(tally),
        })
    }

    pub(crate) async fn reading_task(self: Arc<Self>, index: usize) -> Tally {
        let mut tally = self.begins().await;
        while self.goes_on() {
            match Self::writes(index, &tally) {
                true => self.turn_async::<Exclusive>(&mut tally).await,
                false => self.turn_async::<Shared>(&mut tally).await,
            }
            self.rest().await;
        }
        tally
    }
}
