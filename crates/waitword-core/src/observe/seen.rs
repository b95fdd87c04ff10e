//! What a snapshot tells of a waiter, and the clock behind the tickets: see [`observe`](super).

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::Thread;

use super::origin::{Site, WaitsFor};
use crate::sync::OnceLock;
use crate::time::{Duration, Instant};

/// Whether a waiter has been signalled, and responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaiterState {
    /// Not signalled: it waits for its turn.
    Queued,
    /// Signalled, and has not run since: its thread has not been scheduled, or its task has not been polled.
    Signalled,
    /// Signalled before the last pass of the watchdog, and has not run since.
    Overdue,
    /// As [`Overdue`](Self::Overdue), one more pass later: the waiters behind it are signalled in its place. A task that stays in this
    /// state is a futurelock.
    Skipped,
}

/// A thread, a task or an agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Actor {
    /// A blocked thread.
    Thread(Thread),
    /// A task, by the data pointer of its waker: the same in each poll with most executors.
    Task(usize),
    /// A task, by the number that it had when it acquired a lock (`identify`). For holders only: a waiter's task is known by its waker
    /// (`task_number`).
    Identified(u64),
    /// An agent, by the address of its inbox.
    Agent(usize),
}

/// A waiter, as a snapshot saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WaiterSeen {
    /// The address of the word in whose queue it is.
    pub word: usize,
    /// How many waiters of that word were before it.
    pub position: usize,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Where the wait began. `None` for a script's, and for a wait of a library that was loaded at run time more than 2 GiB
    /// away from this crate.
    pub site: Option<&'static Site>,
    /// When it enqueued. `None` if the clock did not run then (`start_clock`).
    pub since: Option<Instant>,
    /// Whether the wait has a deadline. `None` for a script's.
    pub timed: Option<bool>,
    /// Its thread, task or agent.
    pub actor: Actor,
    /// The token of an agent's wait (`InboxWait::token`); `None` for all others.
    pub token: Option<usize>,
    /// Whether it was signalled.
    pub state: WaiterState,
    /// Whether an earlier snapshot has seen it signalled, and it has not run since then.
    pub was_seen_so: bool,
}

/// What a snapshot copies of a waiter under the lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) word: usize,
    pub(crate) ticket: u64,
    pub(crate) waits_for: WaitsFor,
    pub(crate) site: Option<&'static Site>,
    pub(crate) is_timed: bool,
    pub(crate) who: usize,
    /// For an agent's wait.
    pub(crate) token: Option<usize>,
    pub(crate) state: WaiterState,
    /// An earlier copy found it signalled, and it has not run since.
    pub(crate) was_seen_so: bool,
    /// Its owner still holds a lock that it will release, and does not wait before that.
    pub(crate) releases: bool,
}

/// What an enqueue has to do besides. Usually nothing.
static EXTRAS: AtomicU8 = AtomicU8::new(0);

/// In [`extras`]: the clock runs.
pub(crate) const CLOCK: u8 = 1;

/// In [`extras`]: a pass of the watchdog is due that could not be set up, because the timer had no thread for it, or in a forked child.
pub(crate) const PASS: u8 = 1 << 1;

/// What the next enqueue has to do besides. One load.
#[inline(always)]
pub(crate) fn extras() -> u8 {
    EXTRAS.load(Ordering::Relaxed)
}

/// Sets whether enqueues have to do this from now on.
pub(crate) fn set_extra(extra: u8, is_due: bool) {
    if is_due {
        EXTRAS.fetch_or(extra, Ordering::SeqCst)
    } else {
        EXTRAS.fetch_and(!extra, Ordering::SeqCst)
    };
}

/// A ticket counts units of 32 ns, above the bit that says that it is a time.
const UNIT_SHIFT: u32 = 5;

/// For how many years the clock can run before tickets wrap, if a waiter stores this many `bits` of its ticket.
pub(crate) const fn years_of_tickets(bits: u32) -> u64 {
    const NANOS_PER_YEAR: u64 = 366 * 24 * 3600 * 1_000_000_000;
    (1 << (bits - 1 + UNIT_SHIFT)) / NANOS_PER_YEAR
}

/// The origin of [`nanos`]: when the clock was first begun or started.
static BEGINNING: OnceLock<Instant> = OnceLock::new();

/// Starts the clock, so that snapshots tell since when a waiter is queued, for waiters that enqueue from now on.
///
/// Each enqueue then reads the clock, which takes some 20 to 40 ns. Acquisitions that need not wait cost no more than before.
pub fn start_clock() {
    begin_clock();
    set_extra(CLOCK, true);
}

/// Sets the origin of [`nanos`], if it is not set yet. Enqueues read no clock before [`start_clock`].
pub fn begin_clock() {
    BEGINNING.get_or_init(Instant::now);
}

/// Stops the clock: enqueues no longer read it.
pub fn stop_clock() {
    set_extra(CLOCK, false);
}

/// The ticket of the waiter that enqueues next, behind one with the ticket `last`, if the ticket is not a time.
#[inline(always)]
pub(crate) fn ticket_after(last: u64) -> u64 {
    (last | 1) + 1
}

/// A ticket that is the time.
pub(crate) fn ticket_now() -> u64 {
    nanos() >> UNIT_SHIFT << 1 | 1
}

/// When the waiter with this ticket enqueued, if the ticket is a time.
pub(crate) fn time_of(ticket: u64) -> Option<Instant> {
    nanos_of(ticket).and_then(instant)
}

/// As [`time_of`], in [`nanos`].
#[inline]
pub(crate) fn nanos_of(ticket: u64) -> Option<u64> {
    (ticket & 1 == 1).then_some(ticket >> 1 << UNIT_SHIFT)
}

/// Returns the nanoseconds since the clock was first started; 0 if it never was.
#[inline]
pub fn nanos() -> u64 {
    BEGINNING.get().map_or(0, |beginning| beginning.elapsed().as_nanos() as u64)
}

/// Returns the instant of a time that [`nanos`](nanos()) returned.
pub fn instant(nanos: u64) -> Option<Instant> {
    BEGINNING.get()?.checked_add(Duration::from_nanos(nanos))
}

/// Returns what [`nanos`] would have returned at `time`.
pub fn nanos_at(time: Instant) -> u64 {
    BEGINNING.get().map_or(0, |beginning| time.saturating_duration_since(*beginning).as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_rise_and_tell_whether_they_are_times() {
        let mut last = 0;
        let mut next = || {
            let next = ticket_after(last);
            let ticket = if extras() & CLOCK != 0 { ticket_now().max(next) } else { next };
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
