//! How long the first in line has been overtaken, in 28 bits of a lock's word.
//!
//! The bits are zero when somebody is called, or gets in line before all others. Each time that somebody overtakes them,
//! [`overtaken`] counts, and now and then it looks at the clock.

use std::time::Duration;

use crate::clock;
use crate::sync::MODEL;

/// How many bits it takes.
pub(crate) const BITS: u32 = 28;

/// How long the first in line can be overtaken.
///
/// Long enough that the change of threads at its end, some 10 µs of CPU, is a few percent of it.
pub(crate) const QUANTUM: Duration = Duration::from_micros(200);

/// How long all in line together can be overtaken, until each has had its turn, if they are not too many: what each may be
/// overtaken is its part of this.
pub(crate) const ROUND: Duration = Duration::from_millis(3);

/// How long the first of many can be overtaken all the same.
pub(crate) const SHORTEST_QUANTUM: Duration = Duration::from_micros(50);

/// The clock is not read before it has been overtaken so often, and then each time that the number has doubled, or gone on by
/// 32.
pub(crate) const FIRST_LOOK: u32 = if MODEL { 1 } else { 4 };

/// The lowest bits count. The others are the lowest of a time in ticks, after which nobody may overtake any more.
const COUNT_BITS: u32 = 6;
const END_BITS: u32 = BITS - COUNT_BITS;

/// The bits after one more has overtaken, and whether that was the last one who may.
pub(crate) fn overtaken(pace: u32) -> (u32, bool) {
    let (count, end) = (pace & ((1 << COUNT_BITS) - 1), pace >> COUNT_BITS);
    let count = match count + 1 {
        64 => 32,
        count => count,
    };
    if count == FIRST_LOOK {
        return (end_of_quantum(1, END_BITS) << COUNT_BITS | count, false);
    }
    let looks = count > FIRST_LOOK && count.is_power_of_two();
    (end << COUNT_BITS | count, looks && has_come(end, END_BITS))
}

/// The lowest `bits` of the time at which a quantum ends that begins now, with so many in line; never zero.
pub(crate) fn end_of_quantum(in_line: usize, bits: u32) -> u32 {
    let part = ROUND / u32::try_from(in_line).unwrap_or(u32::MAX).max(1);
    let quantum = part.clamp(SHORTEST_QUANTUM, QUANTUM);
    (clock::now().wrapping_add(clock::ticks(quantum)) & lowest(bits)).max(1)
}

/// Whether the end of a quantum has come. Times come round again, 19 bits every 2 s and 22 every 17; but an end that is further
/// away than a quantum lies in the past, so that this is wrong by a quantum at the most.
pub(crate) fn has_come(end: u32, bits: u32) -> bool {
    let left = end.wrapping_sub(clock::now()) & lowest(bits);
    MODEL || left == 0 || left > clock::ticks(QUANTUM)
}

fn lowest(bits: u32) -> u32 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn one_can_overtake_for_a_quantum_and_no_longer() {
        let (start, mut pace, mut times) = (Instant::now(), 0, 0_u32);
        loop {
            let is_last;
            (pace, is_last) = overtaken(pace);
            assert_eq!(pace >> BITS, 0);
            times += 1;
            if is_last {
                break;
            }
            // 32 at the most go by between two looks, and they take no time here.
            assert!(times < 1 << 30);
        }
        // But for the tick that had begun.
        assert!(times > FIRST_LOOK && start.elapsed() + Duration::from_micros(5) >= QUANTUM);
    }

    #[test]
    fn an_end_long_past_has_come() {
        for bits in [19, END_BITS] {
            let times = lowest(bits);
            let ago = |ticks: u32| clock::now().wrapping_sub(ticks) & times;
            let past = [0, 1, 1 << 10, times / 2, times / 2 + 1, times / 4 * 3];
            assert!(past.into_iter().all(|past| has_come(ago(past), bits)));
            assert!(!has_come(end_of_quantum(1, bits), bits));
        }
    }
}
