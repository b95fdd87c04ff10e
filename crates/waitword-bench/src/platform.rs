//! What the standard library does not offer: CPU clocks, pinning, the memory of a process, the raw futex, and a clock for short times.
//!
//! | system | CPU time of a thread, of the process | pinning to a CPU | memory of another process |
//! |--------|--------------------------------------|------------------|---------------------------|
//! | Linux  | `clock_gettime`                      | yes              | `/proc`                   |
//! | others | wall time instead                    | no               | not known                 |
//!
//! The clock for short times is the time stamp counter where there is one, and `Instant` elsewhere: it costs little beside a wait.
//! Nothing keeps the processor from reading the counter a few instructions early or late, which is nothing beside a wait either.

pub(crate) use clock::{nanos_of, ticks};
pub(crate) use system::{cpu_model, pin_to, process_cpu, resident, thread_cpu};
#[cfg(target_os = "linux")]
pub(crate) use system::{futex_wait, futex_wake};

#[cfg(target_os = "linux")]
mod system {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// CPU time that the calling thread has used.
    pub(crate) fn thread_cpu() -> Duration {
        clock(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    /// CPU time that all threads of this process have used.
    pub(crate) fn process_cpu() -> Duration {
        clock(libc::CLOCK_PROCESS_CPUTIME_ID)
    }

    /// Lets the calling thread run on the `index`th of the CPUs that the process may use, and on no other. Returns whether
    /// the system agreed.
    pub(crate) fn pin_to(index: usize) -> bool {
        static ALLOWED: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();
        let allowed = ALLOWED.get_or_init(allowed_cpus);
        let Some(&cpu) = allowed.get(index) else { return false };
        // SAFETY: plain data, for which all zeros is the empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel named this CPU, so it is within the set; and the set lives through the call.
        unsafe {
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
        }
    }

    /// How many bytes of the machine's memory a process holds.
    pub(crate) fn resident(process: u32) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kibibytes = line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?;
        Some(kibibytes * 1024)
    }

    /// The processor's name.
    pub(crate) fn cpu_model() -> Option<String> {
        let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    /// Sleeps while the word holds `value`, for `timeout` at the longest; may return for no reason.
    pub(crate) fn futex_wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs() as libc::time_t,
            tv_nsec: timeout.subsec_nanos() as libc::c_long,
        });
        let until = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word is alive and aligned, and the timeout lives through the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, until) };
    }

    /// Wakes so many of the threads that sleep on the word.
    pub(crate) fn futex_wake(word: &AtomicU32, most: libc::c_int) {
        // SAFETY: only the address is used.
        unsafe {
            libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, most)
        };
    }

    fn clock(id: libc::clockid_t) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes to `time`, which lives through the call.
        let result = unsafe { libc::clock_gettime(id, &mut time) };
        assert_eq!(result, 0, "Linux has this clock");
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    }

    fn allowed_cpus() -> Vec<usize> {
        // SAFETY: as in `pin_to`.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set lives through the call, and its size is given; every index is within it.
        unsafe {
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
                return Vec::new();
            }
            (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
        }
    }
}

/// Systems without a CPU clock that we know how to read: wall time stands in for it.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    pub(crate) fn thread_cpu() -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
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

#[cfg(target_arch = "x86_64")]
mod clock {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    /// The time, in a unit of its own. Two CPUs may differ a little, so that time seems to go back.
    #[inline]
    pub(crate) fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has this instruction, and it only reads a counter.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    /// So many ticks in nanoseconds. The first call compares the two clocks, which takes some milliseconds.
    pub(crate) fn nanos_of(ticks: u64) -> f64 {
        static TICK: OnceLock<f64> = OnceLock::new();
        ticks as f64 * TICK.get_or_init(nanos_per_tick)
    }

    /// The counter runs at one speed whatever the processor does.
    fn nanos_per_tick() -> f64 {
        let (start, from) = both_clocks();
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        let (end, to) = both_clocks();
        (end - start).as_nanos() as f64 / to.saturating_sub(from).max(1) as f64
    }

    /// Both at the same time, unless the system keeps interrupting.
    fn both_clocks() -> (Instant, u64) {
        let mut attempts = 0;
        loop {
            let (instant, ticks) = (Instant::now(), ticks());
            attempts += 1;
            if instant.elapsed() < Duration::from_micros(5) || attempts == 1_000 {
                return (instant, ticks);
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod clock {
    use std::sync::OnceLock;
    use std::time::Instant;

    #[inline]
    pub(crate) fn ticks() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    pub(crate) fn nanos_of(ticks: u64) -> f64 {
        ticks as f64
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A pause of the test between reading the two clocks shows on one of the outer sides only.
    #[test]
    fn ticks_are_time() {
        nanos_of(0);
        let outer = Instant::now();
        let from = ticks();
        let inner = Instant::now();
        while inner.elapsed() < Duration::from_millis(20) {}
        let least = inner.elapsed().as_nanos() as f64;
        let nanos = nanos_of(ticks() - from);
        let most = outer.elapsed().as_nanos() as f64;
        assert!(nanos > 0.5 * least && nanos < 2.0 * most, "{nanos} ns, between {least} and {most}");
    }
}
