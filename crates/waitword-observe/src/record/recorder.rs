//! What records need beside themselves: the time, the numbers of threads, and the release that is under way.
//!
//! Each thread that has held a lock while holders were recorded has a number, which is never reused. The number of a thread that has ended is
//! kept as long as a record has it. Its shelf is reused by another thread.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};

use waitword_core::lock;
use waitword_core::observe::{Site, instant, nanos};
use waitword_core::time::Instant;

use super::record::{Entry, FLAG_BITS};
use super::table::{self, COMMON, HERE, SHELVES, UNKNOWN};
use crate::sync::atomic::{AtomicU64, Ordering};

/// 0 while the switch is off. Otherwise the number of its turn and the milliseconds since the first one, above the bits of the flags.
static NOW: AtomicU64 = AtomicU64::new(0);

/// How many acquisitions found no free record in this turn.
pub(crate) static UNRECORDED: AtomicU64 = AtomicU64::new(0);

/// The bit where the turn's number begins in a time. The milliseconds below it last for 69 years.
const TURN_SHIFT: u32 = FLAG_BITS + 41;

const TURNS: u64 = 1 << (u64::BITS - TURN_SHIFT);

const NANOS_PER_MILLI: u64 = 1_000_000;

#[derive(Default)]
pub(crate) struct Switch {
    pub(crate) turns: u64,
    pub(crate) is_on: bool,
    /// Whether the thread that stores the time runs.
    pub(crate) ticks: bool,
    pub(crate) began: Option<Instant>,
}

static SWITCH: Mutex<Switch> = Mutex::new(Switch { turns: 0, is_on: false, ticks: false, began: None });

pub(crate) fn switch() -> MutexGuard<'static, Switch> {
    lock(&SWITCH)
}

/// Stores the time. To be called with the switch locked.
pub(crate) fn tick(turn: u64) {
    let elapsed = ((nanos() / NANOS_PER_MILLI) << FLAG_BITS) & ((1 << TURN_SHIFT) - 1);
    let turn = turn % (TURNS - 1) + 1;
    NOW.store(turn << TURN_SHIFT | elapsed, Ordering::SeqCst);
}

/// Stops the time. To be called with the switch locked.
pub(crate) fn stop() {
    NOW.store(0, Ordering::SeqCst);
}

/// The time as stored in records; 0: the switch is off.
#[inline(always)]
pub(crate) fn record_time() -> u64 {
    NOW.load(Ordering::Relaxed)
}

/// The time of what [`record_time`] returned, if that was in this turn of the switch.
pub(crate) fn time_of_record(at: u64) -> Option<Instant> {
    if is_of_this_turn(at) { time(at) } else { None }
}

pub(crate) fn is_of_this_turn(at: u64) -> bool {
    let now = record_time();
    now != 0 && now >> TURN_SHIFT == at >> TURN_SHIFT
}

/// The time of what [`record_time`] returned.
pub(crate) fn time(at: u64) -> Option<Instant> {
    instant(((at & ((1 << TURN_SHIFT) - 1)) >> FLAG_BITS).saturating_mul(NANOS_PER_MILLI))
}

/// The records of the lock with this word, of this turn of the switch.
pub(crate) fn recorded(word: usize) -> impl Iterator<Item = Entry> {
    table::of_word(word).map(|(_, entry)| entry).filter(|entry| is_of_this_turn(entry.at))
}

#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub(crate) thread: Thread,
    /// When it ended, if it has.
    pub(crate) ended: Option<Instant>,
}

struct Numbers {
    by_number: BTreeMap<u64, Numbered>,
    last: u64,
    /// Which shelves have no thread.
    are_free: [bool; SHELVES],
    /// How many threads have ended since unused numbers were last removed, and how many may end before they are removed again.
    ended: usize,
    most_ended: usize,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers::new());

/// How many threads that have ended are kept, whether or not they left a lock held. More are kept if records have more.
const ENDED: usize = 64;

impl Numbers {
    const fn new() -> Self {
        let mut are_free = [true; SHELVES];
        are_free[COMMON] = false;
        Self { by_number: BTreeMap::new(), last: UNKNOWN, are_free, ended: 0, most_ended: ENDED }
    }

