//! Many deadlines: armed, cancelled, or fired. And many threads that time out.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword_core::{Alarm, wait_async_until};

use super::herds::spawn;
use crate::crowd::Crowd;
use crate::figures::{Sample, Unit, median, nanos};
use crate::measure::{Stopwatches, counting};
use crate::platform::process_cpu;
#[cfg(target_os = "linux")]
use crate::words::RawFutex;
use crate::words::{self, Parking, ParkingLotCore};
use crate::workload::{Contender, OURS, Scale, Workload, contenders, workloads};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
/// The average time between two deadlines of a burst.
const BURST: Duration = Duration::from_nanos(100);

pub(super) fn workloads() -> Vec<Workload> {
    let futures = vec![
        Contender::new(OURS, alarm),
        Contender::new("waitword, with a wait", wait),
        Contender::new("tokio sleep", tokio_sleep),
    ];
    let mut all = vec![Workload { name: "deadlines", contenders: futures }];
    all.extend(workloads! {
        "thread-timeouts" => { time_out: words::Waitword, #[cfg(target_os = "linux")] RawFutex, ParkingLotCore; }
    });
    all
}

fn alarm(scale: &Scale) -> Vec<Sample> {
    at_all_sizes(scale, sleep_until, thread::sleep)
}

/// A timer made of [`Alarm`] alone, as in its documentation.
async fn sleep_until(deadline: Instant) {
    let mut alarm = pin!(Alarm::new());
    poll_fn(|cx| {
        if Instant::now() >= deadline {
            return Poll::Ready(());
        }
        alarm.as_mut().set(deadline, cx.waker());
        Poll::Pending
    })
    .await;
}

fn wait(scale: &Scale) -> Vec<Sample> {
    static WORD: AtomicU32 = AtomicU32::new(0);
    at_all_sizes(scale, |deadline| wait_async_until(&WORD, 0, deadline), thread::sleep)
}

fn tokio_sleep(scale: &Scale) -> Vec<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a timer needs nothing from the system");
    let _entered = runtime.enter();
    // tokio's timer runs only while a task does.
    let sleep = |time| runtime.block_on(async { tokio::time::sleep(time).await });
    at_all_sizes(scale, |deadline| tokio::time::sleep_until(deadline.into()), sleep)
}

fn at_all_sizes<W: Future>(
    scale: &Scale,
    make: impl Fn(Instant) -> W,
    sleep: impl Fn(Duration),
) -> Vec<Sample> {
    let at_size = |n: usize| {
        let mut crowd = Crowd::new(n);
        let mut watches = Stopwatches::default();

        // Memory that the process allocates once does not count.
        crowd.enter(0, make(Instant::now() + HOUR));
        crowd.cancel(0);
        let delays = delays(n, SECOND);
        let kept = counting(|counted| {
            let far = Instant::now() + HOUR;
            watches.time("arm", n, || (0..n).for_each(|i| crowd.enter(i, make(far + delays[i]))));
            watches.time("cancel", n, || (0..n).for_each(|i| crowd.cancel(i)));
            counted().bytes
        });
        let burst = fire(&mut crowd, &make, &sleep, &self::delays(n, BURST * n as u32));
        let spread = fire(&mut crowd, &make, &sleep, &delays);
        let mut samples = watches.samples(n);
        samples.extend(nanos(
            n,
            [
                ("fire, in a burst", burst.nanos),
                ("fire, spread over a second", spread.nanos),
                ("late, spread over a second", spread.late),
            ],
        ));
        samples.extend([
            Sample::new("fired early", n, Unit::Count, (burst.early + spread.early) as f64),
            Sample::new("heap kept after all were cancelled", n, Unit::Bytes, kept as f64),
        ]);
        samples
    };
    scale.crowds.iter().flat_map(|&n| at_size(n)).collect()
}

fn delays(n: usize, span: Duration) -> Vec<Duration> {
    let mut random = fastrand::Rng::with_seed(n as u64);
    (0..n).map(|_| Duration::from_nanos(random.u64(..span.as_nanos() as u64))).collect()
}

struct Firing {
    nanos: f64,
    late: f64,
    early: usize,
}

