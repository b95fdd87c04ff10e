//! Computation for a given time, which uses no lock and accesses no memory.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Duration;

use crate::platform::thread_cpu;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// A number of multiplications, each of which depends on the result of the previous one.
    steps: u32,
}

impl Work {
    /// Creates work of this many nanoseconds of CPU time on this machine.
    pub(crate) fn nanos(nanos: u32) -> Self {
        static STEP: OnceLock<f64> = OnceLock::new();
        let step = STEP.get_or_init(nanos_per_step);
        Self { steps: (f64::from(nanos) / step).round() as u32 }
    }

    #[inline]
    pub(crate) fn run(self) {
        if self.steps > 0 {
            multiply(self.steps);
        }
    }
}

/// Never inlined, so that the code that runs is the code that was calibrated.
#[inline(never)]
fn multiply(steps: u32) {
    let mut number = black_box(1_u64);
    for _ in 0..steps {
        number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
    }
    black_box(number);
}

/// The minimum of several attempts, because other load can only add to the time.
fn nanos_per_step() -> f64 {
    const STEPS: u32 = 1_000_000;
    let attempt = || {
        let start = thread_cpu();
        multiply(STEPS);
        thread_cpu() - start
    };
    let least = (0..10).map(|_| attempt()).min().unwrap_or(Duration::from_millis(1));
    least.as_nanos() as f64 / f64::from(STEPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_time_is_twice_the_work() {
        let [one, two] = [1_000, 2_000].map(|nanos| Work::nanos(nanos).steps);
        assert!(one > 0);
        assert!(two.abs_diff(2 * one) <= 1, "{one} and {two} steps");
        assert_eq!(Work::nanos(0).steps, 0);
    }
}
