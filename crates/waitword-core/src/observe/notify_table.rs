//! The table of the last notifies, by the words of the objects.
//!
//! It is fixed. A slot belongs to the word that claimed it, until the object is dropped or the notify of another word displaces it,
//! which is counted. Several threads may notify one word at the same time, so a slot has a version, which is odd while one of them writes;
//! another one's notify of that moment is not kept: it is as good as simultaneous.
//!
//! ```text
//!   notifier                                reader
//!   ─────────────────────────────           ─────────────────────────────────────────
//!   version: 2n → 2n + 1       (claim)      version = 2n + 2, even       (acquire)
//!   fence                      (R)          the fields
//!   the fields                              fence                        (A)
//!   version ← 2n + 2           (P)          version = 2n + 2 still?  yes: one notify
//! ```
//! A field of a later notify is read together with that notify's odd version, by (R) and (A).

#![cfg_attr(
    not(any(waitword_loom, waitword_shuttle)),
    allow(unreachable_pub, reason = "public for the models")
)]

use std::cmp::Reverse;

use super::site::Site;
use super::site_ptr::AtomicSite;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use crate::sync::{MODEL, mutant, order};

/// So many words have a notify, each in a line of the cache of its own: 64 KiB, which no memory is behind until they are used.
const SLOTS: usize = if MODEL { 1 } else { 1024 };

/// In how many slots a word can be.
const PROBES: usize = if MODEL { 1 } else { 8 };

#[repr(align(64))]
#[derive(Debug)]
struct Slot {
    version: AtomicU64,
    word: AtomicUsize,
    at: AtomicU64,
    thread: AtomicU64,
    task: AtomicU64,
    site: AtomicSite,
    woken: AtomicUsize,
}

/// The table. There is one in the process; a model makes its own.
#[derive(Debug)]
pub struct NotifyTable([Slot; SLOTS]);

/// A notify, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The address of the object's word.
    pub word: usize,
    /// When, as records of holders have it: with the number of the switch's turn.
    pub at: u64,
    /// The number of the thread.
    pub thread: u64,
    /// The number of the task, and one; 0: none.
    pub task: u64,
    /// Where.
    pub site: &'static Site,
    /// How many waiters it woke.
    pub woken: usize,
}

macro_rules! new {
    () => {
        Slot {
            version: AtomicU64::new(0),
            word: AtomicUsize::new(0),
            at: AtomicU64::new(0),
            thread: AtomicU64::new(0),
            task: AtomicU64::new(0),
            site: AtomicSite::none(),
            woken: AtomicUsize::new(0),
        }
    };
}

/// The table of the process.
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
pub(crate) static NOTIFIES: NotifyTable = NotifyTable::new();

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
impl NotifyTable {
    pub(super) const fn new() -> Self {
        Self([const { new!() }; SLOTS])
    }
}

#[cfg(any(waitword_loom, waitword_shuttle))]
impl Default for NotifyTable {
    fn default() -> Self {
        Self(std::array::from_fn(|_| new!()))
    }
}

impl NotifyTable {
    fn slots(&self, word: usize) -> impl Iterator<Item = &Slot> {
        (0..PROBES).map(move |probe| &self.0[((word >> 3) + probe) % SLOTS])
    }

    fn find(&self, word: usize) -> Option<&Slot> {
        self.slots(word).find(|slot| slot.word.load(Ordering::Relaxed) == word)
    }

