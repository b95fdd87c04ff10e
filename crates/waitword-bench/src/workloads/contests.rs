//! Threads that want one lock, and tasks that do, and hold it across a yield or do not. Both together are in `mixed.rs`.

use std::future::Future;
use std::sync::Arc;

use crate::contest::{Contest, Outcome, Tally};
use crate::executor::Executor;
use crate::locks::peers::*;
use crate::locks::{Lock, Semaphore, Shared};
use crate::series::{RATE, Sample, Unit, WAITS};
use crate::workload::{Goal, Limit, Scale, Sizes, Subject, Workload, at_least, contenders, goal};

/// A figure of a contest: its name, its unit, and where it comes from.
type Figure = (&'static str, Unit, fn(&Outcome) -> f64);

const fn rate(what: &'static str) -> Figure {
    (what, Unit::PerSecond, Outcome::per_second)
}

const fn longest_wait(what: &'static str) -> Figure {
    (what, Unit::Nanos, Outcome::longest_wait)
}

const fn evenness(what: &'static str) -> Figure {
    (what, Unit::Ratio, Outcome::evenness)
}

fn samples(n: usize, outcome: &Outcome, figures: &[Figure]) -> Vec<Sample> {
    figures.iter().map(|&(what, unit, figure)| Sample::new(what, n, unit, figure(outcome))).collect()
}

pub(super) fn workloads() -> Vec<Workload> {
    let mut all = Vec::from(mutexes_of_threads());
    all.extend(mutexes_of_tasks());
    all.extend(rw_locks());
    all.push(semaphores());
    all
}

/// So many threads in turns, for each of the sizes.
fn among_threads<L: Send + Sync>(
    scale: &Scale,
    lock: fn() -> L,
    sizes: &[usize],
    nanos: [u32; 2],
    turns: fn(&Contest<L>, usize) -> Tally,
    figures: &[Figure],
) -> Vec<Sample> {
    let of = |&n| {
        let outcome = Contest::new(lock(), nanos).among_threads(n, scale.contest(), turns);
        samples(n, &outcome, figures)
    };
    sizes.iter().flat_map(of).collect()
}

const TASKS: usize = 100;

fn among_tasks<L: Lock, F>(
    scale: &Scale,
    lock: L,
    executor: Executor,
    nanos: [u32; 2],
    turns: fn(Arc<Contest<L>>, usize) -> F,
    figures: &[Figure],
) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    let contest = Arc::new(Contest::new(lock, nanos));
    let [_, tasks] = contest.among_both(executor, [0, TASKS], scale.contest(), turns);
    samples(TASKS, &tasks, figures)
}

const WAIT: &str = "longest wait";
const P99: &str = "wait that one of a hundred exceeds";
const EVEN: &str = "fewest / most acquisitions of a thread";

fn mutexes_of_threads() -> [Workload; 5] {
    const BOUNDED: Goal = goal(WAIT, Limit::Value(5e6));
    let of = |name, nanos: [u32; 2], about, goals: &[Goal]| Workload {
        name,
        about,
        contenders: contenders! {
            mutex_threads(nanos): Waitword, ParkingLot, Std, Usync, Saa, AsyncLock, Tokio;
        },
        goals: [goals, &[BOUNDED]].concat(),
    };
    let nearly_the_best = at_least(RATE, Limit::TimesBest(0.95));
    [
        of(
            "mutex-threads-0-0",
            [0, 0],
            "N threads lock and unlock one mutex, and do nothing else.",
            &[at_least(RATE, Limit::Times(0.7, ParkingLot::NAME))],
        ),
        of(
            "mutex-threads-50-200",
            [50, 200],
            "N threads work 50 ns with the mutex and 200 ns without it, in turns.",
            &[nearly_the_best],
        ),
        of(
            "mutex-threads-0-200",
            [0, 200],
            "N threads lock and unlock one mutex, and work 200 ns without it, in turns.",
            &[nearly_the_best],
        ),
        of(
            "mutex-threads-1000-0",
            [1000, 0],
            "N threads work 1,000 ns with the mutex, and at once lock it again.",
            &[at_least(RATE, Limit::TimesBest(0.9))],
        ),
        of(
            "mutex-threads-1000-200",
            [1000, 200],
            "N threads work 1,000 ns with the mutex and 200 ns without it, in turns.",
            &[
                nearly_the_best,
                at_least(EVEN, Limit::Value(0.5)),
                Goal { at: Sizes::Only(2), ..goal(P99, Limit::Value(5e3)) },
            ],
        ),
    ]
}

fn mutex_threads<L: Lock>(scale: &Scale, nanos: [u32; 2]) -> Vec<Sample> {
    let figures = [rate(RATE), longest_wait(WAIT), (P99, Unit::Nanos, Outcome::p99_wait), evenness(EVEN)];
    among_threads(scale, L::new, &[2, 4, 8, 16], nanos, Contest::thread, &figures)
}

/// Where the tasks run, and the names of what they get in the tables.
struct Scene {
    executor: Executor,
    rate: &'static str,
    even: &'static str,
    /// What waitword is to be compared with tokio, where the mutex is held across the yield.
    times_tokio: f64,
}

macro_rules! scene {
    ($executor:expr, $name:literal, $times_tokio:literal) => {
        Scene {
            executor: $executor,
            rate: $name,
            even: concat!($name, ": fewest / most"),
            times_tokio: $times_tokio,
        }
    };
}

