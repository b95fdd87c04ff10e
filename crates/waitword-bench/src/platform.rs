//! What the standard library does not offer: CPU clocks, pinning, the memory of a process, and the raw futex.
//!
//! | system | CPU time of a thread, of the process | pinning to a CPU | memory of another process |
//! |--------|--------------------------------------|------------------|---------------------------|
//! | Linux  | `clock_gettime`                      | yes              | `/proc`                   |
//! | others | wall time instead                    | no               | not known                 |

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::sync::LazyLock;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    use rustix::thread::{CpuSet, futex, sched_getaffinity, sched_setaffinity};
    use rustix::time::{ClockId, Timespec, clock_gettime};

    /// CPU time that the calling thread has used.
    pub(crate) fn thread_cpu() -> Duration {
        clock(ClockId::ThreadCPUTime)
    }

    /// CPU time that all threads of this process have used.
    pub(crate) fn process_cpu() -> Duration {
        clock(ClockId::ProcessCPUTime)
    }

    fn clock(id: ClockId) -> Duration {
        clock_gettime(id).try_into().expect("no CPU time is negative")
    }

    /// Lets the calling thread run on the `index`th of the CPUs that the process may use, and on no other. Returns whether
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

    /// How many bytes of the machine's memory a process holds.
    pub(crate) fn resident(process: u32) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kibibytes = line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?;
        Some(kibibytes * 1024)
    }

    /// The processor's name.
    pub(crate) fn cpu_model() -> Option<String> {
        let info = fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    /// Sleeps while the word holds `value`, for at most `timeout`; may return for no reason.
    pub(crate) fn futex_wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let _ = futex::wait(word, futex::Flags::PRIVATE, value, timeout.as_ref());
    }

    /// Wakes so many of the threads that sleep on the word.
    pub(crate) fn futex_wake(word: &AtomicU32, most: u32) {
        let _ = futex::wake(word, futex::Flags::PRIVATE, most);
    }
}

/// Systems without a CPU clock that we know how to read: wall time stands in for it.
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

    pub(crate) fn resident(_process: u32) -> Option<u64> {
        None
    }

    pub(crate) fn cpu_model() -> Option<String> {
        None
    }
}

pub(crate) use system::*;
