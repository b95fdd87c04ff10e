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
/// Long enough that the change of threads at its end, some 10 µs of CPU, is a few percent of it; short enough that fourteen
/// in line have their turn in 3 ms.
const QUANTUM: Duration = Duration::from_micros(200);

/// The clock is not read before it has been overtaken so often, and then each time that the number has doubled, or gone on by
/// 32.
const FIRST_LOOK: u32 = if MODEL { 1 } else { 4 };

/// The lowest bits count. The others are the lowest of a time in ticks, after which nobody may overtake any more.
const COUNT_BITS: u32 = 6;
const TIMES: u32 = (1 << (BITS - COUNT_BITS)) - 1;

/// The bits after one more has overtaken, and whether that was the last one who may.
pub(crate) fn overtaken(pace: u32) -> (u32, bool) {
    let (count, end) = (pace & ((1 << COUNT_BITS) - 1), pace >> COUNT_BITS);
    let count = match count + 1 {
        64 => 32,
        count => count,
    };
    if count == FIRST_LOOK {
        let end = clock::now().wrapping_add(clock::ticks(QUANTUM)) & TIMES;
        return (end << COUNT_BITS | count, false);
    }
    let looks = count > FIRST_LOOK && count.is_power_of_two();
    (end << COUNT_BITS | count, looks && has_come(end))
}

/// Whether the end of a quantum has come. Times come round again every 17 s; but an end that is further away than a quantum
/// lies in the past, so that this is wrong by a quantum at the most.
fn has_come(end: u32) -> bool {
    let left = end.wrapping_sub(clock::now()) & TIMES;
    MODEL || left == 0 || left > clock::ticks(QUANTUM)
}

#[cfg(all(test, not(any(loom, shuttle))))]
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
        let ticks = |ticks: u32| clock::now().wrapping_sub(ticks) & TIMES;
        assert!(
            [0, 1, 1 << 10, TIMES / 2, TIMES / 2 + 1, TIMES / 4 * 3]
                .into_iter()
                .all(|past| has_come(ticks(past)))
        );
        assert!(!has_come(clock::now().wrapping_add(clock::ticks(QUANTUM)) & TIMES));
    }
}
