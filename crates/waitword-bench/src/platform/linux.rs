//! Linux.

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

/// Sleeps while the word holds `value`; may return for no reason.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32) {
    let forever = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is alive and aligned, and no timeout is given.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            forever,
        )
    };
}

/// Wakes one thread that sleeps on the word.
pub(crate) fn futex_wake(word: &AtomicU32) {
    // SAFETY: only the address is used.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

/// Wakes all threads that sleep on the word.
pub(crate) fn futex_wake_all(word: &AtomicU32) {
    let all = libc::c_int::MAX;
    // SAFETY: only the address is used.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, all)
    };
}

/// Sleeps while the word holds `value`, for `timeout` at the longest; may return for no reason.
pub(crate) fn futex_wait_for(word: &AtomicU32, value: u32, timeout: Duration) {
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    };
    // SAFETY: the word is alive and aligned, and the timeout lives through the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            &raw const timeout,
        )
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