const SCENES: [Scene; 3] = [
    scene!(Executor::Tokio { workers: 1 }, "tokio, one worker", 1.4),
    scene!(Executor::Tokio { workers: 2 }, "tokio, two workers", 1.6),
    scene!(Executor::AsyncExecutor, "async-executor", 1.2),
];

/// A task that gets less than half of what another gets counts as starved.
const STARVED: f64 = 0.5;

fn mutexes_of_tasks() -> [Workload; 2] {
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
            contenders: contenders! {
                across_yield: Waitword, Saa, AsyncLock, Tokio, Maitake, FuturesIntrusive;
            },
            goals: across.collect(),
        },
        Workload {
            name: "mutex-tasks",
            about: "N tasks lock one mutex, unlock it, and let the executor go on.",
            contenders: contenders! {
                not_across_yield: Waitword, Saa, AsyncLock, Tokio, Maitake, FuturesIntrusive;
            },
            goals: not_across.collect(),
        },
    ]
}

fn across_yield<L: Lock>(scale: &Scale) -> Vec<Sample>
where
    for<'a> L::Guard<'a>: Send,
{
    on_each_executor::<L, _>(scale, Contest::task_across_yield)
}

fn not_across_yield<L: Lock>(scale: &Scale) -> Vec<Sample> {
    on_each_executor::<L, _>(scale, Contest::task)
}

fn on_each_executor<L: Lock, F>(scale: &Scale, turns: fn(Arc<Contest<L>>, usize) -> F) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    let on = |scene: &Scene| {
        let figures = [rate(scene.rate), evenness(scene.even)];
        among_tasks(scale, L::new(), scene.executor, [0, 0], turns, &figures)
    };
    SCENES.iter().flat_map(on).collect()
}

const TWO_WORKERS: Executor = Executor::Tokio { workers: 2 };

const OF_THREADS: &str = "threads";
const OF_TASKS: &str = "tasks";

fn rw_locks() -> [Workload; 2] {
    [
        Workload {
            name: "rw-lock-99-reads",
            about: "N threads, or N tasks (tokio, two workers) that let their executor go on between two turns, work 50 ns \
                    with a readers-writer lock and 200 ns without it: 99 turns of a hundred read, one writes.",
            contenders: contenders! {
                reading: WaitwordRwLock;
                reading_threads(&[2, 16], 50): StdRwLock, ParkingLotRwLock, UsyncRwLock;
                reading: Saa, AsyncLockRwLock, TokioRwLock;
            },
            goals: [OF_THREADS, OF_TASKS].map(|what| at_least(what, Limit::TimesBest(1.0))).into(),
        },
        Workload {
            name: "rw-lock-long-reads",
            about: "N threads work 1,000 ns with a readers-writer lock and 200 ns without it: 99 turns of a hundred read, one \
                    writes.",
            contenders: contenders! {
                reading_threads(&[2, 4, 8], 1_000): WaitwordRwLock, StdRwLock, ParkingLotRwLock, UsyncRwLock, Saa,
                    AsyncLockRwLock, TokioRwLock;
            },
            goals: vec![at_least(OF_THREADS, Limit::TimesBest(0.95)), goal(WAITS[0], Limit::Value(5e6))],
        },
    ]
}

fn reading<L: Lock + Lock<Shared>>(scale: &Scale) -> Vec<Sample> {
    let mut samples = reading_threads::<L>(scale, &[2, 16], 50);
    let figures = [rate(OF_TASKS), longest_wait(WAITS[1])];
    samples.extend(among_tasks(scale, L::new(), TWO_WORKERS, [50, 200], Contest::reading_task, &figures));
    samples
}

fn reading_threads<L: Lock + Lock<Shared>>(scale: &Scale, sizes: &[usize], inside: u32) -> Vec<Sample> {
    let figures = [rate(OF_THREADS), longest_wait(WAITS[0])];
    among_threads(scale, L::new, sizes, [inside, 200], Contest::reading_thread, &figures)
}

const ACROSS_YIELD: &str = "tasks, across a yield";
const ACROSS_YIELD_EVEN: &str = "tasks, across a yield: fewest / most";

fn semaphores() -> Workload {
    Workload {
        name: "semaphore-contended",
        about: "Two permits: N threads work 50 ns with one and 200 ns without; N tasks (tokio, two workers) acquire one, \
                let the executor go on, and release it.",
        contenders: contenders! {
            permits: WaitwordSemaphore, SaaSemaphore, AsyncLockSemaphore, TokioSemaphore;
            permits_of_tasks: FuturesIntrusiveSemaphore;
        },
        goals: [OF_THREADS, ACROSS_YIELD].map(|what| at_least(what, Limit::TimesBest(1.0))).into(),
    }
}

fn permits<S: Semaphore>(scale: &Scale) -> Vec<Sample>
where
    for<'a> S::Guard<'a>: Send,
{
    let figures = [rate(OF_THREADS), longest_wait(WAITS[0])];
    let two = || S::with_permits(2);
    let mut samples = among_threads(scale, two, &[4, 16], [50, 200], Contest::thread, &figures);
    samples.extend(permits_of_tasks::<S>(scale));
    samples
}

fn permits_of_tasks<S: Semaphore>(scale: &Scale) -> Vec<Sample>
where
    for<'a> S::Guard<'a>: Send,
{
    let figures = [rate(ACROSS_YIELD), evenness(ACROSS_YIELD_EVEN)];
    among_tasks(scale, S::with_permits(2), TWO_WORKERS, [0, 0], Contest::task_across_yield, &figures)
}
