//! The table of records: who holds which word. Nothing in it is allocated, and nobody waits.
//!
//! A record is claimed by a compare-and-swap on its word, and freed by a store. Between, it belongs to the hold that claimed it: nobody
//! else writes to it. A snapshot only reads, so it may see a record that is being written, or that changes while it is read:
//!
//! ```text
//!   holder                                        snapshot
//!   ──────────────────────────────────            ──────────────────────────────────────
//!   word: 0 → W                         (claim)   word = W, who = X     (acquire)
//!   fence                               (R)       since, site, task, number, permits
//!   since, site, task, number, permits            fence                 (A)
//!   who ← X                             (P)       who = X still, word = W still?
//!   ...                                           yes: one record. no: none
//!   who ← 0; word ← 0                   (free)
//! ```
//! A record is whole while `who` is not 0: it is stored last (P) and taken away first. If the snapshot has read a field of a later hold,
//! the fences (R) and (A) make it see that `who` was 0 in between, or is another now. (The same thread may hold the word again by
//! then, from another line. The snapshot may say that line with the time of the first hold: who holds it is true either way.)
//!
//! A word's records are in the [`PROBES`] places from its home on. If all of these are taken, the hold is not recorded, and counted.

#![cfg_attr(
    not(any(waitword_loom, waitword_shuttle)),
    allow(unreachable_pub, reason = "public for the models")
)]

use crate::observe::Site;
use crate::sync::MODEL;
use crate::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use crate::sync::{mutant, order};

/// How many records there are, each in a line of the cache of its own: 128 KiB, which no memory is behind until they are used.
pub(super) const RECORDS: usize = if MODEL { 2 } else { 2048 };

/// In how many places the record of a word can be.
const PROBES: usize = if MODEL { 2 } else { 16 };

/// The bits of `who` that are not the thread's number.
pub(super) const FLAGS: u64 = (1 << FLAG_BITS) - 1;
pub(super) const FLAG_BITS: u32 = 8;
/// What is held: see [`Hold`](super::hold::Hold).
pub(super) const HOLD: u64 = 7;
/// A task acquired it, polled by the thread.
pub(super) const TASK: u64 = 1 << 3;
/// The guard may be with another than the one that acquired it.
pub(super) const ELSEWHERE: u64 = 1 << 4;
/// Nothing releases it any more.
pub(super) const FORGOTTEN: u64 = 1 << 5;
/// No other thread can poll the task.
pub(super) const ALONE: u64 = 1 << 6;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address that is held.
    pub word: usize,
    /// The number of the thread, and flags; never 0.
    pub who: u64,
    /// The time, with the number of the switch's turn.
    pub since: u64,
    /// Where it was acquired.
    pub site: &'static Site,
    /// The identity of the task, if it was acquired by one.
    pub task: usize,
    /// The number of the task, and one; 0: none.
    pub number: u64,
    /// How many permits of a semaphore.
    pub permits: usize,
}

#[derive(Debug)]
#[repr(align(64))]
struct Record {
    word: AtomicUsize,
    who: AtomicU64,
    since: AtomicU64,
    site: AtomicPtr<Site>,
    task: AtomicUsize,
    number: AtomicU64,
    permits: AtomicUsize,
}

/// The table. There is one in the process; a model makes its own.
#[derive(Debug)]
pub struct Records([Record; RECORDS]);

macro_rules! new {
    () => {
        Record {
            word: AtomicUsize::new(0),
            who: AtomicU64::new(0),
            since: AtomicU64::new(0),
            site: AtomicPtr::new(std::ptr::null_mut()),
            task: AtomicUsize::new(0),
            number: AtomicU64::new(0),
            permits: AtomicUsize::new(0),
        }
    };
}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
impl Records {
    pub(super) const fn new() -> Self {
        Self([const { new!() }; RECORDS])
    }
}

#[cfg(any(waitword_loom, waitword_shuttle))]
impl Default for Records {
    fn default() -> Self {
        Self(std::array::from_fn(|_| new!()))
    }
}