    /// Keeps it in place of the last one of its word. Counts what it displaces.
    pub fn keep(&self, kept: &Kept, lost: &AtomicU64) {
        if let Some(slot) = self.find(kept.word) {
            slot.write(kept.word, kept);
        } else if !self.slots(kept.word).any(|slot| slot.write(0, kept)) {
            let oldest = self.slots(kept.word).min_by_key(|slot| slot.at.load(Ordering::Relaxed));
            if let Some(oldest) = oldest {
                oldest.write(oldest.word.load(Ordering::Relaxed), kept);
            }
            // If it was not written, this one.
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The object with this word goes.
    pub fn forget(&self, word: usize) {
        self.slots(word).for_each(|slot| slot.forget(word));
    }

    /// The last notify of each word, of those that can be read whole.
    pub fn latest(&self) -> Vec<Kept> {
        let mut latest: Vec<Kept> = self.all().collect();
        // The youngest of each word first.
        latest.sort_by_key(|kept| (kept.word, Reverse(kept.at)));
        latest.dedup_by_key(|kept| kept.word);
        latest
    }

    /// All that can be read whole. Two that notify a word for the first time, both at once, have a slot each.
    pub fn all(&self) -> impl Iterator<Item = Kept> {
        self.0.iter().filter_map(Slot::read)
    }
}

impl Slot {
    /// Writes into the slot, if its word is `from` and nobody else writes.
    fn write(&self, from: usize, kept: &Kept) -> bool {
        let version = self.version.load(Ordering::Relaxed);
        if !version.is_multiple_of(2) || !self.begin(version) {
            return false;
        }
        let is_ours = self.word.load(Ordering::Relaxed) == from;
        if is_ours {
            fence(order!(Release, "notifies-write-fence" => Acquire)); // R
            self.word.store(kept.word, Ordering::Relaxed);
            self.at.store(kept.at, Ordering::Relaxed);
            self.thread.store(kept.thread, Ordering::Relaxed);
            self.task.store(kept.task, Ordering::Relaxed);
            self.site.store(Some(kept.site));
            self.woken.store(kept.woken, Ordering::Relaxed);
        }
        self.version.store(version + 2, order!(Release, "notifies-publish"));
        is_ours
    }

    fn begin(&self, version: u64) -> bool {
        self.version.compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Nobody notifies the object any more. So who writes into the slot just now displaces it.
    fn forget(&self, word: usize) {
        let version = self.version.load(Ordering::Relaxed);
        if version.is_multiple_of(2) && self.begin(version) {
            if self.word.load(Ordering::Relaxed) == word {
                self.word.store(0, Ordering::Relaxed);
            }
            self.version.store(version + 2, Ordering::Release);
        }
    }

    fn read(&self) -> Option<Kept> {
        let version = self.version.load(Ordering::Acquire);
        let kept = Kept {
            word: self.word.load(Ordering::Relaxed),
            at: self.at.load(Ordering::Relaxed),
            thread: self.thread.load(Ordering::Relaxed),
            task: self.task.load(Ordering::Relaxed),
            site: self.site.load()?,
            woken: self.woken.load(Ordering::Relaxed),
        };
        fence(order!(Acquire, "notifies-read-fence" => Release)); // A
        mutant!("notifies-recheck" => return (kept.word != 0).then_some(kept));
        let is_whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        (is_whole && kept.word != 0).then_some(kept)
    }
}

#[cfg(all(test, not(any(waitword_loom, waitword_shuttle))))]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[track_caller]
    fn kept(word: usize, at: u64) -> Kept {
        Kept { word, at, thread: at, task: at, site: std::panic::Location::caller(), woken: at as usize }
    }

    #[test]
    fn the_last_notify_of_each_word_is_kept_until_it_is_forgotten() {
        let (table, lost) = (NotifyTable::new(), AtomicU64::new(0));
        let (first, other, last) = (kept(64, 1), kept(72, 2), kept(64, 3));
        [first, other, last].iter().for_each(|kept| table.keep(kept, &lost));
        assert_eq!(table.all().collect::<Vec<_>>(), [last, other]);
        table.forget(64);
        assert_eq!(table.all().collect::<Vec<_>>(), [other]);
        assert_eq!(lost.into_inner(), 0);
    }

    #[test]
    fn of_words_that_find_no_slot_the_youngest_displaces_the_oldest_and_is_counted() {
        let (table, lost) = (NotifyTable::new(), AtomicU64::new(0));
        let word = |at: u64| 64 + at as usize * SLOTS * 8;
        let last = PROBES as u64 + 1;
        for at in 1..=last {
            table.keep(&kept(word(at), at), &lost);
        }
        let mut times: Vec<u64> = table.all().map(|kept| kept.at).collect();
        times.sort_unstable();
        assert_eq!(times, (2..=last).collect::<Vec<_>>());
        assert_eq!(lost.into_inner(), 1);
    }

    /// As two leave it that found no slot of the word, and claimed one each.
    #[test]
    fn of_two_slots_of_a_word_the_younger_notify_counts() {
        let table = NotifyTable::new();
        let slots: Vec<&Slot> = table.slots(64).take(2).collect();
        let (young, old) = (kept(64, 2), kept(64, 1));
        assert!(slots[0].write(0, &old) && slots[1].write(0, &young));
        assert_eq!(table.latest(), [young]);
        table.forget(64);
        assert_eq!(table.latest(), []);
    }

    #[test]
    fn a_reader_never_sees_parts_of_two_notifies() {
        let (table, lost, start) = (NotifyTable::new(), AtomicU64::new(0), Barrier::new(3));
        let write = |first: u64| {
            start.wait();
            (0..if cfg!(miri) { 50 } else { 50_000 })
                .for_each(|at| table.keep(&kept(64, first + 2 * at), &lost));
        };
        std::thread::scope(|scope| {
            let writers = [scope.spawn(|| write(1)), scope.spawn(|| write(2))];
            start.wait();
            while !writers.iter().all(|writer| writer.is_finished()) {
                for kept in table.all() {
                    assert!(kept.at == kept.thread && kept.at == kept.task && kept.at == kept.woken as u64);
                }
            }
        });
        let youngest = table.all().map(|kept| kept.at).max();
        assert_eq!(
            table.latest().iter().map(|kept| (kept.word, Some(kept.at))).collect::<Vec<_>>(),
            [(64, youngest)]
        );
    }
}
