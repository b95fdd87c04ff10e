//! Threads that want one mutex.

use crate::contest::Contest;
use crate::locks::{AsyncLock, BlockingMutex, Mutex, ParkingLot, Saa, Std, Tokio, Usync, Waitword};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::work::Work;
use crate::workload::{Charts, Contender, Goal, Limit, OURS, Page, Sizes, Workload, at_least, goal};

const RATE: &str = "acquisitions";
const WAIT: &str = "longest wait";
const P99: &str = "wait that one of a hundred exceeds";
const EVEN: &str = "fewest / most acquisitions of a thread";

pub(crate) fn workloads() -> Vec<Workload> {
    const BOUNDED: Goal = goal(WAIT, Limit::Value(5e6));
    vec![
        Workload {
            name: "mutex-threads-0-0",
            about: "N threads lock and unlock one mutex, and do nothing else.",
            goals: vec![at_least(RATE, Limit::Times(0.7, ParkingLot::NAME)), BOUNDED],
            ..workload::<0, 0>()
        },
        Workload {
            name: "mutex-threads-50-200",
            about: "N threads work 50 ns with the mutex and 200 ns without it, in turns.",
            goals: vec![at_least(RATE, Limit::TimesBest(0.95)), BOUNDED],
            ..workload::<50, 200>()
        },
        Workload {
            name: "mutex-threads-0-200",
            about: "N threads lock and unlock one mutex, and work 200 ns without it, in turns.",
            goals: vec![at_least(RATE, Limit::TimesBest(0.95)), BOUNDED],
            ..workload::<0, 200>()
        },
        Workload {
            name: "mutex-threads-1000-200",
            about: "N threads work 1,000 ns with the mutex and 200 ns without it, in turns.",
            goals: vec![
                at_least(RATE, Limit::TimesBest(0.95)),
                at_least(EVEN, Limit::Value(0.5)),
                BOUNDED,
                Goal { at: Sizes::Only(2), ..goal(P99, Limit::Value(5e3)) },
            ],
            ..workload::<1000, 200>()
        },
    ]
}

fn workload<const INSIDE: u32, const OUTSIDE: u32>() -> Workload {
    Workload {
        name: "",
        about: "",
        baseline: ParkingLot::NAME,
        contenders: vec![
            Contender { name: OURS, run: run::<Waitword, INSIDE, OUTSIDE> },
            Contender { name: ParkingLot::NAME, run: run::<ParkingLot, INSIDE, OUTSIDE> },
            Contender { name: Std::NAME, run: run::<Std, INSIDE, OUTSIDE> },
            Contender { name: Usync::NAME, run: run::<Usync, INSIDE, OUTSIDE> },
            Contender { name: Saa::NAME, run: run::<Saa, INSIDE, OUTSIDE> },
            Contender { name: AsyncLock::NAME, run: run::<AsyncLock, INSIDE, OUTSIDE> },
            Contender { name: Tokio::NAME, run: run::<Tokio, INSIDE, OUTSIDE> },
        ],
        goals: Vec::new(),
        page: Page::Locks,
        charts: Charts::RateAgainstN { rate: RATE },
    }
}

fn run<M: BlockingMutex, const INSIDE: u32, const OUTSIDE: u32>(scale: &Scale) -> Vec<Sample> {
    let of_threads = |n| {
        let contest = Contest::<M>::new(Work::nanos(INSIDE), Work::nanos(OUTSIDE));
        let outcome = contest.among_threads(n, scale.contest(), |contest, _| contest.thread());
        [
            Sample::new(RATE, n, Unit::PerSecond, outcome.per_second()),
            Sample::new(WAIT, n, Unit::Nanos, outcome.longest_wait()),
            Sample::new(P99, n, Unit::Nanos, outcome.p99_wait()),
            Sample::new(EVEN, n, Unit::Ratio, outcome.evenness()),
        ]
    };
    [2, 4, 8, 16].into_iter().flat_map(of_threads).collect()
}
