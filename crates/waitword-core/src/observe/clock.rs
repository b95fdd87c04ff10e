//! The clock of the tickets: see [`observe`](super).

use crate::sync::OnceLock;
use crate::time::{Duration, Instant};
use std::sync::atomic::{AtomicBool, Ordering};

static RUNS: AtomicBool = AtomicBool::new(false);

/// A ticket counts units of 32 ns. With the 53 bits that a waiter keeps of it, they last for four years.
const UNIT_SHIFT: u32 = 5;

/// When the clock was first asked, or started.
static BEGINNING: OnceLock<Instant> = OnceLock::new();

/// From now on snapshots say since when a waiter is queued, of those that enqueue from now on. Each enqueue reads the clock: some
/// 20 to 40 ns, of waits alone.
pub fn start_clock() {
    begin_clock();
    RUNS.store(true, Ordering::Relaxed);
}

/// Lets time begin, for [`nanos`], if it has not. Enqueues read no clock before [`start_clock`].
pub fn begin_clock() {
    BEGINNING.get_or_init(Instant::now);
}

/// Enqueues read no clock any more.
pub fn stop_clock() {
    RUNS.store(false, Ordering::Relaxed);
}

/// The ticket of the waiter that enqueues next, behind one with the ticket `last`.
#[inline]
pub(crate) fn ticket_after(last: u64) -> u64 {
    let next = (last | 1) + 1;
    if RUNS.load(Ordering::Relaxed) { stamp().max(next) } else { next }
}

/// When the waiter with this ticket enqueued, if the ticket is a time.
pub(crate) fn time_of(ticket: u64) -> Option<Instant> {
    nanos_of(ticket).and_then(instant)
}

/// As [`time_of`], as [`nanos`] has it.
#[inline]
pub(crate) fn nanos_of(ticket: u64) -> Option<u64> {
    (ticket & 1 == 1).then_some(ticket >> 1 << UNIT_SHIFT)
}

/// The nanoseconds since the clock was first started; 0 if it never was.
#[inline]
pub fn nanos() -> u64 {
    BEGINNING.get().map_or(0, |beginning| beginning.elapsed().as_nanos() as u64)
}

/// The time of which [`nanos`] has this.
pub fn instant(nanos: u64) -> Option<Instant> {
    BEGINNING.get()?.checked_add(Duration::from_nanos(nanos))
}

/// What [`nanos`] has of this time.
pub fn nanos_at(time: Instant) -> u64 {
    BEGINNING.get().map_or(0, |beginning| time.saturating_duration_since(*beginning).as_nanos() as u64)
}

#[cold]
fn stamp() -> u64 {
    nanos() >> UNIT_SHIFT << 1 | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_rise_and_tell_whether_they_are_times() {
        let mut last = 0;
        let mut next = || {
            let ticket = ticket_after(last);
            assert!(ticket > last);
            last = ticket;
            ticket
        };
        assert_eq!(time_of(next()), None);
        let start = Instant::now();
        start_clock();
        let seen = time_of(next()).expect("the clock runs");
        assert!(start <= seen && seen <= Instant::now());
        stop_clock();
        assert_eq!(time_of(next()), None);
    }
}
