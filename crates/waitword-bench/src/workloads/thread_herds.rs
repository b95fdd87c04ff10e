//! Many threads on one word: all notified at once, or all timing out.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::platform::{process_cpu, thread_cpu};
use crate::series::{Sample, Unit, median};
#[cfg(target_os = "linux")]
use crate::words::RawFutex;
use crate::words::{BASELINE, Herd, OnWord, ParkingLotCore, StdCondvar, Waitword};
use crate::workload::{Limit, Scale, Subject, Workload, contenders, goal};

const NOTIFIER: &str = "notifier, CPU time each";
const WALL: &str = "until all have returned, each";
const PROCESS: &str = "all threads, CPU time each";
const TIMED_OUT: &str = "timed out, CPU time each";

const HERDS: [usize; 3] = [64, 512, 2_000];
const TIMING_OUT: usize = 256;
/// So far are the deadlines from the first wait: all threads sleep by then.
const TIMEOUT: Duration = Duration::from_millis(50);

macro_rules! herds {
    ($measured_by:ident) => {
        contenders! {
            $measured_by: OnWord<Waitword>, #[cfg(target_os = "linux")] OnWord<RawFutex>, OnWord<ParkingLotCore>,
                StdCondvar;
        }
    };
}

pub(super) fn workloads() -> [Workload; 2] {
    [
        Workload {
            name: "thread-herd",
            about: "N threads wait on one word and are notified at once. CPU time of the notify, CPU time of all threads until \
                    they wait again, and wall time until the last has returned from its wait, each divided by N.",
            contenders: herds!(wake),
            goals: [NOTIFIER, WALL].map(|what| goal(what, Limit::Times(1.2, BASELINE))).into(),
        },
        Workload {
            name: "thread-timeouts",
            about: "N threads wait on one word until their deadlines, which come within a millisecond: CPU time of all threads, \
                    divided by N.",
            contenders: herds!(time_out),
            goals: vec![goal(TIMED_OUT, Limit::Times(1.1, BASELINE))],
        },
    ]
}

fn wake<H: Herd>(scale: &Scale) -> Vec<Sample> {
    HERDS.into_iter().flat_map(|n| Notified::<H>::of(n, (scale.operations(6_400) / n).max(1))).collect()
}

struct Notified<H> {
    herd: H,
    threads: usize,
    /// How often a thread has begun to wait.
    waits: AtomicUsize,
    /// Threads that have not returned yet.
    waiting: AtomicUsize,
    over: AtomicBool,
    notifier: Thread,
    beginning: Instant,
    /// When the last one returned, in nanoseconds since the beginning.
    last: AtomicU64,
}

impl<H: Herd> Notified<H> {
    fn of(threads: usize, times: usize) -> [Sample; 3] {
        let this = Arc::new(Self {
            herd: H::new(),
            threads,
            waits: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            notifier: thread::current(),
            beginning: Instant::now(),
            last: AtomicU64::new(0),
        });
        let herd = spawn(threads, || {
            let this = Arc::clone(&this);
            move || this.wait_again_and_again()
        });
        let mut figures = <[Vec<f64>; 3]>::default();
        for time in 1..=times {
            let sample = this.notify_all(time);
            figures.iter_mut().zip(sample).for_each(|(figures, figure)| figures.push(figure));
        }
        this.over.store(true, Ordering::SeqCst);
        this.herd.advance();
        herd.into_iter().for_each(|thread| thread.join().expect("nothing in there panics"));
        let [notifier, wall, process] = figures.map(|figures| median(&figures));
        [(NOTIFIER, notifier), (WALL, wall), (PROCESS, process)]
            .map(|(what, value)| Sample::new(what, threads, Unit::Nanos, value))
    }

    fn wait_again_and_again(&self) {
        for generation in 0.. {
            self.waits.fetch_add(1, Ordering::SeqCst);
            self.herd.wait_while(generation);
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.last.store(self.now(), Ordering::Release);
                self.notifier.unpark();
            }
        }
    }

    fn notify_all(&self, time: usize) -> [f64; 3] {
        self.until_all_sleep(time);
        self.waiting.store(self.threads, Ordering::Relaxed);
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
        [notifier.as_nanos() as f64, wall, process.as_nanos() as f64].map(|sum| sum / self.threads as f64)
    }

    /// Returns when each thread has begun to wait so often, and has had the time to fall asleep.
    fn until_all_sleep(&self, times: usize) {
        while self.waits.load(Ordering::SeqCst) < times * self.threads {
            thread::sleep(Duration::from_micros(500));
        }
        thread::sleep(Duration::from_millis(2));
    }

    fn now(&self) -> u64 {
        self.beginning.elapsed().as_nanos() as u64
    }
}

fn time_out<H: Herd>(scale: &Scale) -> Vec<Sample> {
    let figures = (0..scale.operations(20)).map(|_| all_time_out::<H>()).collect::<Vec<_>>();
    vec![Sample::new(TIMED_OUT, TIMING_OUT, Unit::Nanos, median(&figures))]
}

/// The CPU time that the process uses from when all threads sleep until all have timed out, for each of them.
fn all_time_out<H: Herd>() -> f64 {
    let shared =
        Arc::new((H::new(), Barrier::new(TIMING_OUT), AtomicUsize::new(TIMING_OUT), thread::current()));
    let threads = spawn(TIMING_OUT, || {
        let shared = Arc::clone(&shared);
        move || {
            let (herd, begin, left, main) = &*shared;
            begin.wait();
            herd.time_out(TIMEOUT);
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                main.unpark();
            }
            // No thread ends before the clock is read.
            begin.wait();
        }
    });
    let (_, _, left, _) = &*shared;
    thread::sleep(TIMEOUT / 2);
    let start = process_cpu();
    while left.load(Ordering::Acquire) > 0 {
        thread::park();
    }
    let cpu = process_cpu() - start;
    threads.into_iter().for_each(|thread| thread.join().expect("nothing in there panics"));
    cpu.as_nanos() as f64 / TIMING_OUT as f64
}

fn spawn<F: FnOnce() + Send + 'static>(threads: usize, mut body: impl FnMut() -> F) -> Vec<JoinHandle<()>> {
    // Thousands of threads, which need next to no stack.
    let spawn =
        |body| thread::Builder::new().stack_size(64 * 1024).spawn(body).expect("the system has threads");
    (0..threads).map(|_| spawn(body())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_herd_returns() {
        for samples in [Notified::<OnWord<Waitword>>::of(8, 3), Notified::<OnWord<ParkingLotCore>>::of(8, 3)]
        {
            assert!(samples.iter().all(|sample| sample.value > 0.0));
        }
        assert!(all_time_out::<StdCondvar>() > 0.0);
    }
}
