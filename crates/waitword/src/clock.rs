//! Time as a few bits of a lock's word.
//!
//! A tick is 4,096 ns. Cut to so and so many bits, times come round again (22 bits: every 17 s); two of them are compared as
//! if they were less than half a round apart. Whoever compares one that is older is wrong by one quantum.
//!
//! In a model there is no clock, and every time has come.

use std::time::Duration;

use crate::sync::MODEL;

const TICK_SHIFT: u32 = 12;

/// The time, in ticks since some beginning.
#[cfg(not(any(loom, shuttle)))]
pub(crate) fn now() -> u32 {
    use std::sync::OnceLock;
    use std::time::Instant;

    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    (BEGINNING.get_or_init(Instant::now).elapsed().as_nanos() >> TICK_SHIFT) as u32
}

/// The time.
#[cfg(any(loom, shuttle))]
pub(crate) fn now() -> u32 {
    0
}

/// A time span of less than a second in ticks, rounded up.
pub(crate) fn ticks(span: Duration) -> u32 {
    (span.subsec_nanos() >> TICK_SHIFT) + 1
}

/// Whether the time has come of which `time` has the lowest `bits`.
pub(crate) fn has_come(time: u32, bits: u32) -> bool {
    let unused = u32::BITS - bits;
    MODEL || (now() << unused).wrapping_sub(time << unused) as i32 >= 0
}
