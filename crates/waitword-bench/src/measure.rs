//! Stopwatches, and the system's allocator with a count of the allocated bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::figures::{Sample, Unit};
use crate::locks::peers::unpoisoned;
use crate::platform::thread_cpu;

/// Measures the time of `work`, which performs `operations` operations.
pub(crate) fn timed(what: &'static str, n: usize, operations: usize, work: impl FnOnce()) -> Sample {
    let mut watches = Stopwatches::default();
    watches.time(what, operations, work);
    watches.samples(n).remove(0)
}

/// Sums of the times of operations, by their names in the tables.
#[derive(Debug, Default)]
pub(crate) struct Stopwatches(Vec<Stopwatch>);

#[derive(Debug)]
struct Stopwatch {
    what: &'static str,
    operations: usize,
    /// The CPU time of this thread.
    cpu: Duration,
    wall: Duration,
}

impl Stopwatches {
    /// Adds the time of `work`, which performs `operations` operations of this kind.
    pub(crate) fn time<R>(&mut self, what: &'static str, operations: usize, work: impl FnOnce() -> R) -> R {
        let (start_cpu, start) = (thread_cpu(), Instant::now());
        let result = work();
        let (wall, cpu) = (start.elapsed(), thread_cpu() - start_cpu);
        match self.0.iter_mut().find(|watch| watch.what == what) {
            Some(watch) => {
                watch.operations += operations;
                watch.cpu += cpu;
                watch.wall += wall;
            }
            None => self.0.push(Stopwatch { what, operations, cpu, wall }),
        }
        result
    }

    /// CPU time and wall time per operation, in the order in which the operations were first timed.
    pub(crate) fn samples(&self, n: usize) -> Vec<Sample> {
        let sample = |watch: &Stopwatch| {
            let each = |time: Duration| time.as_nanos() as f64 / watch.operations as f64;
            let wall = Some(each(watch.wall));
            Sample { wall, ..Sample::new(watch.what, n, Unit::Nanos, each(watch.cpu)) }
        };
        self.0.iter().map(sample).collect()
    }
}

/// The longest of `n` operations, each timed by itself in CPU time of this thread, which excludes the time that the
/// scheduler takes from it.
pub(crate) fn longest(what: &'static str, n: usize, mut work: impl FnMut(usize)) -> Sample {
    let time = |index| {
        let start = thread_cpu();
        work(index);
        thread_cpu() - start
    };
    let longest = (0..n).map(time).max().unwrap_or_default();
    Sample::new(what, n, Unit::Nanos, longest.as_nanos() as f64)
}

/// Counts only on request: threads that count share a cache line, and contenders that allocate would pay for that in
/// all other workloads.
static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// Allocates from the system.
pub(crate) struct Counting;

/// The allocations since counting began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Bytes allocated and not freed. Negative if more was freed than allocated.
    pub(crate) bytes: isize,
    /// The number of allocating calls.
    pub(crate) allocations: usize,
}

/// Runs `work` while counting. One caller at a time. `work` may read the counts so far.
pub(crate) fn counting<R>(work: impl FnOnce(&dyn Fn() -> Counted) -> R) -> R {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = unpoisoned(ALONE.lock());
    BYTES.store(0, Ordering::SeqCst);
    ALLOCATIONS.store(0, Ordering::SeqCst);
    ON.store(true, Ordering::SeqCst);
    let result = work(&|| Counted {
        bytes: BYTES.load(Ordering::SeqCst),
        allocations: ALLOCATIONS.load(Ordering::SeqCst),
    });
    ON.store(false, Ordering::SeqCst);
    result
}

fn allocated(bytes: usize) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes as isize, Ordering::Relaxed);
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

fn freed(bytes: usize) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_sub(bytes as isize, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        freed(layout.size());
        allocated(size);
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}
