//! A thundering herd: 64 waiters of one condition variable, notified at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

use crate::executor::Executor;
use crate::locks::monitor::{
    AsyncLockMonitor, AsyncMonitor, Condition, Monitor, ParkingLotMonitor, StdMonitor, TokioMonitor,
    UsyncMonitor, WaitwordMonitor,
};
use crate::platform::process_cpu;
use crate::series::{Sample, Unit, median};
use crate::workload::{Limit, Scale, Workload, contenders, goal};

const THREADS: &str = "threads";
const TASKS: &str = "tasks";
const THREADS_CPU: &str = "threads, CPU time each";

const WAITERS: usize = 64;

pub(super) fn workloads() -> [Workload; 1] {
    [Workload {
        name: "condvar-herd",
        about: "N waiters of one condition variable are notified at once: time until the last has released the mutex. \
                CPU time is that of all threads, until they wait again, divided by N. Tasks run on tokio with two workers.",
        contenders: contenders! {
            both: WaitwordMonitor;
            threads: StdMonitor, ParkingLotMonitor, UsyncMonitor;
            both: AsyncLockMonitor, TokioMonitor;
        },
        goals: vec![
            goal(THREADS, Limit::Times(1.5, StdMonitor::NAME)),
            goal(THREADS_CPU, Limit::Times(1.5, StdMonitor::NAME)),
            goal(TASKS, Limit::TimesBest(1.0)),
        ],
    }]
}

fn threads<M: Monitor>(scale: &Scale) -> Vec<Sample> {
    let herd = Herd::<M>::new();
    let [nanos, cpu] = thread::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| herd.thread());
        }
        herd.drive(scale.operations(200))
    });
    [(THREADS, nanos), (THREADS_CPU, cpu / WAITERS as f64)]
        .map(|(what, value)| Sample::new(what, WAITERS, Unit::Nanos, value))
        .into()
}

fn both<M: AsyncMonitor>(scale: &Scale) -> Vec<Sample>
where
    for<'a> M::Guard<'a>: Send,
{
    let herd = Arc::new(Herd::<M>::new());
    let tasks = (0..WAITERS).map(|_| Arc::clone(&herd).task());
    let (_, [nanos, _]) = Executor::Tokio { workers: 2 }.run(tasks, || herd.drive(scale.operations(200)));
    let mut samples = threads::<M>(scale);
    samples.push(Sample::new(TASKS, WAITERS, Unit::Nanos, nanos));
    samples
}

struct Herd<M> {
    monitor: M,
    /// The notifier. It parks until all wait, and until all have left.
    driver: Thread,
    staying: AtomicUsize,
    /// When the last one left, in nanoseconds since the beginning.
    beginning: Instant,
    last_left: AtomicU64,
}

impl<M: Monitor> Herd<M> {
    /// Driven by this thread.
    fn new() -> Self {
        let (driver, beginning) = (thread::current(), Instant::now());
        let (staying, last_left) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { monitor: M::default(), driver, staying, beginning, last_left }
    }

    /// One more waits as soon as the mutex is free.
    fn arrive(&self, state: &mut M::Guard<'_>) {
        state.waiting += 1;
        if state.waiting == WAITERS {
            self.driver.unpark();
        }
    }

    fn leave(&self) {
        if self.staying.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.last_left.store(self.now(), Ordering::Release);
            self.driver.unpark();
        }
    }

    fn now(&self) -> u64 {
        self.beginning.elapsed().as_nanos() as u64
    }

    /// Notifies the herd that many times, then lets it go for good. Returns the medians of the wall time, and of the CPU time
    /// of all threads.
    fn drive(&self, times: usize) -> [f64; 2] {
        let mut figures = <[Vec<f64>; 2]>::default();
        for _ in 0..times {
            let mut state = self.all_wait();
            state.waiting = 0;
            state.generation += 1;
            self.last_left.store(0, Ordering::Relaxed);
            self.staying.store(WAITERS, Ordering::Relaxed);
            drop(state);
            let (start, cpu) = (self.now(), process_cpu());
            self.monitor.notify_all(Condition::Something);
            while self.last_left.load(Ordering::Acquire) == 0 {
                thread::park();
            }
            figures[0].push(self.last_left.load(Ordering::Acquire).saturating_sub(start) as f64);
            drop(self.all_wait());
            figures[1].push((process_cpu() - cpu).as_nanos() as f64);
        }
        self.all_wait().closed = true;
        self.monitor.notify_all(Condition::Something);
        figures.map(|figures| median(&figures))
    }

    fn all_wait(&self) -> M::Guard<'_> {
        loop {
            let state = self.monitor.lock();
            if state.waiting == WAITERS {
                return state;
            }
            drop(state);
            thread::park();
        }
    }

    fn thread(&self) {
        let mut generation = 0;
        loop {
            let mut state = self.monitor.lock();
            self.arrive(&mut state);
            while state.generation == generation && !state.closed {
                state = self.monitor.wait(Condition::Something, state);
            }
            if state.closed {
                return;
            }
            generation = state.generation;
            drop(state);
            self.leave();
        }
    }
}

impl<M: AsyncMonitor> Herd<M>
where
    for<'a> M::Guard<'a>: Send,
{
    async fn task(self: Arc<Self>) {
        let mut generation = 0;
        loop {
            let mut state = self.monitor.lock_async().await;
            self.arrive(&mut state);
            while state.generation == generation && !state.closed {
                state = self.monitor.wait_async(Condition::Something, state).await;
            }
            if state.closed {
                return;
            }
            generation = state.generation;
            drop(state);
            self.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_herd_leaves_each_time() {
        let scale = Scale { quick: true, rounds: 1 };
        for samples in [threads::<StdMonitor>(&scale), both::<TokioMonitor>(&scale)] {
            assert!(samples.iter().all(|sample| sample.value > 0.0));
        }
    }
}
