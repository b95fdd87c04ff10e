//! Tasks that want one mutex, and hold it across a yield or do not.

use std::future::Future;
use std::sync::Arc;

use crate::contest::{Contest, Tally};
use crate::executor::Executor;
use crate::locks::{
    AsyncLock, AsyncMutex, Asyncband, FuturesIntrusive, FuturesUtil, Maitake, Mutex, NoLock, Saa, Tokio,
    Waitword,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::work::Work;
use crate::workload::{Charts, Limit, Page, Workload, at_least, contenders};

const TASKS: usize = 100;

/// Where the tasks run, and the name of what they get in the tables.
struct Scene {
    executor: Executor,
    rate: &'static str,
    even: &'static str,
    /// What waitword is to be compared with tokio, where the mutex is held across the yield.
    times_tokio: f64,
}

const SCENES: [Scene; 3] = [
    Scene {
        executor: Executor::Tokio { workers: 1 },
        rate: "tokio, one worker",
        even: "tokio, one worker: fewest / most",
        times_tokio: 1.4,
    },
    Scene {
        executor: Executor::Tokio { workers: 2 },
        rate: "tokio, two workers",
        even: "tokio, two workers: fewest / most",
        times_tokio: 1.6,
    },
    Scene {
        executor: Executor::AsyncExecutor,
        rate: "async-executor",
        even: "async-executor: fewest / most",
        times_tokio: 1.2,
    },
];

/// A task that gets less than half of what another gets counts as starved.
const STARVED: f64 = 0.5;

/// All contenders, measured by one function.
macro_rules! measured_by {
    ($run:ident) => {
        contenders! {
            $run: Waitword, NoLock, Saa, AsyncLock, Tokio, Asyncband, Maitake, FuturesUtil, FuturesIntrusive;
        }
    };
}

pub(crate) fn workloads() -> [Workload; 2] {
    let across = SCENES.iter().flat_map(|scene| {
        let rate = at_least(scene.rate, Limit::Times(scene.times_tokio, Tokio::NAME));
        [rate, at_least(scene.even, Limit::Value(0.9))]
    });
    let not_across = SCENES.iter().flat_map(|scene| {
        let rate = at_least(scene.rate, Limit::TimesBestWith(1.0, scene.even, STARVED));
        [rate, at_least(scene.even, Limit::Value(STARVED))]
    });
    [
        Workload {
            name: "mutex-tasks-across-yield",
            about: "N tasks lock one mutex, let the executor go on, and unlock it: acquisitions, and those of the task that \
                    got fewest by those of the one that got most.",
            baseline: Tokio::NAME,
            contenders: measured_by!(across_yield),
            goals: across.collect(),
            page: Page::Locks,
            charts: Charts::None,
        },
        Workload {
            name: "mutex-tasks",
            about: "N tasks lock one mutex, unlock it, and let the executor go on.",
            baseline: Tokio::NAME,
            contenders: measured_by!(not_across_yield),
            goals: not_across.collect(),
            page: Page::Locks,
            charts: Charts::None,
        },
    ]
}

fn across_yield<M: AsyncMutex>(scale: &Scale) -> Vec<Sample>
where
    for<'a> M::Guard<'a>: Send,
{
    run::<M, _>(scale, Contest::task_across_yield)
}

fn not_across_yield<M: AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    run::<M, _>(scale, Contest::task)
}

fn run<M: Mutex, F>(scale: &Scale, turns: fn(Arc<Contest<M>>) -> F) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    let on = |scene: &Scene| {
        let contest = Arc::new(Contest::<M>::new(Work::NONE, Work::NONE));
        let outcome =
            contest.among_tasks(scene.executor, TASKS, scale.contest(), |contest, _| turns(contest));
        [
            Sample::new(scene.rate, TASKS, Unit::PerSecond, outcome.per_second()),
            Sample::new(scene.even, TASKS, Unit::Ratio, outcome.evenness()),
        ]
    };
    SCENES.iter().flat_map(on).collect()
}
