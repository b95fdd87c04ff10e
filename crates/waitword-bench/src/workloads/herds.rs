//! A thundering herd: many waiters of one word, or of one condition variable, are notified at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Scope, Thread};
use std::time::{Duration, Instant};

use crate::executor::Executor;
use crate::figures::{Sample, Unit, median, nanos};
use crate::locks::monitor::{
    AsyncLockMonitor, Condition, Monitor, ParkingLotMonitor, StdMonitor, TokioMonitor, UsyncMonitor,
    WaitwordMonitor,
};
use crate::platform::{process_cpu, thread_cpu};
#[cfg(target_os = "linux")]
use crate::words::RawFutex;
use crate::words::{OnWord, Parking, ParkingLotCore, Waitword};
use crate::workload::{Scale, Subject, Workload, contenders, workloads};

pub(super) fn workloads() -> Vec<Workload> {
    workloads! {
        "thread-herd" => {
            wake: OnWord<Waitword>, #[cfg(target_os = "linux")] OnWord<RawFutex>, OnWord<ParkingLotCore>,
                OnMonitor<StdMonitor>;
        }
        "condvar-herd" => {
            wake_both: WaitwordMonitor;
            wake_threads: StdMonitor, ParkingLotMonitor, UsyncMonitor;
            wake_both: AsyncLockMonitor, TokioMonitor;
        }
    }
}

/// A generation, and the waiters for the next one.
trait Herd: Subject {
    /// Waits until the generation differs from `generation`.
    fn wait_while(&self, generation: u32);

    /// Begins the next generation and wakes all waiters.
    fn advance(&self);
}

/// The generation is the word.
impl<P: Parking> Herd for OnWord<P> {
    fn wait_while(&self, generation: u32) {
        self.sleep_while(generation);
    }

    fn advance(&self) {
        self.word.fetch_add(1, Ordering::SeqCst);
        P::wake_all(&self.word);
    }
}

/// The mutex protects the generation.
struct OnMonitor<M>(M);

impl<M: Monitor> Subject for OnMonitor<M> {
    const NAME: &'static str = M::NAME;

    fn new() -> Self {
        Self(M::default())
    }
}

impl<M: Monitor> Herd for OnMonitor<M> {
    fn wait_while(&self, generation: u32) {
        let mut state = self.0.lock();
        while state.generation == generation {
            state = self.0.wait(Condition::Something, state);
        }
    }

    fn advance(&self) {
        self.0.lock().generation += 1;
        self.0.notify_all(Condition::Something);
    }
}

impl<M: Monitor> OnMonitor<M>
where
    for<'a> M::Guard<'a>: Send,
{
    async fn wait_while_async(&self, generation: u32) {
        let mut state = self.0.lock_async().await;
        while state.generation == generation {
            state = self.0.wait_async(Condition::Something, state).await;
        }
    }
}

/// The number of times that a herd of this size is woken.
fn times(scale: &Scale, waiters: usize) -> usize {
    (scale.operations(6_400) / waiters).max(1)
}

fn wake<H: Herd>(scale: &Scale) -> Vec<Sample> {
    let of = |n| {
        let [notifier, wall, process] = Notified::<H>::threads(n, times(scale, n)).map(|sum| sum / n as f64);
        nanos(
            n,
            [
                ("notifier, CPU time each", notifier),
                ("until all have returned, each", wall),
                ("all threads, CPU time each", process),
            ],
        )
    };
    scale.herds.iter().flat_map(|&n| of(n)).collect()
}

fn wake_threads<M: Monitor>(scale: &Scale) -> Vec<Sample> {
    let n = scale.herds[0];
    let [_, wall, process] = Notified::<OnMonitor<M>>::threads(n, times(scale, n));
    nanos(n, [("threads", wall), ("threads, CPU time each", process / n as f64)])
}

fn wake_both<M: Monitor>(scale: &Scale) -> Vec<Sample>
where
    for<'a> M::Guard<'a>: Send,
{
    let n = scale.herds[0];
    let [_, wall, _] = Notified::<OnMonitor<M>>::tasks(n, times(scale, n));
    let mut samples = wake_threads::<M>(scale);
    samples.push(Sample::new("tasks", n, Unit::Nanos, wall));
    samples
}

