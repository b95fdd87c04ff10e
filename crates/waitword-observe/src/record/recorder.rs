//! The table of the process, the time in records, and the numbers of threads.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use std::thread::Thread;

use waitword_core::lock;
use waitword_core::observe::{Site, instant, nanos};
use waitword_core::time::Instant;

use super::record::{Entry, FLAG_BITS, Record};
use super::records::Records;
use super::threads;
use crate::sync::atomic::{AtomicU64, Ordering};

/// 0 while the switch is off. Otherwise the number of its turn and the milliseconds since the first one, above the place of the flags.
static NOW: AtomicU64 = AtomicU64::new(0);

pub(crate) static TABLE: Records = Records::new();

/// How many acquisitions found no place in this turn.
pub(crate) static UNRECORDED: AtomicU64 = AtomicU64::new(0);

/// Where the number of the turn begins in a time: the milliseconds last for 69 years.
pub(crate) const TURN_SHIFT: u32 = FLAG_BITS + 41;

const TURNS: u64 = 1 << (u64::BITS - TURN_SHIFT);

const NANOS_PER_MILLI: u64 = 1_000_000;

/// The switch.
#[derive(Default)]
pub(crate) struct Switch {
    pub(crate) turns: u64,
    pub(crate) is_on: bool,
    /// The thread that tells the time runs.
    pub(crate) ticks: bool,
    pub(crate) began: Option<Instant>,
}

static SWITCH: Mutex<Switch> = Mutex::new(Switch { turns: 0, is_on: false, ticks: false, began: None });

pub(crate) fn switch() -> MutexGuard<'static, Switch> {
    lock(&SWITCH)
}

/// Stores the time. For the one that has the switch.
pub(crate) fn tick(turn: u64) {
    let elapsed = ((nanos() / NANOS_PER_MILLI) << FLAG_BITS) & ((1 << TURN_SHIFT) - 1);
    let turn = turn % (TURNS - 1) + 1;
    NOW.store(turn << TURN_SHIFT | elapsed, Ordering::SeqCst);
}

/// There is no time any more. For the one that has the switch.
pub(crate) fn stop() {
    NOW.store(0, Ordering::SeqCst);
}

/// The time as records have it; 0: the switch is off.
#[inline(always)]
pub(crate) fn record_time() -> u64 {
    NOW.load(Ordering::Relaxed)
}

/// What [`record_time`] says, if it was in this turn of the switch.
pub(crate) fn time_of_record(at: u64) -> Option<Instant> {
    let turn = record_time() >> TURN_SHIFT;
    if turn == at >> TURN_SHIFT { time(at) } else { None }
}

/// The time in a record.
pub(crate) fn time(since: u64) -> Option<Instant> {
    instant(((since & ((1 << TURN_SHIFT) - 1)) >> FLAG_BITS).saturating_mul(NANOS_PER_MILLI))
}

/// Where the lock with this word was taken by one that holds it, if that is recorded.
pub(crate) fn site_of(word: usize) -> Option<&'static Site> {
    recorded(word).map(|entry| entry.site).next()
}

/// The records of the lock with this word, of this turn of the switch.
pub(crate) fn recorded(word: usize) -> impl Iterator<Item = Entry> {
    let turn = record_time() >> TURN_SHIFT;
    TABLE.find(word, move |entry| turn != 0 && entry.what >> TURN_SHIFT == turn).map(|(_, entry)| entry)
}

thread_local! {
    /// The number of this thread, which no other gets; 0: it has none yet.
    pub(crate) static NUMBER: Cell<u64> = const { Cell::new(0) };
}

#[inline(always)]
pub(crate) fn number() -> u64 {
    match NUMBER.get() {
        0 => new_number(),
        number => number,
    }
}

/// The calling thread, if it is not about to end.
pub(crate) fn this_thread() -> Option<Thread> {
    number();
    threads::this()
}

#[cold]
fn new_number() -> u64 {
    // A lock that is taken meanwhile, by an allocator, is one of an unknown thread.
    NUMBER.set(threads::UNKNOWN);
    let number = threads::number_of_this_thread(recorded_threads);
    NUMBER.set(number);
    number
}

/// The threads that records name.
fn recorded_threads() -> BTreeSet<u64> {
    TABLE.records().filter(|record| !record.is_free()).map(Record::thread).collect()
}
