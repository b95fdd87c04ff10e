//! Threads and tasks that want one mutex, or to write; the tasks hold it across a yield or do not.

use std::future::Future;
use std::sync::Arc;

use crate::contest::{Contest, Outcome, Tally};
use crate::executor::Executor;
use crate::locks::{
    AsyncLock, AsyncLockRwLock, AsyncMutex, AsyncRwLock, Asyncband, BlockingMutex, BlockingRwLock,
    FuturesIntrusive, FuturesUtil, Maitake, Mutex, OnThread, OnWorker, ParkingLot, RwLock, Saa, SaaRwLock,
    Std, Tokio, TokioRwLock, Usync, Waitword, WaitwordRwLock, Writes,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::work::Work;
use crate::workload::{Bound, Charts, Goal, Limit, Page, Sizes, Workload, at_least, contenders, goal};

const RATE: &str = "acquisitions";
const WAITS: [&str; 2] = ["longest wait of a thread", "longest wait of a task"];
const SHARES: [&str; 2] = ["share of the threads", "share of the tasks"];
const EVEN: &str = "tasks: fewest / most";

pub(crate) fn workloads() -> [Workload; 4] {
    let fair = |what, share, at| Goal { what, bound: Bound::AtLeast, limit: Limit::Value(share), at };
    let waits = || WAITS.map(|what| goal(what, Limit::Value(5e6)));
    let mut goals = vec![at_least(RATE, Limit::Times(7.0, AsyncLock::NAME))];
    goals.extend(waits());
    goals.extend([
        fair(SHARES[0], 0.2, Sizes::All),
        fair(SHARES[1], 0.2, Sizes::Only(4)),
        fair(SHARES[1], 0.25, Sizes::Only(16)),
        fair(EVEN, 0.5, Sizes::All),
    ]);
    let mut across_goals = vec![at_least(RATE, Limit::Times(7.0, AsyncLock::NAME))];
    across_goals.extend(waits());
    across_goals.push(fair(EVEN, 0.2, Sizes::All));
    let mut long_goals = vec![at_least(RATE, Limit::TimesBest(1.0))];
    long_goals.extend(waits());
    let charts = Charts::RateAgainstWait { rate: RATE, waits: &WAITS };
    [
        Workload {
            name: "mutex-mixed",
            about: "N threads and N tasks (tokio, two workers) work 50 ns with one mutex and 200 ns without it, in \
                    turns. Threads poll locks for tasks and park; locks for threads (parking_lot, std, usync) \
                    block the tasks' worker.",
            baseline: AsyncLock::NAME,
            contenders: contenders! {
                run: Waitword, AsyncLock, Saa, Tokio, OnThread<Asyncband>, OnThread<Maitake>,
                    OnThread<FuturesUtil>, OnThread<FuturesIntrusive>, OnWorker<ParkingLot>, OnWorker<Std>,
                    OnWorker<Usync>;
            },
            goals,
            page: Page::Locks,
            charts,
        },
        Workload {
            name: "mutex-mixed-across-yield",
            about: "The same, but each task lets its executor go on while it has the mutex.",
            baseline: AsyncLock::NAME,
            contenders: contenders! {
                run_across_yield: Waitword, AsyncLock, Saa, Tokio, OnThread<Asyncband>, OnThread<Maitake>,
                    OnThread<FuturesUtil>, OnThread<FuturesIntrusive>;
            },
            goals: across_goals,
            page: Page::Locks,
            charts,
        },
        Workload {
            name: "mutex-mixed-1000-200",
            about: "N threads and N tasks, as in mutex-mixed, work 1,000 ns with one mutex and 200 ns without it.",
            baseline: AsyncLock::NAME,
            contenders: contenders! {
                run_long: Waitword, AsyncLock, Saa, Tokio, OnThread<Asyncband>, OnThread<Maitake>,
                    OnThread<FuturesUtil>, OnThread<FuturesIntrusive>, OnWorker<ParkingLot>, OnWorker<Std>,
                    OnWorker<Usync>;
            },
            goals: long_goals,
            page: Page::Locks,
            charts: Charts::None,
        },
        Workload {
            name: "rw-lock-mixed-1000-200",
            about: "N threads and N tasks, as in mutex-mixed, write 1,000 ns with one read-write lock and work 200 ns \
                    without it.",
            baseline: AsyncLockRwLock::NAME,
            contenders: contenders! {
                run_writes: WaitwordRwLock, AsyncLockRwLock, SaaRwLock, TokioRwLock;
            },
            goals: vec![at_least(RATE, Limit::TimesBest(1.0))],
            page: Page::Locks,
            charts: Charts::None,
        },
    ]
}

fn run<M: BlockingMutex + AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    at_each_size(scale, [4, 16], 50, Contest::<M>::task)
}

fn run_long<M: BlockingMutex + AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    at_each_size(scale, [1, 4], 1_000, Contest::<M>::task)
}

fn run_writes<L: BlockingRwLock + AsyncRwLock>(scale: &Scale) -> Vec<Sample> {
    run_long::<Writes<L>>(scale)
}

fn run_across_yield<M: BlockingMutex + AsyncMutex>(scale: &Scale) -> Vec<Sample>
where
    for<'a> M::Guard<'a>: Send,
{
    at_each_size(scale, [4, 16], 50, Contest::<M>::task_across_yield)
}

fn at_each_size<M: BlockingMutex + AsyncMutex, F>(
    scale: &Scale,
    sizes: [usize; 2],
    inside: u32,
    turns: fn(Arc<Contest<M>>) -> F,
) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    sizes.into_iter().flat_map(|n| camps(scale, n, inside, turns)).collect()
}

fn camps<M: BlockingMutex + AsyncMutex, F>(
    scale: &Scale,
    n: usize,
    inside: u32,
    turns: fn(Arc<Contest<M>>) -> F,
) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    let contest = Arc::new(Contest::<M>::new(Work::nanos(inside), Work::nanos(200)));
    let camps = contest.among_both(Executor::Tokio { workers: 2 }, n, scale.contest(), turns);
    let all = camps.iter().map(Outcome::acquisitions).sum::<f64>();
    let mut samples =
        vec![Sample::new(RATE, n, Unit::PerSecond, camps.iter().map(Outcome::per_second).sum::<f64>())];
    for (camp, what) in camps.iter().zip(WAITS) {
        samples.push(Sample::new(what, n, Unit::Nanos, camp.longest_wait()));
    }
    for (camp, what) in camps.iter().zip(SHARES) {
        samples.push(Sample::new(what, n, Unit::Ratio, camp.acquisitions() / all.max(1.0)));
    }
    samples.push(Sample::new(EVEN, n, Unit::Ratio, camps[1].evenness()));
    samples
}
