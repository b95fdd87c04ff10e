//! Producers and consumers of a queue with a capacity of 64 or 1. One condition is that there is an item, the other that
//! there is capacity.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::executor::Executor;
use crate::figures::{Sample, Unit};
use crate::locks::monitor::{
    AsyncLockMonitor, Condition, Monitor, ParkingLotMonitor, State, StdMonitor, TokioMonitor, UsyncMonitor,
    WaitwordMonitor,
};
use crate::workload::{Scale, Workload, contenders, workloads};

const EXECUTOR: Executor = Executor::Tokio { workers: 2 };

pub(super) fn workloads() -> Vec<Workload> {
    workloads! {
        "condvar-queue" => {
            both: WaitwordMonitor;
            threads(64): StdMonitor, ParkingLotMonitor, UsyncMonitor;
            both: AsyncLockMonitor, TokioMonitor;
        }
        "condvar-queue-of-one" => {
            threads(1): WaitwordMonitor, StdMonitor, ParkingLotMonitor, UsyncMonitor, AsyncLockMonitor, TokioMonitor;
        }
    }
}

/// Producers and consumers of each kind.
const PAIRS: [usize; 3] = [1, 2, 4];

fn threads<M: Monitor>(scale: &Scale, room: usize) -> Vec<Sample> {
    let through = |n| {
        let queue = Queue { monitor: M::default(), room };
        let rate = queue.among_threads(&[PRODUCER, CONSUMER], n, scale.contest);
        Sample::new("thread to thread", n, Unit::PerSecond, rate)
    };
    PAIRS.map(through).into()
}

fn both<M: Monitor>(scale: &Scale) -> Vec<Sample>
where
    for<'a> M::Guard<'a>: Send,
{
    let scenes: [(_, &[Condition], &[Condition]); 2] =
        [("thread to task", &[PRODUCER], &[CONSUMER]), ("task to task", &[], &[PRODUCER, CONSUMER])];
    let mut samples = threads::<M>(scale, 64);
    for (what, threads, tasks) in scenes {
        samples.extend(PAIRS.map(|n| {
            let queue = Arc::new(Queue { monitor: M::default(), room: 64 });
            let rate = queue.among_both(threads, tasks, n, scale.contest);
            Sample::new(what, n, Unit::PerSecond, rate)
        }));
    }
    samples
}

struct Queue<M> {
    monitor: M,
    room: usize,
}

/// A role is identified by the condition that it waits for.
const PRODUCER: Condition = Condition::Room;
const CONSUMER: Condition = Condition::Something;

impl Condition {
    fn is_met(self, state: &State, room: usize) -> bool {
        match self {
            PRODUCER => state.items.len() < room,
            CONSUMER => !state.items.is_empty(),
        }
    }

    /// Puts an item or takes one. Returns the condition that this may have made true.
    fn act(self, state: &mut State) -> Self {
        match self {
            PRODUCER => {
                let item = state.taken;
                state.items.push_back(item);
                CONSUMER
            }
            CONSUMER => {
                state.items.pop_front().expect("there was something, and the mutex is still locked");
                state.taken += 1;
                PRODUCER
            }
        }
    }
}

impl<M: Monitor> Queue<M> {
    /// Runs `n` threads in each role for this time. Returns the number of items taken per second.
    fn among_threads(&self, roles: &[Condition], n: usize, time: Duration) -> f64 {
        thread::scope(|scope| {
            for &role in roles.iter().flat_map(|role| std::iter::repeat_n(role, n)) {
                scope.spawn(move || self.thread(role));
            }
            let start = Instant::now();
            thread::sleep(time);
            let mut state = self.monitor.lock();
            state.closed = true;
            let rate = state.taken as f64 / start.elapsed().as_secs_f64();
            drop(state);
            self.monitor.notify_all(CONSUMER);
            self.monitor.notify_all(PRODUCER);
            rate
        })
    }

    fn thread(&self, role: Condition) {
        loop {
            let mut state = self.monitor.lock();
            while !state.closed && !role.is_met(&state, self.room) {
                state = self.monitor.wait(role, state);
            }
            if state.closed {
                return;
            }
            let helps = role.act(&mut state);
            drop(state);
            self.monitor.notify_one(helps);
        }
    }
}

impl<M: Monitor> Queue<M>
where
    for<'a> M::Guard<'a>: Send,
{
    /// As [`among_threads`](Self::among_threads), with `n` tasks in each of their roles too.
    fn among_both(
        self: &Arc<Self>,
        threads: &[Condition],
        tasks: &[Condition],
        n: usize,
        time: Duration,
    ) -> f64 {
        let tasks = tasks.iter().flat_map(|role| std::iter::repeat_n(role, n));
        let tasks = tasks.map(|&role| Arc::clone(self).task(role));
        EXECUTOR.run(tasks, || self.among_threads(threads, n, time)).1
    }

    async fn task(self: Arc<Self>, role: Condition) {
        loop {
            let mut state = self.monitor.lock_async().await;
            while !state.closed && !role.is_met(&state, self.room) {
                state = self.monitor.wait_async(role, state).await;
            }
            if state.closed {
                return;
            }
            let helps = role.act(&mut state);
            drop(state);
            self.monitor.notify_one(helps);
        }
    }
}