/// Arms one deadline per delay, and waits for all of them.
fn fire<W: Future>(
    crowd: &mut Crowd<W>,
    make: &impl Fn(Instant) -> W,
    sleep: &impl Fn(Duration),
    delays: &[Duration],
) -> Firing {
    // Enough time to arm all deadlines before the first is due. Doubled if it was not enough.
    let mut lead = Duration::from_millis(50) + Duration::from_nanos(500) * delays.len() as u32;
    loop {
        let first = Instant::now() + lead;
        let fired = Arc::new(Fired::new(delays.iter().map(|&delay| first + delay).collect()));
        let waker = Waker::from(Arc::clone(&fired));
        let all_wait =
            delays.iter().enumerate().all(|(i, &delay)| crowd.enter_with(i, make(first + delay), &waker));
        if all_wait && Instant::now() < first {
            return fired.wait_for_all(sleep);
        }
        lead *= 2;
    }
}

/// One of this many wakes is compared with the clock.
const CHECKED: usize = 16;

/// Counts wakes, finds early ones, and measures how late they are.
struct Fired {
    count: AtomicUsize,
    early: AtomicUsize,
    /// The lateness of the checked wakes, in nanoseconds.
    late: AtomicUsize,
    /// The deadlines, in the order in which they are due.
    deadlines: Vec<Instant>,
}

impl Fired {
    fn new(mut deadlines: Vec<Instant>) -> Self {
        deadlines.sort();
        Self { count: AtomicUsize::new(0), early: AtomicUsize::new(0), late: AtomicUsize::new(0), deadlines }
    }

    fn wait_for_all(&self, sleep: &impl Fn(Duration)) -> Firing {
        let n = self.deadlines.len();
        let last = self.deadlines[n - 1];
        let start = process_cpu();
        sleep(last.saturating_duration_since(Instant::now()));
        while self.count.load(Ordering::SeqCst) < n {
            sleep(Duration::from_millis(1));
        }
        let cpu = process_cpu() - start;
        Firing {
            nanos: cpu.as_nanos() as f64 / n as f64,
            late: self.late.load(Ordering::SeqCst) as f64 / n.div_ceil(CHECKED) as f64,
            early: self.early.load(Ordering::SeqCst),
        }
    }
}

impl Wake for Fired {
    fn wake(self: Arc<Self>) {
        let before = self.count.fetch_add(1, Ordering::SeqCst);
        // All wakers are equal, but at the k-th wake, k deadlines must have passed. The cost of reading the clock is not
        // to be measured, so only some wakes are checked.
        if before.is_multiple_of(CHECKED) {
            match Instant::now().checked_duration_since(self.deadlines[before]) {
                Some(late) => self.late.fetch_add(late.as_nanos() as usize, Ordering::Relaxed),
                None => self.early.fetch_add(1, Ordering::SeqCst),
            };
        }
    }
}

const TIMING_OUT: usize = 256;
/// The time from the first wait to the deadlines, by which all threads sleep.
const TIMEOUT: Duration = Duration::from_millis(50);

/// The same threads as in thread-herd.
fn time_out<P: Parking>(scale: &Scale) -> Vec<Sample> {
    let figures = (0..scale.operations(20)).map(|_| all_time_out::<P>()).collect::<Vec<_>>();
    nanos(TIMING_OUT, [("timed out, CPU time each", median(&figures))])
}

/// The CPU time per thread that the process uses from when all threads sleep until all have timed out.
fn all_time_out<P: Parking>() -> f64 {
    let word = AtomicU32::new(0);
    let (begin, left, main) = (Barrier::new(TIMING_OUT), AtomicUsize::new(TIMING_OUT), thread::current());
    let thread = || {
        begin.wait();
        let start = Instant::now();
        while let Some(time) = TIMEOUT.checked_sub(start.elapsed()).filter(|time| !time.is_zero()) {
            P::wait(&word, 0, Some(time));
        }
        if left.fetch_sub(1, Ordering::AcqRel) == 1 {
            main.unpark();
        }
        // Keeps threads from ending before the clock is read.
        begin.wait();
    };
    thread::scope(|scope| {
        spawn(scope, TIMING_OUT, &thread);
        thread::sleep(TIMEOUT / 2);
        let start = process_cpu();
        while left.load(Ordering::Acquire) > 0 {
            thread::park();
        }
        (process_cpu() - start).as_nanos() as f64 / TIMING_OUT as f64
    })
}
