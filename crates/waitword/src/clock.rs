//! Time as a few bits of a lock's word.
//!
//! A tick is 4,096 ns. Cut to so and so many bits, times come round again (22 bits: every 17 s).
//!
//! In a model there is no clock, and every time has come.

use std::time::Duration;

const TICK_SHIFT: u32 = 12;

/// The time, in ticks since some beginning.
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
pub(crate) fn now() -> u32 {
    use std::sync::OnceLock;
    use std::time::Instant;

    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    (BEGINNING.get_or_init(Instant::now).elapsed().as_nanos() >> TICK_SHIFT) as u32
}

/// The time.
#[cfg(any(waitword_loom, waitword_shuttle))]
pub(crate) fn now() -> u32 {
    0
}

/// A time span of less than a second in ticks, rounded up.
pub(crate) fn ticks(span: Duration) -> u32 {
    (span.subsec_nanos() >> TICK_SHIFT) + 1
}
