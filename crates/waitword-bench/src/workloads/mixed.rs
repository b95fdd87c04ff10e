//! Threads and tasks that want one mutex, or to write; the tasks hold it across a yield or do not.

use std::future::Future;
use std::sync::Arc;

use crate::contest::{Contest, Outcome, Tally};
use crate::executor::Executor;
use crate::locks::Lock;
use crate::locks::peers::*;
use crate::series::{RATE, Sample, Unit, WAITS};
use crate::workload::{Bound, Goal, Limit, Scale, Sizes, Subject, Workload, at_least, contenders, goal};

const SHARES: [&str; 2] = ["share of the threads", "share of the tasks"];
const EVEN: &str = "tasks: fewest / most";

pub(super) fn workloads() -> [Workload; 4] {
    let fair = |what, share, at| Goal { what, bound: Bound::AtLeast, limit: Limit::Value(share), at };
    let waits = || WAITS.map(|what| goal(what, Limit::Value(5e6)));
    let goals = |rate, of_this: &[Goal]| [&[at_least(RATE, rate)], &waits()[..], of_this].concat();
    let seven_times = Limit::Times(7.0, AsyncLock::NAME);
    [
        Workload {
            name: "mutex-mixed",
            about: "N threads and N tasks (tokio, two workers) work 50 ns with one mutex and 200 ns without it, in \
                    turns. Threads poll locks for tasks and park; locks for threads (parking_lot, std, usync) \
                    block the tasks' worker.",
            contenders: contenders! {
                run([4, 16], 50): Waitword, AsyncLock, Saa, Tokio, Maitake, FuturesIntrusive, ParkingLot, Std, Usync;
            },
            goals: goals(
                seven_times,
                &[
                    fair(SHARES[0], 0.2, Sizes::All),
                    fair(SHARES[1], 0.2, Sizes::Only(4)),
                    fair(SHARES[1], 0.25, Sizes::Only(16)),
                    fair(EVEN, 0.5, Sizes::All),
                ],
            ),
        },
        Workload {
            name: "mutex-mixed-across-yield",
            about: "The same, but each task lets its executor go on while it has the mutex.",
            contenders: contenders! {
                run_across_yield: Waitword, AsyncLock, Saa, Tokio, Maitake, FuturesIntrusive;
            },
            goals: goals(seven_times, &[fair(EVEN, 0.2, Sizes::All)]),
        },
        Workload {
            name: "mutex-mixed-1000-200",
            about: "N threads and N tasks, as in mutex-mixed, work 1,000 ns with one mutex and 200 ns without it.",
            contenders: contenders! {
                run([1, 4], 1_000): Waitword, AsyncLock, Saa, Tokio, Maitake, FuturesIntrusive, ParkingLot, Std, Usync;
            },
            goals: goals(Limit::TimesBest(1.0), &[]),
        },
        Workload {
            name: "rw-lock-mixed-1000-200",
            about: "N threads and N tasks, as in mutex-mixed, write 1,000 ns with one read-write lock and work 200 ns \
                    without it.",
            contenders: contenders! {
                run([1, 4], 1_000): WaitwordRwLock, AsyncLockRwLock, Saa, TokioRwLock;
            },
            goals: vec![at_least(RATE, Limit::TimesBest(1.0))],
        },
    ]
}

fn run<L: Lock>(scale: &Scale, sizes: [usize; 2], inside: u32) -> Vec<Sample> {
    at_each_size::<L, _>(scale, sizes, inside, Contest::task)
}

fn run_across_yield<L: Lock>(scale: &Scale) -> Vec<Sample>
where
    for<'a> L::Guard<'a>: Send,
{
    at_each_size::<L, _>(scale, [4, 16], 50, Contest::task_across_yield)
}

fn at_each_size<L: Lock, F>(
    scale: &Scale,
    sizes: [usize; 2],
    inside: u32,
    turns: fn(Arc<Contest<L>>, usize) -> F,
) -> Vec<Sample>
where
    F: Future<Output = Tally> + Send + 'static,
{
    let camps = |n| {
        let contest = Arc::new(Contest::new(L::new(), [inside, 200]));
        samples(n, &contest.among_both(Executor::Tokio { workers: 2 }, [n, n], scale.contest(), turns))
    };
    sizes.into_iter().flat_map(camps).collect()
}

/// Of the threads and of the tasks.
fn samples(n: usize, camps: &[Outcome; 2]) -> Vec<Sample> {
    let per_second = camps.iter().map(Outcome::per_second).sum::<f64>();
    let all = camps.iter().map(Outcome::acquisitions).sum::<f64>();
    let waits = camps.iter().zip(WAITS).map(|(camp, what)| (what, Unit::Nanos, camp.longest_wait()));
    let share = |camp: &Outcome| camp.acquisitions() / all.max(1.0);
    let shares = camps.iter().zip(SHARES).map(|(camp, what)| (what, Unit::Ratio, share(camp)));
    let figures = [(RATE, Unit::PerSecond, per_second)].into_iter().chain(waits).chain(shares);
    let figures = figures.chain([(EVEN, Unit::Ratio, camps[1].evenness())]);
    figures.map(|(what, unit, value)| Sample::new(what, n, unit, value)).collect()
}