    /// A number and a shelf for one more thread. `recorded` is called again only after as many threads have ended as are kept. So the cost of
    /// a thread does not grow with the number of threads that are recorded for ever.
    fn add(&mut self, thread: Thread, recorded: impl FnOnce() -> BTreeSet<u64>) -> (u64, usize) {
        if self.ended >= self.most_ended {
            let recorded = recorded();
            self.by_number.retain(|number, numbered| numbered.ended.is_none() || recorded.contains(number));
            (self.ended, self.most_ended) = (0, self.by_number.len().max(ENDED));
        }
        self.last += 1;
        self.by_number.insert(self.last, Numbered { thread, ended: None });
        let shelf = self.are_free.iter().position(|is_free| *is_free).unwrap_or(COMMON);
        self.are_free[shelf] = false;
        (self.last, shelf)
    }

    fn end(&mut self, number: u64, shelf: usize) {
        self.are_free[shelf] = shelf != COMMON;
        if let Some(numbered) = self.by_number.get_mut(&number) {
            numbered.ended = Some(Instant::now());
            self.ended += 1;
        }
    }
}

/// The number of a thread. Its destructor marks the number as that of a thread that has ended.
struct This(OnceCell<(u64, usize, Thread)>);

/// Thread-locals that are destroyed later may still acquire locks, under the same number.
impl Drop for This {
    fn drop(&mut self) {
        if let Some(&(number, shelf, _)) = self.0.get() {
            HERE.with(|here| here.set(number, COMMON));
            lock(&NUMBERS).end(number, shelf);
        }
    }
}

thread_local!(static THIS: This = const { This(OnceCell::new()) });

/// The number of the calling thread.
#[inline(always)]
pub(crate) fn number() -> u64 {
    match HERE.with(|here| here.number.get()) {
        0 => new_number(),
        number => number,
    }
}

/// The calling thread, if it is not about to end.
pub(crate) fn this_thread() -> Option<Thread> {
    number();
    THIS.try_with(|this| this.0.get().map(|(.., thread)| thread.clone())).ok()?
}

#[cold]
fn new_number() -> u64 {
    let recorded = || table::all().map(|(_, entry)| entry.thread).collect();
    let add = || {
        let thread = thread::current();
        let (number, shelf) = lock(&NUMBERS).add(thread.clone(), recorded);
        (number, shelf, thread)
    };
    let of_this = |this: &This| {
        let &(number, shelf, _) = this.0.get_or_init(add);
        (number, shelf)
    };
    // In a destructor of another thread-local, this one may be destroyed already.
    let (number, shelf) = table::as_unknown(|| THIS.try_with(of_this)).unwrap_or((UNKNOWN, COMMON));
    HERE.with(|here| here.set(number, shelf));
    number
}

/// The thread with this number, if it is kept.
pub(crate) fn numbered(number: u64) -> Option<Numbered> {
    lock(&NUMBERS).by_number.get(&number).cloned()
}

/// What is known about a hold that ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Release {
    /// Where the lock was acquired.
    pub site: Option<&'static Site>,
    /// When it was acquired.
    pub since: Option<Instant>,
    /// The data pointer of the waker of the task that acquired it; `None`: a thread.
    pub task: Option<usize>,
}

thread_local! {
    /// A release that is under way. Its record is erased before the release, because the next holder may write its own right after it.
    /// Whether others wait is known only after the release. Until then this thread keeps what the holder may be charged with.
    static UNDER_WAY: Cell<Option<(usize, Release)>> = const { Cell::new(None) };
}

/// What is known about this thread's last release, if it released this word.
pub(crate) fn release_under_way(word: usize) -> Release {
    UNDER_WAY.take().filter(|(noted, _)| *noted == word).map(|(_, release)| release).unwrap_or_default()
}

/// This thread is about to release the lock with the word at this address.
pub fn note_release(word: usize, release: Release) {
    UNDER_WAY.set(Some((word, release)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of them leaves a guard that nobody drops.
    #[test]
    fn those_that_are_kept_for_ever_are_not_looked_through_for_each_that_ends() {
        let (mut numbers, mut looked_at) = (Numbers::new(), 0);
        for _ in 0..10_000 {
            let last = numbers.last;
            let (number, shelf) = numbers.add(thread::current(), || {
                looked_at += last;
                (0..=last).collect()
            });
            numbers.end(number, shelf);
        }
        assert_eq!(numbers.by_number.len(), 10_000);
        assert!(looked_at < 3 * 10_000, "{looked_at}");
        // Those that no record names are forgotten all the same.
        for _ in 0..10_001 {
            let (number, shelf) = numbers.add(thread::current(), BTreeSet::new);
            numbers.end(number, shelf);
        }
        assert!(numbers.by_number.len() <= 10_000, "{}", numbers.by_number.len());
    }
}
