//! Systems without a CPU clock that we know how to read: wall time stands in for it.

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