/// The herd. Its notifier is the thread that created it.
struct Notified<H> {
    herd: H,
    waiters: usize,
    /// The number of times that waiters have begun to wait.
    waits: AtomicUsize,
    /// Waiters that have not returned yet.
    waiting: AtomicUsize,
    over: AtomicBool,
    notifier: Thread,
    beginning: Instant,
    /// When the last waiter returned, in nanoseconds since the beginning.
    last: AtomicU64,
}

impl<H: Herd> Notified<H> {
    fn new(waiters: usize) -> Self {
        Self {
            herd: H::new(),
            waiters,
            waits: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            notifier: thread::current(),
            beginning: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    /// Measures a herd of this many threads that is notified this many times.
    fn threads(n: usize, times: usize) -> [f64; 3] {
        let this = Self::new(n);
        let thread = || {
            for generation in 0.. {
                this.waits.fetch_add(1, Ordering::SeqCst);
                this.herd.wait_while(generation);
                if this.has_returned() {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            spawn(scope, n, &thread);
            this.drive(times)
        })
    }

    /// Records that a waiter has returned. Returns whether this was the last round.
    fn has_returned(&self) -> bool {
        let over = self.over.load(Ordering::SeqCst);
        if !over && self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.last.store(self.now(), Ordering::Release);
            self.notifier.unpark();
        }
        over
    }

    /// Notifies the herd this many times, then ends it. Returns the medians of the notifier's CPU time, of the wall time until all have
    /// returned, and of the CPU time of all threads until they wait again.
    fn drive(&self, times: usize) -> [f64; 3] {
        let mut figures = <[Vec<f64>; 3]>::default();
        for time in 1..=times {
            let sample = self.notify_all(time);
            figures.iter_mut().zip(sample).for_each(|(figures, figure)| figures.push(figure));
        }
        self.over.store(true, Ordering::SeqCst);
        self.herd.advance();
        figures.map(|figures| median(&figures))
    }

    fn notify_all(&self, time: usize) -> [f64; 3] {
        self.until_all_sleep(time);
        self.waiting.store(self.waiters, Ordering::Relaxed);
        self.last.store(0, Ordering::Relaxed);
        let (process, cpu, start) = (process_cpu(), thread_cpu(), self.now());
        self.herd.advance();
        let notifier = thread_cpu() - cpu;
        while self.last.load(Ordering::Acquire) == 0 {
            thread::park();
        }
        let wall = self.last.load(Ordering::Acquire).saturating_sub(start) as f64;
        self.until_all_sleep(time + 1);
        let process = process_cpu() - process;
        [notifier.as_nanos() as f64, wall, process.as_nanos() as f64]
    }

    /// Returns when each waiter has begun to wait this many times, and has had time to fall asleep.
    fn until_all_sleep(&self, times: usize) {
        while self.waits.load(Ordering::SeqCst) < times * self.waiters {
            thread::sleep(Duration::from_micros(500));
        }
        thread::sleep(Duration::from_millis(2));
    }

    fn now(&self) -> u64 {
        self.beginning.elapsed().as_nanos() as u64
    }
}

impl<M: Monitor> Notified<OnMonitor<M>>
where
    for<'a> M::Guard<'a>: Send,
{
    /// As [`threads`](Self::threads), with tasks.
    fn tasks(n: usize, times: usize) -> [f64; 3] {
        let this = Arc::new(Self::new(n));
        let task = |this: Arc<Self>| async move {
            for generation in 0.. {
                this.waits.fetch_add(1, Ordering::SeqCst);
                this.herd.wait_while_async(generation).await;
                if this.has_returned() {
                    return;
                }
            }
        };
        let tasks = (0..n).map(|_| task(Arc::clone(&this)));
        Executor::Tokio { workers: 2 }.run(tasks, || this.drive(times)).1
    }
}

/// Spawns threads with small stacks, because there are thousands of them.
pub(super) fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    threads: usize,
    body: &'scope (impl Fn() + Sync),
) {
    for _ in 0..threads {
        let builder = thread::Builder::new().stack_size(64 * 1024);
        builder.spawn_scoped(scope, body).expect("the system has threads");
    }
}
