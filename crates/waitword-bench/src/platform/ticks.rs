//! A clock that costs little beside a wait: the time stamp counter where there is one, `Instant` elsewhere.
//!
//! Nothing keeps the processor from reading the counter a few instructions early or late, which is nothing beside a wait.

pub(crate) use imp::{nanos_of, ticks};

#[cfg(target_arch = "x86_64")]
mod imp {
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
mod imp {
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
