//! What the standard library lacks: CPU clocks, and pinning. On systems other than Linux, wall time is used instead of
//! CPU time, and nothing is pinned.

#[cfg(target_os = "linux")]
mod system {
    use std::sync::LazyLock;
    use std::time::Duration;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use rustix::time::{ClockId, clock_gettime};

    /// The CPU time that the calling thread has used.
    pub(crate) fn thread_cpu() -> Duration {
        clock(ClockId::ThreadCPUTime)
    }

    /// The CPU time that all threads of this process have used.
    pub(crate) fn process_cpu() -> Duration {
        clock(ClockId::ProcessCPUTime)
    }

    fn clock(id: ClockId) -> Duration {
        clock_gettime(id).try_into().expect("no CPU time is negative")
    }

    /// Pins the calling thread to the `index`th of the CPUs that the process may use. Returns whether
    /// the system agreed.
    pub(crate) fn pin_to(index: usize) -> bool {
        static ALLOWED: LazyLock<Vec<usize>> = LazyLock::new(|| {
            let allowed = sched_getaffinity(None).unwrap_or_default();
            (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect()
        });
        let Some(&cpu) = ALLOWED.get(index) else { return false };
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    pub(crate) fn thread_cpu() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    pub(crate) fn process_cpu() -> Duration {
        thread_cpu()
    }

    pub(crate) fn pin_to(_index: usize) -> bool {
        false
    }
}

pub(crate) use system::*;