impl Record {
    /// Claims it, if it is free.
    #[inline(always)]
    fn take_for(&self, word: usize) -> bool {
        self.word.compare_exchange(0, word, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Fills a record that was claimed.
    #[inline(always)]
    fn fill(&self, since: u64, site: &'static Site, who: u64) {
        mutant!("holders-fence" => return self.publish(since, site, who));
        fence(Ordering::Release);
        self.publish(since, site, who);
    }

    #[inline(always)]
    fn publish(&self, since: u64, site: &'static Site, who: u64) {
        self.since.store(since, Ordering::Relaxed);
        self.site.store(std::ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
        self.who.store(who, order!(Release, "holders-publish"));
    }

    fn read(&self) -> Option<Entry> {
        let [word, who] = [self.word.load(Ordering::Acquire) as u64, self.who.load(Ordering::Acquire)];
        if word == 0 || who == 0 {
            return None;
        }
        let (since, site) = (self.since.load(Ordering::Relaxed), self.site.load(Ordering::Relaxed));
        let (task, number) = (self.task.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed));
        let permits = self.permits.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        #[cfg_attr(not(any(waitword_loom, waitword_shuttle)), expect(unused_mut, reason = "for the mutant"))]
        let mut same =
            [self.word.load(Ordering::Relaxed) as u64, self.who.load(Ordering::Relaxed)] == [word, who];
        mutant!("holders-recheck" => same = true);
        // SAFETY: null, or stored by `fill` from a reference that is good for ever; whichever of these stores this is.
        let site = unsafe { site.as_ref() }?;
        same.then_some(Entry { word: word as usize, who, since, site, task, number, permits })
    }
}

/// The place where the record of a word is, if nothing collides. Two instructions: words in one array are neighbours here.
#[inline(always)]
fn home(word: usize) -> usize {
    (word >> 2) % RECORDS
}

fn places(word: usize) -> impl Iterator<Item = usize> {
    (0..PROBES).map(move |probe| (home(word) + probe) % RECORDS)
}

impl Records {
    /// Records a hold at the home of its word. Returns its place, or `None` if that is taken.
    #[inline(always)]
    pub fn claim(&self, word: usize, since: u64, site: &'static Site, who: u64) -> Option<usize> {
        let at = home(word);
        if !self.0[at].take_for(word) {
            return None;
        }
        self.0[at].fill(since, site, who);
        Some(at)
    }

    /// As [`claim`](Self::claim), of so many permits.
    #[inline(always)]
    pub(super) fn claim_permits(
        &self,
        word: usize,
        since: u64,
        site: &'static Site,
        who: u64,
        permits: usize,
    ) -> Option<usize> {
        let at = home(word);
        if !self.0[at].take_for(word) {
            return None;
        }
        fence(Ordering::Release);
        self.0[at].permits.store(permits, Ordering::Relaxed);
        self.0[at].fill(since, site, who);
        Some(at)
    }

    /// As [`claim`](Self::claim), if its home is taken.
    pub fn claim_elsewhere(&self, word: usize, since: u64, site: &'static Site, who: u64) -> Option<usize> {
        let at = places(word).find(|&at| self.0[at].take_for(word))?;
        self.0[at].fill(since, site, who);
        Some(at)
    }

    /// As [`claim`](Self::claim), with what only tasks and permits have.
    pub(super) fn claim_with(
        &self,
        word: usize,
        since: u64,
        site: &'static Site,
        who: u64,
        (task, number): (usize, u64),
        permits: usize,
    ) -> Option<usize> {
        let at = places(word).find(|&at| self.0[at].take_for(word))?;
        fence(Ordering::Release);
        self.0[at].task.store(task, Ordering::Relaxed);
        self.0[at].number.store(number, Ordering::Relaxed);
        self.0[at].permits.store(permits, Ordering::Relaxed);
        self.0[at].fill(since, site, who);
        Some(at)
    }

    /// Erases the record of a word that has one at most, if it is at its home.
    #[inline(always)]
    pub fn free_at_home(&self, word: usize) -> bool {
        let is_there = self.0[home(word)].word.load(Ordering::Relaxed) == word;
        if is_there {
            self.free(home(word));
        }
        is_there
    }

    /// Erases a record that others may erase, too. Returns whether this did.
    pub(super) fn take(&self, at: usize, who: u64) -> bool {
        let is_mine = self.0[at].who.compare_exchange(who, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_mine {
            self.free(at);
        }
        is_mine
    }

    /// Erases a record of the caller's.
    #[inline(always)]
    pub fn free(&self, at: usize) {
        self.0[at].who.store(0, Ordering::Relaxed);
        self.0[at].word.store(0, Ordering::Release);
    }

    /// The places of the records of `word` that `is_wanted` picks.
    pub(super) fn find(
        &self,
        word: usize,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> impl Iterator<Item = (usize, Entry)> {
        let entries = places(word).filter_map(|at| Some((at, self.0[at].read()?)));
        entries.filter(move |(_, entry)| entry.word == word && is_wanted(entry))
    }

    /// The record at a place.
    pub(super) fn at(&self, at: usize) -> Option<Entry> {
        self.0.get(at)?.read()
    }

    /// Changes the record of a hold that goes on in another way, or the flags of it.
    pub(super) fn change(&self, at: usize, who: u64) {
        self.0[at].who.store(who, Ordering::Release);
    }

    /// Changes how many permits the record of a hold stands for.
    pub(super) fn set_permits(&self, at: usize, permits: usize) {
        self.0[at].permits.store(permits, Ordering::Relaxed);
    }

    /// All that can be read whole.
    pub fn all(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().filter_map(Record::read)
    }

    /// Whether nothing is held that is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|record| record.word.load(Ordering::Relaxed) == 0)
    }
}
