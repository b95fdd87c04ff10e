//! Threads and tasks that want one mutex.

use std::sync::Arc;

use crate::contest::{Contest, Outcome};
use crate::executor::Executor;
use crate::locks::{
    AsyncLock, AsyncMutex, Asyncband, BlockingMutex, FuturesIntrusive, FuturesUtil, Maitake, Mutex, OnThread,
    OnWorker, ParkingLot, Saa, Std, Tokio, Usync, Waitword,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::work::Work;
use crate::workload::{Bound, Charts, Goal, Limit, Page, Sizes, Workload, at_least, contenders, goal};

const RATE: &str = "acquisitions";
const WAITS: [&str; 2] = ["longest wait of a thread", "longest wait of a task"];
const SHARES: [&str; 2] = ["share of the threads", "share of the tasks"];

/// All contenders, measured by one function.
macro_rules! measured_by {
    ($run:ident) => {
        contenders! {
            $run: Waitword, AsyncLock, Saa, Tokio, OnThread<Asyncband>, OnThread<Maitake>,
                OnThread<FuturesUtil>, OnThread<FuturesIntrusive>, OnWorker<ParkingLot>, OnWorker<Std>,
                OnWorker<Usync>;
        }
    };
}

pub(crate) fn workloads() -> [Workload; 2] {
    [short(), long()]
}

/// Critical sections that are five times as long as what is between them.
fn long() -> Workload {
    let mut goals = vec![at_least(RATE, Limit::TimesBest(1.0))];
    goals.extend(WAITS.map(|what| goal(what, Limit::Value(5e6))));
    Workload {
        name: "mutex-mixed-1000-200",
        about: "N threads and N tasks, as in mutex-mixed, work 1,000 ns with one mutex and 200 ns without it.",
        contenders: measured_by!(long_sections),
        goals,
        charts: Charts::None,
        ..short()
    }
}

fn short() -> Workload {
    let mut goals = vec![at_least(RATE, Limit::Times(7.0, AsyncLock::NAME))];
    goals.extend(WAITS.map(|what| goal(what, Limit::Value(5e6))));
    // At 16 + 16 the system gives the threads most of the CPU.
    for (n, share) in [(4, 0.2), (16, 0.05)] {
        let fair =
            |what| Goal { what, bound: Bound::AtLeast, limit: Limit::Value(share), at: Sizes::Only(n) };
        goals.extend(SHARES.map(fair));
    }
    Workload {
        name: "mutex-mixed",
        about: "N threads and N tasks (tokio, two workers) work 50 ns with one mutex and 200 ns without it, in \
                turns. Threads poll locks for tasks and park; locks for threads (parking_lot, std, usync) \
                block the tasks' worker.",
        baseline: AsyncLock::NAME,
        contenders: measured_by!(short_sections),
        goals,
        page: Page::Locks,
        charts: Charts::RateAgainstWait { rate: RATE, waits: &WAITS },
    }
}

fn short_sections<M: BlockingMutex + AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    [4, 16].into_iter().flat_map(|n| camps::<M>(scale, n, 50)).collect()
}

fn long_sections<M: BlockingMutex + AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    [1, 4].into_iter().flat_map(|n| camps::<M>(scale, n, 1_000)).collect()
}

fn camps<M: BlockingMutex + AsyncMutex>(scale: &Scale, n: usize, inside: u32) -> Vec<Sample> {
    let contest = Arc::new(Contest::<M>::new(Work::nanos(inside), Work::nanos(200)));
    let camps = contest.among_both(Executor::Tokio { workers: 2 }, n, scale.contest());
    let all = camps.iter().map(Outcome::acquisitions).sum::<f64>();
    let mut samples =
        vec![Sample::new(RATE, n, Unit::PerSecond, camps.iter().map(Outcome::per_second).sum::<f64>())];
    for (camp, what) in camps.iter().zip(WAITS) {
        samples.push(Sample::new(what, n, Unit::Nanos, camp.longest_wait()));
    }
    for (camp, what) in camps.iter().zip(SHARES) {
        samples.push(Sample::new(what, n, Unit::Ratio, camp.acquisitions() / all.max(1.0)));
    }
    samples
}
