//! The barging window: for how long acquirers may barge past the head waiter, in 27 bits of a lock's word.
//!
//! The bits are zero when a waiter is signalled, or becomes the head of the queue. [`barge`] counts each barging acquirer, and
//! reads the clock for some of them.

use std::time::Duration;

use crate::sync::MODEL;

/// How many bits a window takes.
pub(crate) const BITS: u32 = 27;

/// How long acquirers may barge past the head waiter.
///
/// Long enough that the switch of threads at its end, some 10 µs of CPU, is a few percent of it.
pub(crate) const WINDOW: Duration = Duration::from_micros(200);

/// How long acquirers may barge while each of the queued waiters acquires the lock once:
///
/// ```text
///   window of each waiter = ROUND / waiters, but at least SHORTEST_WINDOW and at most WINDOW
/// ```
pub(crate) const ROUND: Duration = Duration::from_millis(3);

/// The window of each waiter when there are many.
pub(crate) const SHORTEST_WINDOW: Duration = Duration::from_micros(50);

/// The first barging acquirer for which the clock is read. The clock is read again whenever their number has doubled or has grown by 32.
pub(crate) const FIRST_CLOCK_READ: u32 = if MODEL { 1 } else { 4 };

/// The lowest bits are a count. The others are the lowest bits of the time, in ticks, at which the window closes.
const COUNT_BITS: u32 = 6;
const END_BITS: u32 = BITS - COUNT_BITS;

/// The bits after one more acquirer has barged, and whether the window is closed from then on.
pub(crate) fn barge(window: u32) -> (u32, bool) {
    let (count, end) = (window & ((1 << COUNT_BITS) - 1), window >> COUNT_BITS);
    let count = match count + 1 {
        64 => 32,
        count => count,
    };
    if count == FIRST_CLOCK_READ {
        return (end_of_window(1, END_BITS) << COUNT_BITS | count, false);
    }
    let reads_clock = count > FIRST_CLOCK_READ && count.is_power_of_two();
    (end << COUNT_BITS | count, reads_clock && has_come(end, END_BITS))
}

/// The lowest `bits` of the time at which a window closes that opens now, with `queued` waiters; never zero.
pub(crate) fn end_of_window(queued: usize, bits: u32) -> u32 {
    let part = ROUND / u32::try_from(queued).unwrap_or(u32::MAX).max(1);
    let window = part.clamp(SHORTEST_WINDOW, WINDOW);
    (now().wrapping_add(ticks(window)) & lowest(bits)).max(1)
}

/// Whether the end of a window has come.
///
/// The end wraps: 15 bits every 0.13 s, 21 bits every 9 s. An end that is further away than the length of a window counts as past. So once
/// per wrap, a past end looks open, for the length of a window. That keeps a window open only if all reads of the clock fall into these
/// spans (critical sections of 8.4 ms or 2.1 s, to the tick), and only until the waiter runs, because the waiter itself closes the window.
pub(crate) fn has_come(end: u32, bits: u32) -> bool {
    let left = end.wrapping_sub(now()) & lowest(bits);
    MODEL || left == 0 || left > ticks(WINDOW)
}

fn lowest(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// A tick is 4,096 ns.
const TICK_SHIFT: u32 = 12;

/// The time, in ticks since the first call.
#[cfg(not(waitword_loom))]
fn now() -> u32 {
    use waitword_core::OnceLock;
    use waitword_core::time::Instant;

    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    (BEGINNING.get_or_init(Instant::now).elapsed().as_nanos() >> TICK_SHIFT) as u32
}

/// The time: a model has no clock, and every end has come.
#[cfg(waitword_loom)]
fn now() -> u32 {
    0
}

/// A time span of less than a second in ticks, rounded up.
fn ticks(span: Duration) -> u32 {
    (span.subsec_nanos() >> TICK_SHIFT) + 1
}

#[cfg(test)]
mod tests {
    use waitword_core::time::Instant;

    use super::*;

    #[test]
    fn others_barge_until_the_window_closes_and_no_longer() {
        let (start, mut window, mut times) = (Instant::now(), 0, 0_u32);
        loop {
            let is_closed;
            (window, is_closed) = barge(window);
            assert_eq!(window >> BITS, 0);
            times += 1;
            if is_closed {
                break;
            }
            // At most 32 acquirers barge between two reads of the clock, and they take no time here.
            assert!(times < 1 << 30);
        }
        // Except for the tick that had begun.
        assert!(times > FIRST_CLOCK_READ && start.elapsed() + Duration::from_micros(5) >= WINDOW);
    }

    #[test]
    fn an_end_long_past_has_come() {
        for bits in [15, END_BITS] {
            let times = lowest(bits);
            let ago = |ticks: u32| now().wrapping_sub(ticks) & times;
            let past = [0, 1, 1 << 10, times / 2, times / 2 + 1, times / 4 * 3];
            assert!(past.into_iter().all(|past| has_come(ago(past), bits)));
            // A thread that is off the CPU meanwhile finds it closed.
            assert!((0..100).any(|_| !has_come(end_of_window(1, bits), bits)));
        }
    }
}
