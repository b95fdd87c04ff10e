//! Threads, tasks, or both contend for one lock. Tasks hold it across a yield, or not.

use std::future::Future;
use std::sync::Arc;

use crate::contest::{Contest, Outcome, Tally};
use crate::executor::Executor;
use crate::figures::{Sample, Unit};
use crate::locks::peers::*;
use crate::locks::{Lock, Semaphore, Shared};
use crate::workload::{Scale, Subject, Workload, contenders, workloads};

/// The contenders, the work of their turns, and the figures.
struct Scene {
    /// The numbers of threads, if there are threads, and of tasks, if there are tasks.
    sizes: &'static [usize],
    threads: bool,
    tasks: Option<Executor>,
    /// Nanoseconds of work inside the lock, and outside of it.
    nanos: [u32; 2],
    figures: &'static [Figure],
}

/// A figure's name, its unit, and its value for the outcomes of the threads and the tasks.
type Figure = (&'static str, Unit, fn(&[Outcome; 2]) -> f64);

/// Indices into the outcomes.
const THREADS: usize = 0;
const TASKS: usize = 1;

/// The report draws a picture of a workload with these three figures.
const ACQUISITIONS: Figure = rate("acquisitions");
const THREADS_WAIT: Figure = longest_wait::<THREADS>("longest wait of a thread");
const TASKS_WAIT: Figure = longest_wait::<TASKS>("longest wait of a task");

const fn rate(what: &'static str) -> Figure {
    (what, Unit::PerSecond, |camps| camps.iter().map(Outcome::per_second).sum())
}

const fn longest_wait<const CAMP: usize>(what: &'static str) -> Figure {
    (what, Unit::Nanos, |camps| camps[CAMP].longest_wait())
}

const fn evenness<const CAMP: usize>(what: &'static str) -> Figure {
    (what, Unit::Ratio, |camps| camps[CAMP].evenness())
}

const fn share<const CAMP: usize>(what: &'static str) -> Figure {
    let of = |camps: &[Outcome; 2]| {
        let all = camps.iter().map(Outcome::acquisitions).sum::<f64>();
        camps[CAMP].acquisitions() / all.max(1.0)
    };
    (what, Unit::Ratio, of)
}

const OF_THREADS: Scene = Scene {
    sizes: &[2, 4, 8, 16],
    threads: true,
    tasks: None,
    nanos: [50, 200],
    figures: &[
        ACQUISITIONS,
        longest_wait::<THREADS>("longest wait"),
        ("wait that one of a hundred exceeds", Unit::Nanos, |[threads, _]| threads.p99_wait()),
        evenness::<THREADS>("fewest / most acquisitions of a thread"),
    ],
};

const TWO_WORKERS: Option<Executor> = Some(Executor::Tokio { workers: 2 });

const OF_BOTH: Scene = Scene {
    sizes: &[4, 16],
    tasks: TWO_WORKERS,
    figures: &[
        ACQUISITIONS,
        THREADS_WAIT,
        TASKS_WAIT,
        share::<THREADS>("share of the threads"),
        share::<TASKS>("share of the tasks"),
        evenness::<TASKS>("tasks: fewest / most"),
    ],
    ..OF_THREADS
};

const LONG_OF_BOTH: Scene = Scene { sizes: &[1, 4], nanos: [1_000, 200], ..OF_BOTH };

macro_rules! of_tasks {
    ($executor:expr, $name:literal) => {
        Scene {
            sizes: &[100],
            threads: false,
            tasks: $executor,
            nanos: [0, 0],
            figures: &[rate($name), evenness::<TASKS>(concat!($name, ": fewest / most"))],
        }
    };
}

const ON_EACH_EXECUTOR: &[Scene] = &[
    of_tasks!(Some(Executor::Tokio { workers: 1 }), "tokio, one worker"),
    of_tasks!(TWO_WORKERS, "tokio, two workers"),
    of_tasks!(Some(Executor::AsyncExecutor), "async-executor"),
];

const READING: Scene = Scene { sizes: &[2, 16], figures: &[rate("threads"), THREADS_WAIT], ..OF_THREADS };
const LONG_READING: Scene = Scene { sizes: &[2, 4, 8], nanos: [1_000, 200], ..READING };
const READING_TASKS: Scene =
    Scene { nanos: [50, 200], figures: &[rate("tasks"), TASKS_WAIT], ..of_tasks!(TWO_WORKERS, "") };

const PERMITS: Scene = Scene { sizes: &[4, 16], ..READING };
const PERMITS_OF_TASKS: Scene = of_tasks!(TWO_WORKERS, "tasks, across a yield");

pub(super) fn workloads() -> Vec<Workload> {
    let mutex_of_threads = |name, nanos| Workload {
        name,
        contenders: contenders! {
            plain(&[Scene { nanos, ..OF_THREADS }]): Waitword, ParkingLot, Std, Usync, Saa, AsyncLock, Tokio;
        },
    };
    let mut all = vec![
        mutex_of_threads("mutex-threads-0-0", [0, 0]),
        mutex_of_threads("mutex-threads-50-200", [50, 200]),
        mutex_of_threads("mutex-threads-0-200", [0, 200]),
        mutex_of_threads("mutex-threads-1000-0", [1_000, 0]),
        mutex_of_threads("mutex-threads-1000-200", [1_000, 200]),
    ];
    all.extend(workloads! {
        "mutex-tasks-across-yield" => {
            across_yield(ON_EACH_EXECUTOR): Waitword, Saa, AsyncLock, Tokio, Maitake, FuturesIntrusive;
        }
        "mutex-tasks" => {
            plain(ON_EACH_EXECUTOR): Waitword, Saa, AsyncLock, Tokio, Maitake, FuturesIntrusive;
        }
        "rw-lock-99-reads" => {
            reading(&[READING, READING_TASKS]): WaitwordRwLock;
            reading(&[READING]): StdRwLock, ParkingLotRwLock, UsyncRwLock;
            reading(&[READING, READING_TASKS]): Saa, AsyncLockRwLock, TokioRwLock;
        }
        "rw-lock-long-reads" => {
            reading(&[LONG_READING]): WaitwordRwLock, StdRwLock, ParkingLotRwLock, UsyncRwLock, Saa, AsyncLockRwLock,
                TokioRwLock;
        }
        "semaphore-contended" => {
            two_permits(&[PERMITS, PERMITS_OF_TASKS]): WaitwordSemaphore, SaaSemaphore, AsyncLockSemaphore, TokioSemaphore;
            two_permits(&[PERMITS_OF_TASKS]): FuturesIntrusiveSemaphore;
        }
        "mutex-mixed" => {
            plain(&[OF_BOTH]): Waitword, AsyncLock, Saa, Tokio, Maitake, FuturesIntrusive, ParkingLot, Std, Usync;
        }
        "mutex-mixed-across-yield" => {
            across_yield(&[OF_BOTH]): Waitword, AsyncLock, Saa, Tokio, Maitake, FuturesIntrusive;
        }
        "mutex-mixed-1000-200" => {
            plain(&[LONG_OF_BOTH]): Waitword, AsyncLock, Saa, Tokio, Maitake, FuturesIntrusive, ParkingLot, Std, Usync;
        }
        "rw-lock-mixed-1000-200" => {
            plain(&[LONG_OF_BOTH]): WaitwordRwLock, AsyncLockRwLock, Saa, TokioRwLock;
        }
    });
    all
}

fn plain<L: Lock>(scale: &Scale, scenes: &[Scene]) -> Vec<Sample> {
    play(scale, scenes, L::new, Contest::thread, Contest::task)
}

fn across_yield<L: Lock>(scale: &Scale, scenes: &[Scene]) -> Vec<Sample>
where
    for<'a> L::Guard<'a>: Send,
{
    play(scale, scenes, L::new, Contest::thread, Contest::task_across_yield)
}

/// Of a hundred turns, 99 read and one writes.
fn reading<L: Lock + Lock<Shared>>(scale: &Scale, scenes: &[Scene]) -> Vec<Sample> {
    play(scale, scenes, L::new, Contest::reading_thread, Contest::reading_task)
}

fn two_permits<S: Semaphore>(scale: &Scale, scenes: &[Scene]) -> Vec<Sample>
where
    for<'a> S::Guard<'a>: Send,
{
    play(scale, scenes, || S::with_permits(2), Contest::thread, Contest::task_across_yield)
}

/// Runs a scene at each size, each time with a new lock, with the loops of its threads and of its tasks.
fn play<L: Send + Sync + 'static, F>(
    scale: &Scale,
    scenes: &[Scene],
    lock: fn() -> L,
    thread_turns: fn(&Contest<L>, usize) -> Tally,
    task_turns: fn(Arc<Contest<L>>, usize) -> F,
) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    let at_size = |scene: &Scene, n| {
        let contest = Arc::new(Contest::new(lock(), scene.nanos));
        let (threads, tasks) = (if scene.threads { n } else { 0 }, scene.tasks.map(|executor| (executor, n)));
        let camps = contest.run(threads, tasks, scale.contest, thread_turns, task_turns);
        let sample = move |&(what, unit, figure): &Figure| Sample::new(what, n, unit, figure(&camps));
        scene.figures.iter().map(sample).collect::<Vec<_>>()
    };
    scenes.iter().flat_map(|scene| scene.sizes.iter().flat_map(move |&n| at_size(scene, n))).collect()
}
