//! The table of the process, the time in records, what is asked of releases, and the numbers of threads.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Mutex;

use super::record::{Entry, FLAG_BITS, Record};
use super::records::{Block, Records};
use crate::observe::notify_table::NOTIFIES;
use crate::observe::{Site, instant, now};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::lock;
use crate::thread::numbered;
use crate::time::Instant;

/// 0 while the switch is off. Otherwise the number of its turn and the milliseconds since the first one, above the place of the flags; and
/// [`ALL`].
pub(super) static NOW: AtomicU64 = AtomicU64::new(0);

/// Whether there may be records, which releases have to erase.
pub(super) static ERASES: AtomicBool = AtomicBool::new(false);

pub(super) static TABLE: Records = Records::new();

/// How many acquisitions found no place in this turn.
pub(super) static UNRECORDED: AtomicU64 = AtomicU64::new(0);

/// Where the number of the turn begins in a time: the milliseconds last for 69 years.
pub(super) const TURN_SHIFT: u32 = FLAG_BITS + 41;

/// In a time: all acquisitions are to be told, to a trace or to a listener. It makes the time negative, so that one comparison asks for
/// this and for the switch.
pub(super) const ALL: u64 = 1 << 63;

const TURNS: u64 = ALL >> TURN_SHIFT;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// What is asked besides records.
struct Asked {
    /// Anything at all, of a release.
    of_releases: bool,
    /// All acquisitions are to be told.
    all: bool,
}

/// Its lock also serialises additions to the table, and stores of the time.
static ASKED: Mutex<Asked> = Mutex::new(Asked { of_releases: false, all: false });

/// Stores the time.
pub(super) fn tick(turn: u64) {
    let asked = lock(&ASKED);
    let elapsed = ((now() / NANOS_PER_MILLI) << FLAG_BITS) & ((1 << TURN_SHIFT) - 1);
    let turn = turn % (TURNS - 1) + 1;
    NOW.store(turn << TURN_SHIFT | elapsed | if asked.all { ALL } else { 0 }, Ordering::SeqCst);
}

/// There is no time any more.
pub(super) fn stop() {
    let _asked = lock(&ASKED);
    NOW.store(0, Ordering::SeqCst);
}

/// What is asked has changed: whether anything is, of releases, and whether all acquisitions are to be told.
pub(crate) fn ask_anew(now_asked: impl FnOnce() -> (bool, bool)) {
    let mut asked = lock(&ASKED);
    let (of_releases, all) = now_asked();
    *asked = Asked { of_releases, all };
    TABLE.set_asked(of_releases);
    match NOW.load(Ordering::Relaxed) {
        0 => {}
        now => NOW.store(now & !ALL | if all { ALL } else { 0 }, Ordering::SeqCst),
    }
}

/// More records for the thread with this number, a ring of its own.
#[cold]
pub(super) fn more_records(thread: u64, records: usize) -> &'static Block {
    let adopt = || {
        let asked = lock(&ASKED);
        TABLE.adopt(thread, asked.of_releases, records)
    };
    adopt().unwrap_or_else(|| {
        // Not under the lock: the allocator may be one that waits.
        let block = Box::new(Block::new(records));
        let asked = lock(&ASKED);
        TABLE.add(block, thread, asked.of_releases)
    })
}

/// Whether the switch is on. One load.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    NOW.load(Ordering::Relaxed) != 0
}

/// The time as records have it; 0: the switch is off.
#[inline(always)]
pub(crate) fn record_time() -> u64 {
    NOW.load(Ordering::Relaxed) & !ALL
}

/// What [`record_time`] says, if it was in this turn of the switch.
pub(crate) fn time_of_record(at: u64) -> Option<Instant> {
    let turn = record_time() >> TURN_SHIFT;
    if turn == at >> TURN_SHIFT { time(at) } else { None }
}

/// The number of this thread, by which [`numbered`] knows it.
pub(crate) fn recorded_thread() -> u64 {
    number()
}

/// The time in a record.
pub(super) fn time(since: u64) -> Option<Instant> {
    instant(((since & ((1 << TURN_SHIFT) - 1)) >> FLAG_BITS).saturating_mul(NANOS_PER_MILLI))
}

/// Where the lock with this word was taken by one that holds it, if that is recorded.
pub(crate) fn site_of(word: usize) -> Option<&'static Site> {
    recorded(word).map(|entry| entry.site).next()
}

/// The records of the lock with this word, of this turn of the switch.
pub(super) fn recorded(word: usize) -> impl Iterator<Item = Entry> {
    let turn = record_time() >> TURN_SHIFT;
    TABLE.find(word, move |entry| turn != 0 && entry.what >> TURN_SHIFT == turn).map(|(_, entry)| entry)
}

thread_local! {
    /// The number of this thread, which no other gets; 0: it has none yet.
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
    NUMBER.set(numbered::UNKNOWN);
    let number = numbered::number_of_this_thread(recorded_threads);
    NUMBER.set(number);
    number
}

/// The threads that records name, of holders and of notifiers.
fn recorded_threads() -> BTreeSet<u64> {
    let holders = TABLE.records().filter(|record| !record.is_free()).map(Record::thread);
    holders.chain(NOTIFIES.all().map(|kept| kept.thread)).collect()
}
