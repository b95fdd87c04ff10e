//! Two threads hand a turn back and forth, on one CPU and on two.

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

const ONE_CPU: &str = "one CPU";
const TWO_CPUS: &str = "two CPUs";
const TWO_CPUS_COST: &str = "two CPUs, CPU time of one thread";
const SLOW: &str = "two CPUs, the partner works for 50 µs";
const SLOW_COST: &str = "two CPUs, the partner works for 50 µs: CPU time of the waiting thread";

const WORK: Duration = Duration::from_micros(50);

#[cfg(target_os = "linux")]
const BASELINE: &str = RawFutex::NAME;
#[cfg(not(target_os = "linux"))]
const BASELINE: &str = ParkingLotCore::NAME;

pub(super) fn workload() -> Workload {
    Workload {
        name: "blocking-round-trip",
        about: "Two threads take turns: there and back, in wall time. With two CPUs and a partner that works before it \
                answers, waiting by spinning shows in the CPU time of the one who waits.",
        baseline: BASELINE,
        contenders: vec![
            Contender { name: OURS, run: run::<Waitword> },
            #[cfg(target_os = "linux")]
            Contender { name: RawFutex::NAME, run: run::<RawFutex> },
            Contender { name: ParkingLotCore::NAME, run: run::<ParkingLotCore> },
            Contender { name: Events::NAME, run: run::<Events> },
        ],
        goals: vec![
            goal(ONE_CPU, Limit::Times(1.1, BASELINE)),
            goal(TWO_CPUS, Limit::AtMost(2_000.0)),
            goal(SLOW, Limit::Times(1.1, BASELINE)),
            goal(SLOW_COST, Limit::Times(1.1, BASELINE)),
        ],
        charted: false,
    }
}

fn run<T: Turns>(scale: &Scale) -> Vec<Sample> {
    let trips = scale.operations(50_000);
    let one = round_trips::<T>(trips, [0, 0], Duration::ZERO);
    let two = round_trips::<T>(trips / 5, [0, 1], Duration::ZERO);
    let slow = round_trips::<T>(trips / 10, [0, 1], WORK);
    let mut samples = Vec::new();
    let mut add = |what, time: Option<Duration>| {
        samples.extend(time.map(|time| Sample::new(what, 1, Unit::Nanos, time.as_nanos() as f64)));
    };
    add(ONE_CPU, one.map(|trip| trip.wall));
    add(TWO_CPUS, two.map(|trip| trip.wall));
    add(TWO_CPUS_COST, two.map(|trip| trip.cpu));
    add(SLOW, slow.map(|trip| trip.wall));
    add(SLOW_COST, slow.map(|trip| trip.cpu));
    samples
}

#[derive(Clone, Copy)]
struct Trip {
    wall: Duration,
    cpu: Duration,
}

/// The mean of `trips` round trips of two threads on the CPUs named; nothing if the system does not pin threads, or has
/// no such CPU.
fn round_trips<T: Turns>(trips: usize, cpus: [usize; 2], work: Duration) -> Option<Trip> {
    let turns = T::new();
    let start = Barrier::new(2);
    thread::scope(|scope| {
        let partner = scope.spawn(|| {
            let pinned = pin_to(cpus[1]);
            start.wait();
            for _ in 0..trips {
                turns.wait_while(0);
                spin(work);
                turns.set(0);
            }
            pinned
        });
        let measured = scope.spawn(|| {
            let pinned = pin_to(cpus[0]);
            start.wait();
            let (wall, cpu) = (Instant::now(), thread_cpu());
            for _ in 0..trips {
                turns.set(1);
                turns.wait_while(1);
            }
            let trips = trips as u32;
            pinned.then(|| Trip { wall: wall.elapsed() / trips, cpu: (thread_cpu() - cpu) / trips })
        });
        let trip = measured.join().expect("nothing in there panics");
        trip.filter(|_| partner.join().expect("nothing in there panics"))
    })
}

fn spin(work: Duration) {
    if work > Duration::ZERO {
        let start = Instant::now();
        while start.elapsed() < work {
            std::hint::spin_loop();
        }
    }
}
