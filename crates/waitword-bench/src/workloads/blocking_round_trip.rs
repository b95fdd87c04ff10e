//! Two threads hand a turn back and forth, on one CPU and on two, with partners of several tempers.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::{Contender, Limit, OURS, Workload, goal};
use crate::platform::{pin_to, thread_cpu};
use crate::runner::Scale;
use crate::series::{Sample, Unit};
#[cfg(target_os = "linux")]
use crate::turns::RawFutex;
use crate::turns::{Events, ParkingLotCore, Turns, Waitword};

/// Who takes turns, and where.
struct Scene {
    /// How the tables call the wall time, and the CPU time.
    wall: &'static str,
    cpu: &'static str,
    /// How many microseconds the partner works before it answers, if that is what the tables compare.
    n: usize,
    /// The CPUs of the two, if they are tied to one each.
    cpus: Option<[usize; 2]>,
    pairs: usize,
    trips: usize,
    /// How long the partner works in the trip of this number.
    work: fn(usize) -> u64,
}

const ONE_CPU: Scene = Scene {
    wall: "one CPU",
    cpu: "one CPU, CPU time",
    n: 1,
    cpus: Some([0, 0]),
    pairs: 1,
    trips: 50_000,
    work: |_| 0,
};

const TWO_CPUS: Scene =
    Scene { wall: "two CPUs", cpu: "two CPUs, CPU time", cpus: Some([0, 1]), trips: 10_000, ..ONE_CPU };

const WORKING: Scene = Scene {
    wall: "two CPUs, the partner works for N µs",
    cpu: "two CPUs, the partner works for N µs, CPU time",
    ..TWO_CPUS
};

const SCENES: [Scene; 8] = [
    ONE_CPU,
    TWO_CPUS,
    Scene { n: 5, trips: 4_000, work: |_| 5, ..WORKING },
    Scene { n: 50, trips: 4_000, work: |_| 50, ..WORKING },
    Scene { n: 500, trips: 500, work: |_| 500, ..WORKING },
    Scene {
        wall: "two CPUs, the partner works for 50 µs every other time",
        cpu: "two CPUs, the partner works for 50 µs every other time, CPU time",
        trips: 4_000,
        work: |trip| if trip.is_multiple_of(2) { 50 } else { 0 },
        ..TWO_CPUS
    },
    Scene {
        wall: "two CPUs, the partner works for 50 µs one time of ten",
        cpu: "two CPUs, the partner works for 50 µs one time of ten, CPU time",
        work: |trip| if trip.is_multiple_of(10) { 50 } else { 0 },
        ..TWO_CPUS
    },
    Scene { wall: "four pairs", cpu: "four pairs, CPU time", cpus: None, pairs: 4, trips: 4_000, ..TWO_CPUS },
];

#[cfg(target_os = "linux")]
const BASELINE: &str = RawFutex::NAME;
#[cfg(not(target_os = "linux"))]
const BASELINE: &str = ParkingLotCore::NAME;

pub(super) fn workload() -> Workload {
    let mut goals = vec![goal(TWO_CPUS.wall, Limit::AtMost(2_000.0))];
    for scene in &SCENES {
        for what in [scene.wall, scene.cpu] {
            if !goals.iter().any(|goal| goal.what == what) {
                goals.push(goal(what, Limit::Times(1.1, BASELINE)));
            }
        }
    }
    Workload {
        name: "blocking-round-trip",
        about: "Two threads take turns: there and back, in wall time, and in CPU time of both, less what the partner \
                works before it answers. Who waits by spinning saves wall time and may waste CPU time.",
        baseline: BASELINE,
        contenders: vec![
            Contender { name: OURS, run: run::<Waitword> },
            #[cfg(target_os = "linux")]
            Contender { name: RawFutex::NAME, run: run::<RawFutex> },
            Contender { name: ParkingLotCore::NAME, run: run::<ParkingLotCore> },
            Contender { name: Events::NAME, run: run::<Events> },
        ],
        goals,
        charted: false,
    }
}

fn run<T: Turns>(scale: &Scale) -> Vec<Sample> {
    let mut samples = Vec::new();
    for scene in &SCENES {
        let Some(Trip { wall, cpu }) = round_trips::<T>(scene, scale.operations(scene.trips)) else {
            continue;
        };
        for (what, time) in [(scene.wall, wall), (scene.cpu, cpu)] {
            samples.push(Sample::new(what, scene.n, Unit::Nanos, time.as_nanos() as f64));
        }
    }
    samples
}

#[derive(Clone, Copy, Default)]
struct Trip {
    wall: Duration,
    cpu: Duration,
}

/// The mean of `trips` round trips of each pair; nothing if the system does not pin threads, or has no such CPU.
fn round_trips<T: Turns>(scene: &Scene, trips: usize) -> Option<Trip> {
    let turns = (0..scene.pairs).map(|_| T::new()).collect::<Vec<_>>();
    let start = Barrier::new(2 * scene.pairs);
    let sum = thread::scope(|scope| {
        let threads = turns.iter().flat_map(|turns| {
            let start = &start;
            let partner = scope.spawn(move || answer(turns, scene, trips, start));
            let measured = scope.spawn(move || ask(turns, scene, trips, start));
            [measured, partner]
        });
        let threads = threads.collect::<Vec<_>>();
        threads.into_iter().try_fold(Trip::default(), |sum, thread| {
            let trip = thread.join().expect("nothing in there panics")?;
            Some(Trip { wall: sum.wall + trip.wall, cpu: sum.cpu + trip.cpu })
        })
    })?;
    let trips = (scene.pairs * trips) as u32;
    Some(Trip { wall: sum.wall / trips, cpu: sum.cpu / trips })
}

/// All trips of one who hands the turn over and waits for it.
fn ask<T: Turns>(turns: &T, scene: &Scene, trips: usize, start: &Barrier) -> Option<Trip> {
    let pinned = pin(scene, 0);
    start.wait();
    let (wall, cpu) = (Instant::now(), thread_cpu());
    for _ in 0..trips {
        turns.set(1);
        turns.wait_while(1);
    }
    pinned.then(|| Trip { wall: wall.elapsed(), cpu: thread_cpu() - cpu })
}

/// All trips of the partner. Its wall time is the same.
fn answer<T: Turns>(turns: &T, scene: &Scene, trips: usize, start: &Barrier) -> Option<Trip> {
    let pinned = pin(scene, 1);
    start.wait();
    let (cpu, mut worked) = (thread_cpu(), Duration::ZERO);
    for trip in 0..trips {
        turns.wait_while(0);
        worked += work(Duration::from_micros((scene.work)(trip)));
        turns.set(0);
    }
    pinned.then(|| Trip { wall: Duration::ZERO, cpu: (thread_cpu() - cpu).saturating_sub(worked) })
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
