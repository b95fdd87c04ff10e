//! Semaphores: uncontended, then with fewer permits than there are threads or tasks.

use std::sync::Arc;

use super::uncontended::{async_ready, blocking, limit};
use crate::contest::Contest;
use crate::executor::Executor;
use crate::locks::{
    AsyncLockSemaphore, AsyncSemaphore, AsyncbandSemaphore, BlockingSemaphore, CasAndSwap,
    FuturesIntrusiveSemaphore, MaitakeSemaphore, Mutex, Permits, SaaSemaphore, Semaphore, TokioSemaphore,
    WaitwordSemaphore,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::work::Work;
use crate::workload::{Charts, Contender, Limit, Page, Workload, at_least, contenders, goal};

const BLOCKING: &str = "blocking";
const ASYNC: &str = "async, ready at the first poll";

const THREADS: &str = "threads";
const THREADS_WAIT: &str = "longest wait of a thread";
const TASKS: &str = "tasks, across a yield";
const TASKS_EVEN: &str = "tasks, across a yield: fewest / most";

const PERMITS: usize = 2;

pub(super) fn workloads() -> [Workload; 2] {
    const LIMIT: &str = CasAndSwap::NAME;
    let mut uncontended = contenders! {
        uncontended_both: WaitwordSemaphore, SaaSemaphore, AsyncLockSemaphore, TokioSemaphore;
        uncontended_tasks: AsyncbandSemaphore, MaitakeSemaphore, FuturesIntrusiveSemaphore;
    };
    uncontended.insert(1, Contender { name: LIMIT, run: |scale| limit([BLOCKING, ASYNC], scale) });
    [
        Workload {
            name: "semaphore-uncontended",
            about: "Acquire and release the only permit of a semaphore without contention: the fastest of twenty \
                    bursts.",
            baseline: TokioSemaphore::NAME,
            contenders: uncontended,
            goals: [BLOCKING, ASYNC].map(|what| goal(what, Limit::Times(1.05, LIMIT))).into(),
            page: Page::Locks,
            charts: Charts::None,
        },
        Workload {
            name: "semaphore-contended",
            about: "Two permits: N threads work 50 ns with one and 200 ns without; N tasks (tokio, two workers) acquire one, \
                    let the executor go on, and release it.",
            baseline: TokioSemaphore::NAME,
            contenders: contenders! {
                both: WaitwordSemaphore, SaaSemaphore, AsyncLockSemaphore, TokioSemaphore;
                tasks: AsyncbandSemaphore, MaitakeSemaphore, FuturesIntrusiveSemaphore;
            },
            goals: [THREADS, TASKS].map(|what| at_least(what, Limit::TimesBest(1.0))).into(),
            page: Page::Locks,
            charts: Charts::None,
        },
    ]
}

fn uncontended_both<S: BlockingSemaphore + AsyncSemaphore>(scale: &Scale) -> Vec<Sample> {
    let nanos = blocking::<Permits<S, 1>>(scale);
    let mut samples = vec![Sample::new(BLOCKING, 1, Unit::Nanos, nanos)];
    samples.extend(uncontended_tasks::<S>(scale));
    samples
}

fn uncontended_tasks<S: AsyncSemaphore>(scale: &Scale) -> Vec<Sample> {
    vec![Sample::new(ASYNC, 1, Unit::Nanos, async_ready::<Permits<S, 1>>(scale))]
}

fn both<S: BlockingSemaphore + AsyncSemaphore>(scale: &Scale) -> Vec<Sample>
where
    for<'a> S::Permit<'a>: Send,
{
    [threads::<S>(scale), tasks::<S>(scale)].concat()
}

fn threads<S: BlockingSemaphore>(scale: &Scale) -> Vec<Sample> {
    let of = |n| {
        let contest = Contest::<Permits<S, PERMITS>>::new(Work::nanos(50), Work::nanos(200));
        let outcome = contest.among_threads(n, scale.contest(), |contest, _| contest.thread());
        [
            Sample::new(THREADS, n, Unit::PerSecond, outcome.per_second()),
            Sample::new(THREADS_WAIT, n, Unit::Nanos, outcome.longest_wait()),
        ]
    };
    [4, 16].into_iter().flat_map(of).collect()
}

fn tasks<S: AsyncSemaphore>(scale: &Scale) -> Vec<Sample>
where
    for<'a> S::Permit<'a>: Send,
{
    let contest = Arc::new(Contest::<Permits<S, PERMITS>>::new(Work::NONE, Work::NONE));
    let executor = Executor::Tokio { workers: 2 };
    let outcome =
        contest.among_tasks(executor, 100, scale.contest(), |contest, _| contest.task_across_yield());
    vec![
        Sample::new(TASKS, 100, Unit::PerSecond, outcome.per_second()),
        Sample::new(TASKS_EVEN, 100, Unit::Ratio, outcome.evenness()),
    ]
}
