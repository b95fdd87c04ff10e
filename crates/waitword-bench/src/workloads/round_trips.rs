//! Two threads pass a turn back and forth, on one CPU and on two, with partners that work for different times. Then two tasks, or a task and a
//! thread, on one CPU.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use crate::figures::{Sample, Unit};
use crate::locks::peers::{
    AsyncLockSemaphore, FuturesIntrusiveSemaphore, SaaSemaphore, TokioSemaphore, WaitwordSemaphore,
};
use crate::platform::{pin_to, thread_cpu};
use crate::queues::{EventListener, FuturesIntrusive, MaitakeQueue, TokioNotify};
use crate::turns::{BySemaphores, Flagged, Turns};
#[cfg(target_os = "linux")]
use crate::words::RawFutex;
use crate::words::{OnWord, ParkingLotCore, Waitword};
use crate::workload::{Scale, Subject, Workload, contenders, workloads};

/// The parties that take turns, and their CPUs.
struct Scene {
    /// The names of the wall time and of the CPU time in the tables.
    names: [&'static str; 2],
    /// The size in the tables: the microseconds for which the partner works before it answers, in scenes that compare them.
    n: usize,
    /// The CPUs of the two, if they are pinned.
    cpus: Option<[usize; 2]>,
    pairs: usize,
    /// The microseconds for which the partner works in the trip of this number.
    work: fn(u32) -> u64,
}

macro_rules! names {
    ($wall:literal) => {
        [$wall, concat!($wall, ", CPU time")]
    };
}

const ONE_CPU: Scene = Scene { names: names!("one CPU"), n: 1, cpus: Some([0, 0]), pairs: 1, work: |_| 0 };
const TWO_CPUS: Scene = Scene { names: names!("two CPUs"), cpus: Some([0, 1]), ..ONE_CPU };
const WORKING: Scene = Scene { names: names!("two CPUs, the partner works for N µs"), ..TWO_CPUS };

const SCENES: [Scene; 8] = [
    ONE_CPU,
    TWO_CPUS,
    Scene { n: 5, work: |_| 5, ..WORKING },
    Scene { n: 50, work: |_| 50, ..WORKING },
    Scene { n: 500, work: |_| 500, ..WORKING },
    Scene {
        names: names!("two CPUs, the partner works for 50 µs every other time"),
        work: |trip| if trip.is_multiple_of(2) { 50 } else { 0 },
        ..TWO_CPUS
    },
    Scene {
        names: names!("two CPUs, the partner works for 50 µs one time of ten"),
        work: |trip| if trip.is_multiple_of(10) { 50 } else { 0 },
        ..TWO_CPUS
    },
    Scene { names: names!("four pairs"), cpus: None, pairs: 4, ..TWO_CPUS },
];

/// The time for which a pair takes turns: enough for some hundred turns if each sleeps.
const MILLIS: usize = 300;

/// The number of trips between two readings of the clock, because a trip may take hardly longer than a reading.
const BETWEEN_CLOCKS: u32 = 16;

pub(super) fn workloads() -> Vec<Workload> {
    workloads! {
        "blocking-round-trip" => {
            threads: OnWord<Waitword>, #[cfg(target_os = "linux")] OnWord<RawFutex>, OnWord<ParkingLotCore>,
                Flagged<EventListener>;
        }
        // The threads wait for a permit, which uses the waits on a word.
        "semaphore-turns" => {
            threads: BySemaphores<WaitwordSemaphore>, #[cfg(target_os = "linux")] OnWord<RawFutex>,
                BySemaphores<SaaSemaphore>, BySemaphores<AsyncLockSemaphore>, BySemaphores<TokioSemaphore>;
        }
        "task-round-trip" => {
            of_any: OnWord<Waitword>, Flagged<TokioNotify>, Flagged<FuturesIntrusive>, Flagged<MaitakeQueue>,
                Flagged<EventListener>;
        }
        "semaphore-task-turns" => {
            of_any: BySemaphores<WaitwordSemaphore>, BySemaphores<SaaSemaphore>, BySemaphores<AsyncLockSemaphore>,
                BySemaphores<TokioSemaphore>, BySemaphores<FuturesIntrusiveSemaphore>;
        }
    }
}

fn threads<T: Turns>(scale: &Scale) -> Vec<Sample> {
    let time = Duration::from_millis(scale.operations(MILLIS) as u64);
    let figures = |scene| {
        let trip = round_trips::<T>(scene, time)?;
        Some(
            scene
                .names
                .into_iter()
                .zip(trip)
                .map(|(what, each)| Sample::new(what, scene.n, Unit::Nanos, each)),
        )
    };
    SCENES.iter().filter_map(figures).flatten().collect()
}

/// The mean of the round trips that each pair makes in `time`, in nanoseconds of wall time and of CPU time. `None` if the system does
/// not pin threads, or has no such CPU.
fn round_trips<T: Turns>(scene: &Scene, time: Duration) -> Option<[f64; 2]> {
    let pairs = (0..scene.pairs).map(|_| Pair { turns: T::new(), over: AtomicBool::new(false) });
    let pairs = pairs.collect::<Vec<_>>();
    let start = Barrier::new(2 * scene.pairs);
    let sum = thread::scope(|scope| {
        let threads = pairs.iter().flat_map(|pair| {
            let start = &start;
            let asking = scope.spawn(move || pair.ask(scene, start, time));
            let answering = scope.spawn(move || pair.answer(scene, start));
            [asking, answering]
        });
        let threads = threads.collect::<Vec<_>>();
        threads.into_iter().try_fold([Duration::ZERO; 2], |[wall, cpu], thread| {
            let trip = thread.join().expect("nothing in there panics")?;
            Some([wall + trip[0], cpu + trip[1]])
        })
    })?;
    Some(sum.map(|time| time.as_nanos() as f64 / scene.pairs as f64))
}

struct Pair<T> {
    turns: T,
    /// Set with the last turn, which is not answered.
    over: AtomicBool,
}

impl<T: Turns> Pair<T> {
    /// Passes the turn and waits for it, in a loop.
    fn ask(&self, scene: &Scene, start: &Barrier, time: Duration) -> Option<[Duration; 2]> {
        let pinned = pin(scene, 0);
        start.wait();
        let (wall, cpu, mut trips) = (Instant::now(), thread_cpu(), 0);
        // At least once, even if the time is over at the first reading of the clock.
        loop {
            for _ in 0..BETWEEN_CLOCKS {
                self.turns.set(1);
                self.turns.wait_while(1);
            }
            trips += BETWEEN_CLOCKS;
            if wall.elapsed() >= time {
                break;
            }
        }
        let trip = [wall.elapsed() / trips, (thread_cpu() - cpu) / trips];
        self.over.store(true, Ordering::SeqCst);
        self.turns.set(1);
        pinned.then_some(trip)
    }

