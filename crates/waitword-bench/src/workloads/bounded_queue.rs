//! Producers and consumers of a queue with room for 64 or for one: one condition is that there is something, the other that
//! there is room.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::executor::Executor;
use crate::locks::monitor::{
    AsyncLockMonitor, AsyncMonitor, Condition, Monitor, ParkingLotMonitor, State, StdMonitor, TokioMonitor,
    UsyncMonitor, WaitwordMonitor,
};
use crate::series::{Sample, Unit};
use crate::workload::{Limit, Scale, Workload, at_least, contenders};

const EXECUTOR: Executor = Executor::Tokio { workers: 2 };

const THREAD_TO_THREAD: &str = "thread to thread";
const THREAD_TO_TASK: &str = "thread to task";
const TASK_TO_TASK: &str = "task to task";

pub(super) fn workloads() -> [Workload; 2] {
    [roomy(), tight()]
}

/// Each item needs a producer and a consumer in turns.
fn tight() -> Workload {
    Workload {
        name: "condvar-queue-of-one",
        about: "N producing threads and N consuming ones of a queue with room for one item, as in condvar-queue.",
        contenders: contenders! {
            through_one: WaitwordMonitor, StdMonitor, ParkingLotMonitor, UsyncMonitor, AsyncLockMonitor, TokioMonitor;
        },
        goals: vec![at_least(THREAD_TO_THREAD, Limit::TimesBest(1.0))],
    }
}

fn roomy() -> Workload {
    Workload {
        name: "condvar-queue",
        about: "N producers and N consumers of a queue with room for 64 items, under one mutex with two \
                condition variables: items per second. Tasks run on tokio with two workers; threads poll what \
                is for tasks only.",
        contenders: contenders! {
            both: WaitwordMonitor;
            threads: StdMonitor, ParkingLotMonitor, UsyncMonitor;
            both: AsyncLockMonitor, TokioMonitor;
        },
        goals: [THREAD_TO_THREAD, THREAD_TO_TASK, TASK_TO_TASK]
            .map(|what| at_least(what, Limit::TimesBest(1.0)))
            .into(),
    }
}

/// Producers and consumers of each kind.
const PAIRS: [usize; 3] = [1, 2, 4];

fn threads<M: Monitor>(scale: &Scale) -> Vec<Sample> {
    PAIRS.map(|n| through::<M, 64>(scale, n)).into()
}

fn through_one<M: Monitor>(scale: &Scale) -> Vec<Sample> {
    PAIRS.map(|n| through::<M, 1>(scale, n)).into()
}

fn through<M: Monitor, const ROOM: usize>(scale: &Scale, n: usize) -> Sample {
    let queue = Queue::<M, ROOM>::default();
    let rate = queue.among_threads(&[Role::Produce, Role::Consume], n, scale.contest());
    Sample::new(THREAD_TO_THREAD, n, Unit::PerSecond, rate)
}

fn both<M: AsyncMonitor>(scale: &Scale) -> Vec<Sample>
where
    for<'a> M::Guard<'a>: Send,
{
    let scenes: [(_, &[Role], &[Role]); 2] = [
        (THREAD_TO_TASK, &[Role::Produce], &[Role::Consume]),
        (TASK_TO_TASK, &[], &[Role::Produce, Role::Consume]),
    ];
    let mut samples = threads::<M>(scale);
    for (what, threads, tasks) in scenes {
        samples.extend(PAIRS.map(|n| {
            let queue = Arc::new(Queue::<M, 64>::default());
            let rate = queue.among_both(threads, tasks, n, scale.contest());
            Sample::new(what, n, Unit::PerSecond, rate)
        }));
    }
    samples
}

#[derive(Default)]
struct Queue<M, const ROOM: usize>(M);

#[derive(Clone, Copy, Debug)]
enum Role {
    Produce,
    Consume,
}

impl Role {
    /// What it has to wait for.
    fn needs(self) -> Condition {
        match self {
            Self::Produce => Condition::Room,
            Self::Consume => Condition::Something,
        }
    }

    fn has_to_wait(self, state: &State, room: usize) -> bool {
        !state.closed
            && match self {
                Self::Produce => state.items.len() == room,
                Self::Consume => state.items.is_empty(),
            }
    }

    /// Puts an item or takes one. Returns whom that may help.
    fn act(self, state: &mut State) -> Condition {
        match self {
            Self::Produce => {
                let item = state.taken;
                state.items.push_back(item);
                Condition::Something
            }
            Self::Consume => {
                state.items.pop_front().expect("there was something, and the mutex is still locked");
                state.taken += 1;
                Condition::Room
            }
        }
    }
}

impl<M: Monitor, const ROOM: usize> Queue<M, ROOM> {
    /// `n` threads in each role, for that long. Returns how many items were taken per second.
    fn among_threads(&self, roles: &[Role], n: usize, time: Duration) -> f64 {
        thread::scope(|scope| {
            for &role in roles.iter().flat_map(|role| std::iter::repeat_n(role, n)) {
                scope.spawn(move || self.thread(role));
            }
            let start = Instant::now();
            thread::sleep(time);
            let mut state = self.0.lock();
            state.closed = true;
            let rate = state.taken as f64 / start.elapsed().as_secs_f64();
            drop(state);
            self.0.notify_all(Condition::Something);
            self.0.notify_all(Condition::Room);
            rate
        })
    }

    fn thread(&self, role: Role) {
        loop {
            let mut state = self.0.lock();
            while role.has_to_wait(&state, ROOM) {
                state = self.0.wait(role.needs(), state);
            }
            if state.closed {
                return;
            }
            let helps = role.act(&mut state);
            drop(state);
            self.0.notify_one(helps);
        }
    }
}

impl<M: AsyncMonitor, const ROOM: usize> Queue<M, ROOM>
where
    for<'a> M::Guard<'a>: Send,
{
    /// As [`among_threads`](Self::among_threads), with `n` tasks in each of their roles too.
    fn among_both(self: &Arc<Self>, threads: &[Role], tasks: &[Role], n: usize, time: Duration) -> f64 {
        let tasks = tasks.iter().flat_map(|role| std::iter::repeat_n(role, n));
        let tasks = tasks.map(|&role| Arc::clone(self).task(role));
        EXECUTOR.run(tasks, || self.among_threads(threads, n, time)).1
    }

    async fn task(self: Arc<Self>, role: Role) {
        loop {
            let mut state = self.0.lock_async().await;
            while role.has_to_wait(&state, ROOM) {
                state = self.0.wait_async(role.needs(), state).await;
            }
            if state.closed {
                return;
            }
            let helps = role.act(&mut state);
            drop(state);
            self.0.notify_one(helps);
        }
    }
}
