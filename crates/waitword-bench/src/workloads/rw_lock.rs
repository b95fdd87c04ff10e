//! Read-write locks: uncontended, then nearly all of them reading.

use std::sync::Arc;

use super::uncontended::{async_ready, blocking};
use crate::contest::Contest;
use crate::executor::Executor;
use crate::locks::{
    AsyncLockRwLock, AsyncRwLock, AsyncbandRwLock, BlockingRwLock, MaitakeRwLock, ParkingLotRwLock, Reads,
    RwLock, SaaRwLock, StdRwLock, TokioRwLock, UsyncRwLock, WaitwordRwLock, Writes,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::work::Work;
use crate::workload::{Charts, Contender, Limit, Page, Workload, at_least, contenders, goal};

const READ: &str = "read, blocking";
const WRITE: &str = "write, blocking";
const READ_ASYNC: &str = "read, async, ready at the first poll";
const WRITE_ASYNC: &str = "write, async, ready at the first poll";

const THREADS: &str = "threads";
const THREADS_WAIT: &str = "longest wait of a thread";
const TASKS: &str = "tasks";
const TASKS_WAIT: &str = "longest wait of a task";

/// Lists the contenders, with what runs on threads and what runs as tasks for each of their types.
macro_rules! on_both {
    ($threads:ident, $tasks:ident) => {
        vec![
            Contender { name: WaitwordRwLock::NAME, run: both!($threads, $tasks, WaitwordRwLock) },
            Contender { name: StdRwLock::NAME, run: $threads::<StdRwLock> },
            Contender { name: ParkingLotRwLock::NAME, run: $threads::<ParkingLotRwLock> },
            Contender { name: UsyncRwLock::NAME, run: $threads::<UsyncRwLock> },
            Contender { name: SaaRwLock::NAME, run: both!($threads, $tasks, SaaRwLock) },
            Contender { name: AsyncLockRwLock::NAME, run: both!($threads, $tasks, AsyncLockRwLock) },
            Contender { name: TokioRwLock::NAME, run: both!($threads, $tasks, TokioRwLock) },
            Contender { name: AsyncbandRwLock::NAME, run: $tasks::<AsyncbandRwLock> },
            Contender { name: MaitakeRwLock::NAME, run: $tasks::<MaitakeRwLock> },
        ]
    };
}

macro_rules! both {
    ($threads:ident, $tasks:ident, $lock:ty) => {
        |scale| [$threads::<$lock>(scale), $tasks::<$lock>(scale)].concat()
    };
}

pub(super) fn workloads() -> [Workload; 3] {
    [
        Workload {
            name: "rw-lock-uncontended",
            about: "Lock and unlock a read-write lock without contention: the fastest of twenty bursts.",
            baseline: StdRwLock::NAME,
            contenders: on_both!(uncontended_threads, uncontended_tasks),
            goals: [READ, READ_ASYNC].map(|what| goal(what, Limit::TimesBest(1.0))).into(),
            page: Page::Locks,
            charts: Charts::None,
        },
        Workload {
            name: "rw-lock-99-reads",
            about: "N threads, or N tasks (tokio, two workers) that let their executor go on between two turns, work 50 ns \
                    with a read-write lock and 200 ns without it: 99 turns of a hundred read, one writes.",
            baseline: StdRwLock::NAME,
            contenders: on_both!(reading_threads, reading_tasks),
            goals: [THREADS, TASKS].map(|what| at_least(what, Limit::TimesBest(1.0))).into(),
            page: Page::Locks,
            charts: Charts::None,
        },
        Workload {
            name: "rw-lock-long-reads",
            about: "N threads work 1,000 ns with a read-write lock and 200 ns without it: 99 turns of a hundred read, one \
                    writes.",
            baseline: StdRwLock::NAME,
            contenders: contenders! {
                long_reads: WaitwordRwLock, StdRwLock, ParkingLotRwLock, UsyncRwLock, SaaRwLock, AsyncLockRwLock,
                    TokioRwLock;
            },
            goals: vec![at_least(THREADS, Limit::TimesBest(0.95)), goal(THREADS_WAIT, Limit::Value(5e6))],
            page: Page::Locks,
            charts: Charts::None,
        },
    ]
}

fn uncontended_threads<L: BlockingRwLock>(scale: &Scale) -> Vec<Sample> {
    vec![
        Sample::new(READ, 1, Unit::Nanos, blocking::<Reads<L>>(scale)),
        Sample::new(WRITE, 1, Unit::Nanos, blocking::<Writes<L>>(scale)),
    ]
}

fn uncontended_tasks<L: AsyncRwLock>(scale: &Scale) -> Vec<Sample> {
    vec![
        Sample::new(READ_ASYNC, 1, Unit::Nanos, async_ready::<Reads<L>>(scale)),
        Sample::new(WRITE_ASYNC, 1, Unit::Nanos, async_ready::<Writes<L>>(scale)),
    ]
}

fn reading_threads<L: BlockingRwLock>(scale: &Scale) -> Vec<Sample> {
    [2, 16].into_iter().flat_map(|n| reading::<L>(scale, n, 50)).collect()
}

fn long_reads<L: BlockingRwLock>(scale: &Scale) -> Vec<Sample> {
    [2, 4, 8].into_iter().flat_map(|n| reading::<L>(scale, n, 1_000)).collect()
}

fn reading<L: BlockingRwLock>(scale: &Scale, n: usize, inside: u32) -> [Sample; 2] {
    let contest = Contest::<L>::mostly_reading(Work::nanos(inside), Work::nanos(200));
    let outcome = contest.among_threads(n, scale.contest(), Contest::reading_thread);
    [
        Sample::new(THREADS, n, Unit::PerSecond, outcome.per_second()),
        Sample::new(THREADS_WAIT, n, Unit::Nanos, outcome.longest_wait()),
    ]
}

fn reading_tasks<L: AsyncRwLock>(scale: &Scale) -> Vec<Sample> {
    let contest = Arc::new(Contest::<L>::mostly_reading(Work::nanos(50), Work::nanos(200)));
    let executor = Executor::Tokio { workers: 2 };
    let outcome = contest.among_tasks(executor, 100, scale.contest(), Contest::reading_task);
    vec![
        Sample::new(TASKS, 100, Unit::PerSecond, outcome.per_second()),
        Sample::new(TASKS_WAIT, 100, Unit::Nanos, outcome.longest_wait()),
    ]
}