    /// Passes the turn back. The other party measures the wall time.
    fn answer(&self, scene: &Scene, start: &Barrier) -> Option<[Duration; 2]> {
        let pinned = pin(scene, 1);
        start.wait();
        let (cpu, mut worked, mut trips) = (thread_cpu(), Duration::ZERO, 0);
        loop {
            self.turns.wait_while(0);
            if self.over.load(Ordering::SeqCst) {
                break;
            }
            worked += work(Duration::from_micros((scene.work)(trips)));
            self.turns.set(0);
            trips += 1;
        }
        let cpu = (thread_cpu() - cpu).saturating_sub(worked);
        pinned.then(|| [Duration::ZERO, cpu / trips])
    }
}

fn pin(scene: &Scene, party: usize) -> bool {
    scene.cpus.is_none_or(|cpus| pin_to(cpus[party]))
}

/// Keeps the CPU busy for about this long. Returns the CPU time that it took.
fn work(time: Duration) -> Duration {
    if time.is_zero() {
        return Duration::ZERO;
    }
    let (start, cpu) = (Instant::now(), thread_cpu());
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
    thread_cpu() - cpu
}

fn of_any<T: Turns>(scale: &Scale) -> Vec<Sample> {
    let tasks = on_first_cpu(|| tasks::<T>(scale.operations(500_000)));
    let mixed = on_first_cpu(|| thread_and_task::<T>(scale.operations(100_000), 0));
    // Fewer, because each may include a sleep.
    let on_two = on_first_cpu(|| thread_and_task::<T>(scale.operations(20_000), 1));
    let figures =
        [("task and task", Some(tasks)), ("thread and task", mixed), ("thread and task, two CPUs", on_two)];
    figures
        .into_iter()
        .flat_map(|(what, each)| each.map(|each| Sample::new(what, 1, Unit::Nanos, each)))
        .collect()
}

/// Runs `work`, and the threads that it starts, on the first CPU (or on any, if threads cannot be pinned).
fn on_first_cpu<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let pinned = || {
        pin_to(0);
        work()
    };
    thread::scope(|scope| scope.spawn(pinned).join().expect("nothing in there panics"))
}

fn tasks<T: Turns>(trips: usize) -> f64 {
    let turns = Arc::new(T::new());
    let runtime = runtime();
    let partner = runtime.spawn(answer(Arc::clone(&turns), trips));
    let caller = runtime.spawn(async move {
        let start = Instant::now();
        for _ in 0..trips {
            turns.set(1);
            turns.wait_while_async(1).await;
        }
        start.elapsed().as_nanos() as f64 / trips as f64
    });
    runtime.block_on(async {
        let nanos = caller.await.expect("nothing in there panics");
        partner.await.expect("nothing in there panics");
        nanos
    })
}

/// Runs the task on the CPU of this index. `None` if there is no such CPU beside the first, or if the system does not pin threads.
fn thread_and_task<T: Turns>(trips: usize, cpu: usize) -> Option<f64> {
    let turns = Arc::new(T::new());
    thread::scope(|scope| {
        let partner = Arc::clone(&turns);
        let task = scope.spawn(move || {
            let pinned = pin_to(cpu);
            runtime().block_on(answer(partner, trips));
            pinned || cpu == 0
        });
        let start = Instant::now();
        for _ in 0..trips {
            turns.set(1);
            turns.wait_while(1);
        }
        let each = start.elapsed().as_nanos() as f64 / trips as f64;
        task.join().expect("nothing in there panics").then_some(each)
    })
}

async fn answer<T: Turns>(turns: Arc<T>, trips: usize) {
    for _ in 0..trips {
        turns.wait_while_async(0).await;
        turns.set(0);
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime without drivers needs nothing from the system")
}
