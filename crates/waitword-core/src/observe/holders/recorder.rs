//! The table of the process, the time in records, and the numbers of threads in them.

use std::cell::Cell;

use super::records::{Entry, FLAG_BITS, Records};
use crate::observe::notify_table::NOTIFIES;
use crate::observe::{Site, instant, now};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::thread::numbered;
use crate::time::Instant;

/// What every acquisition and every release looks at: one static, so that code in other crates looks for one address.
pub(super) struct Recorder {
    /// 0 while the switch is off. Otherwise the number of its turn, and the milliseconds since the first one.
    pub(super) now: AtomicU64,
    /// Whether there may be records, which releases have to erase.
    pub(super) erases: AtomicBool,
    pub(super) table: Records,
}

pub(super) static RECORDER: Recorder =
    Recorder { now: AtomicU64::new(0), erases: AtomicBool::new(false), table: Records::new() };

pub(super) static TABLE: &Records = &RECORDER.table;

/// How many acquisitions found no place in this turn.
pub(super) static UNRECORDED: AtomicU64 = AtomicU64::new(0);

/// Where the number of the turn begins in a time.
pub(super) const TURN_SHIFT: u32 = 40;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Stores the time. Under the lock of the switch.
pub(super) fn tick(turn: u64) {
    let elapsed = now() / NANOS_PER_MILLI;
    RECORDER.now.store(turn << TURN_SHIFT | (elapsed & ((1 << TURN_SHIFT) - 1)), Ordering::SeqCst);
}

/// The time as records have it; 0: the switch is off.
#[inline(always)]
pub(crate) fn record_time() -> u64 {
    RECORDER.now.load(Ordering::Relaxed)
}

/// What [`record_time`] says, if it was in this turn of the switch.
pub(crate) fn time_of_record(at: u64) -> Option<Instant> {
    let turn = record_time() >> TURN_SHIFT;
    if turn == at >> TURN_SHIFT { time(at) } else { None }
}

/// The number of this thread, by which [`numbered`] knows it.
pub(crate) fn recorded_thread() -> u64 {
    number() >> FLAG_BITS
}

/// The time in a record.
pub(super) fn time(since: u64) -> Option<Instant> {
    instant((since & ((1 << TURN_SHIFT) - 1)).saturating_mul(NANOS_PER_MILLI))
}

/// Where the lock with this word was taken by one that holds it, if that is recorded.
pub(crate) fn site_of(word: usize) -> Option<&'static Site> {
    recorded(word).next().map(|entry| entry.site)
}

/// The records of the lock with this word, of this turn of the switch.
pub(super) fn recorded(word: usize) -> impl Iterator<Item = Entry> {
    let turn = RECORDER.now.load(Ordering::Relaxed) >> TURN_SHIFT;
    TABLE.find(word, move |entry| turn != 0 && entry.since >> TURN_SHIFT == turn).map(|(_, entry)| entry)
}

thread_local! {
    /// The number of this thread, as in records: not given again.
    pub(super) static NUMBER: Cell<u64> = const { Cell::new(0) };
}

#[inline(always)]
pub(super) fn number() -> u64 {
    match NUMBER.get() {
        0 => new_number(),
        number => number,
    }
}

#[cold]
fn new_number() -> u64 {
    // A lock that is taken meanwhile, by an allocator, is one of an unknown thread.
    NUMBER.set(numbered::UNKNOWN << FLAG_BITS);
    let number = numbered::number_of_this_thread(is_recorded) << FLAG_BITS;
    NUMBER.set(number);
    number
}

/// Whether a record names the thread, of a holder or of a notifier.
fn is_recorded(number: u64) -> bool {
    TABLE.all().any(|entry| entry.who >> FLAG_BITS == number)
        || NOTIFIES.all().any(|kept| kept.thread == number)
}
