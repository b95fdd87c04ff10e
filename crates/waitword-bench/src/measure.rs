//! Stopwatches.

use std::time::{Duration, Instant};

use crate::platform::{process_cpu, thread_cpu};
use crate::series::{Sample, Unit};

/// Adds up the time of one kind of operation, in CPU time of this thread and in wall time.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    cpu: Duration,
    wall: Duration,
    operations: usize,
}

impl Stopwatch {
    /// Times `work`, which does `operations` operations.
    pub(crate) fn time<R>(&mut self, operations: usize, work: impl FnOnce() -> R) -> R {
        let (cpu, wall) = (thread_cpu(), Instant::now());
        let result = work();
        self.wall += wall.elapsed();
        self.cpu += thread_cpu() - cpu;
        self.operations += operations;
        result
    }

    /// Nanoseconds of CPU time per operation.
    pub(crate) fn cpu_nanos(&self) -> f64 {
        self.cpu.as_nanos() as f64 / self.operations as f64
    }

    /// The figure for a table: CPU time per operation, wall time beside it.
    pub(crate) fn sample(&self, what: &'static str, n: usize) -> Sample {
        let wall = self.wall.as_nanos() as f64 / self.operations as f64;
        Sample { what, n, unit: Unit::Nanos, value: self.cpu_nanos(), wall: Some(wall) }
    }
}

/// The longest of many operations, each timed by itself in CPU time of this thread: what the operation did, not what
/// the scheduler did to it.
#[derive(Debug, Default)]
pub(crate) struct Longest(Duration);

impl Longest {
    pub(crate) fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = thread_cpu();
        let result = work();
        self.0 = self.0.max(thread_cpu() - start);
        result
    }

    pub(crate) fn sample(&self, what: &'static str, n: usize) -> Sample {
        Sample::new(what, n, Unit::Nanos, self.0.as_nanos() as f64)
    }
}

/// CPU time that all threads use while `work` runs.
pub(crate) fn process_cpu_of(work: impl FnOnce()) -> Duration {
    let start = process_cpu();
    work();
    process_cpu() - start
}
