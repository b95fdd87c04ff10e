//! Two tasks, or a task and a thread, hand a turn back and forth on one CPU.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::platform::pin_to;
use crate::queues::{FuturesIntrusive, MaitakeQueue, TokioNotify};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::turns::{AsyncTurns, Events, Flagged, Turns, Waitword, WakerSlot};
use crate::workload::{Charts, Contender, Limit, OURS, Page, Workload, goal};

const TASKS: &str = "task and task";
const MIXED: &str = "thread and task";

pub(super) fn workload() -> Workload {
    let limit = WakerSlot::NAME;
    Workload {
        name: "task-round-trip",
        about: "Two tasks of one tokio runtime take turns; then a blocked thread and a task do, on one CPU. \
                There and back, in wall time.",
        baseline: limit,
        contenders: vec![
            Contender { name: limit, run: run::<WakerSlot> },
            Contender { name: OURS, run: run::<Waitword> },
            Contender { name: <Flagged<TokioNotify>>::NAME, run: run::<Flagged<TokioNotify>> },
            Contender { name: <Flagged<FuturesIntrusive>>::NAME, run: run::<Flagged<FuturesIntrusive>> },
            Contender { name: <Flagged<MaitakeQueue>>::NAME, run: run::<Flagged<MaitakeQueue>> },
            Contender { name: Events::NAME, run: run::<Events> },
        ],
        goals: vec![goal(TASKS, Limit::Times(1.1, limit)), goal(MIXED, Limit::Times(1.1, limit))],
        page: Page::Queue,
        charts: Charts::None,
    }
}

fn run<T: AsyncTurns>(scale: &Scale) -> Vec<Sample> {
    let tasks = on_one_cpu(|| tasks::<T>(scale.operations(500_000)));
    let mixed = on_one_cpu(|| thread_and_task::<T>(scale.operations(100_000)));
    vec![Sample::new(TASKS, 1, Unit::Nanos, tasks), Sample::new(MIXED, 1, Unit::Nanos, mixed)]
}

/// Runs `work`, and the threads it starts, on the first CPU (or, where threads cannot be pinned, anywhere).
fn on_one_cpu(work: impl FnOnce() -> f64 + Send) -> f64 {
    let pinned = || {
        pin_to(0);
        work()
    };
    thread::scope(|scope| scope.spawn(pinned).join().expect("nothing in there panics"))
}

fn tasks<T: AsyncTurns>(trips: usize) -> f64 {
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

fn thread_and_task<T: AsyncTurns>(trips: usize) -> f64 {
    let turns = Arc::new(T::new());
    thread::scope(|scope| {
        let partner = Arc::clone(&turns);
        scope.spawn(move || runtime().block_on(answer(partner, trips)));
        let start = Instant::now();
        for _ in 0..trips {
            turns.set(1);
            turns.wait_while(1);
        }
        start.elapsed().as_nanos() as f64 / trips as f64
    })
}

async fn answer<T: AsyncTurns>(turns: Arc<T>, trips: usize) {
    for _ in 0..trips {
        turns.wait_while_async(0).await;
        turns.set(0);
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime without drivers needs nothing from the system")
}
