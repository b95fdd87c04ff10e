//! The records: who holds which word. Writing one never waits.
//!
//! Each thread has a ring of records of its own (`own.rs`), which it alone claims, so by plain stores. The thread that releases the lock
//! frees the record by one store. A snapshot may see a record that is being written, or that changes while it is read. Broken, as the
//! record may be claimed for the same word again, in the same 10 ms:
//!
//! ```text
//!   its thread                                     snapshot
//!   ─────────────────────────────────────────      ─────────────────────────────────────────
//!   word ← W, what ← X, site ← S                   word = W, what = X
//!   word ← 0;  word ← V, what ← Y, site ← T        site = T
//!   word ← 0;  word ← W, what ← X, site ← S        word = W, what = X, as before: W was held at T
//! ```
//! *Mended:* the reader marks the word first. Whatever becomes of the record, the mark is gone by then.
//! ```text
//!   its thread                              releaser                snapshot
//!   ───────────────────────────────         ──────────────────      ─────────────────────────────────────────
//!   word = 0                (acquire)
//!   fence                   (R)
//!   what, site, task, ...                                           word: W → W marked            (acquire)
//!   word ← W                (P)                                     what, thread, site, task, ...
//!   ...                                     word ← 0                fence                         (A)
//!                                           (release)               word: W marked → W?
//!                                                                   yes: one record. no: none
//! ```
//! A record is whole while its word is not 0: the word is stored last (P). If the snapshot has read a field of a later hold, the fences (R)
//! and (A) make it see that the word was 0 in between: the mark is gone, and nobody else sets one, since records are read one at a time
//! (`records.rs`). A word is at an even address, so the mark is its lowest bit.
//!
//! The mark stays. A reader that finds a marked word reads the same hold as the reader before it, and that hold lasted all the time
//! between: so snapshots number the holds, and the same number means the same hold. The time of a record does not tell: a mutex may be
//! released and acquired again in the same 10 ms. A hold that changes its mode loses its mark as well.
//! ```text
//!   snapshot 1                    guard's owner                       snapshot 2
//!   ────────────────────────      ─────────────────────────────       ─────────────────────────────────────────
//!   W → W marked: number 1        what ← Write
//!                                 W marked → W          (U)
//!                                 what ← Upgradable; W → W            as before, but W has no mark: number 2
//! ```
//! A reader that sees the second `what` sees that the mark was gone (U), since the holder of the guard releases both.
//!
//! Invariant R1: each [`RecordRef`], and each `next`, points to a record that lives for ever.

use std::ptr::NonNull;

use waitword::observe::holders::{Hold, HoldId};
use waitword_core::observe::Site;

use crate::site_ptr::AtomicSite;
use crate::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use crate::sync::{MODEL, mutant, order};

/// The word of a record that is being written.
const WRITTEN: usize = 1;

/// In the word of a record that is being read.
const MARK: usize = 1;

/// The bits of a record's `what` that are not its time.
pub(crate) const FLAGS: u64 = (1 << FLAG_BITS) - 1;
pub(crate) const FLAG_BITS: u32 = 8;
/// The kind of hold: the number of a [`Hold`].
const HOLD: u64 = 7;
/// A task has acquired it, polled by the thread.
pub(crate) const TASK: u64 = 1 << 3;
/// The guard may be with another than the one that acquired it.
pub(crate) const ELSEWHERE: u64 = 1 << 4;
/// Nothing will release it.
pub(crate) const FORGOTTEN: u64 = 1 << 5;
/// No other thread can poll the task.
pub(crate) const ALONE: u64 = 1 << 6;
/// The lock has had another holder since: the guard was leaked, and the lock was never dropped. The record is void.
const STALE: u64 = 1 << 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The address of the word that is held.
    pub(crate) word: usize,
    /// The time with the number of the switch's turn, and the flags.
    pub(crate) what: u64,
    /// The number of the thread; 0: unknown.
    pub(crate) thread: u64,
    /// Where it was acquired.
    pub(crate) site: &'static Site,
    /// The identity of the task, if it was acquired by one; anything otherwise.
    pub(crate) task: usize,
    /// The number of the task plus one; 0: none. Anything, if it was not acquired by a task.
    pub(crate) number: u64,
    /// How many permits, of a semaphore; anything otherwise.
    pub(crate) permits: usize,
}

/// What is held by one guard.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Record {
    word: AtomicUsize,
    what: AtomicU64,
    site: AtomicSite,
    task: AtomicUsize,
    number: AtomicU64,
    permits: AtomicUsize,
    /// The number of the thread.
    thread: AtomicU64,
    /// The next record of the ring.
    next: AtomicPtr<Record>,
}

#[cfg(all(target_pointer_width = "64", not(waitword_loom)))]
const _: () = assert!(size_of::<Record>() == 64, "one line of the cache");

macro_rules! record {
    (word: $word:expr) => {
        Record {
            word: AtomicUsize::new($word),
            what: AtomicU64::new(0),
            site: AtomicSite::none(),
            task: AtomicUsize::new(0),
            number: AtomicU64::new(0),
            permits: AtomicUsize::new(0),
            thread: AtomicU64::new(0),
            next: AtomicPtr::new(NO_RING),
        }
    };
}

/// The `next` of a record that is in no ring.
#[cfg(not(waitword_loom))]
const NO_RING: *mut Record = (&raw const NEVER_FREE).cast_mut();
#[cfg(waitword_loom)]
const NO_RING: *mut Record = std::ptr::null_mut();

/// Claimed by no thread, and seen by no snapshot: the ring of a thread that has no records.
#[cfg(not(waitword_loom))]
static NEVER_FREE: Record = record!(word: WRITTEN);

/// A record that lives for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordRef(*const Record);

impl Record {
    #[cfg(not(waitword_loom))]
    pub(crate) const fn new() -> Self {
        record!(word: 0)
    }

    #[cfg(waitword_loom)]
    pub(crate) fn new() -> Self {
        record!(word: 0)
    }
}

/// Whether this is the [`HoldId`] of a guard that has no room for its record.
pub(crate) fn is_not_kept(id: HoldId) -> bool {
    id.name() == Some(NonNull::dangling())
}

impl RecordRef {
    /// The ring of a thread that has no records.
    #[cfg(not(waitword_loom))]
    pub(crate) const NEVER_FREE: Self = Self(&raw const NEVER_FREE);

    pub(crate) fn new(record: &'static Record) -> Self {
        Self(record)
    }

    #[inline(always)]
    pub(crate) fn get(self) -> &'static Record {
        // SAFETY: it lives for ever (R1).
        unsafe { &*self.0 }
    }
}

impl Record {
    /// Claims the record, if it is free. Called by its thread alone.
    #[inline(always)]
    pub(crate) fn claim(&self, word: usize, what: u64, site: &'static Site, permits: usize) -> bool {
        let is_free = self.is_free();
        if is_free {
            self.fence();
            self.permits.store(permits, Ordering::Relaxed);
            self.fill(word, what, site);
        }
        is_free
    }

    /// Claims the record, if it is free, for the entry except its thread. Called by its thread alone.
    pub(crate) fn claim_for(&self, entry: &Entry) -> bool {
        let is_free = self.is_free();
        if is_free {
            self.fill_for(entry);
        }
        is_free
    }

    /// Whether the record stands for no hold.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.word.load(Ordering::Acquire) == 0
    }

    #[inline(always)]
    fn fence(&self) {
        mutant!("holders-fence" => return);
        fence(Ordering::Release);
    }

    #[inline(always)]
    fn fill(&self, word: usize, what: u64, site: &'static Site) {
        self.what.store(what, Ordering::Relaxed);
        self.site.store(Some(site));
        self.word.store(word, order!(Release, "holders-publish"));
    }

    /// Frees the record of the caller's hold.
    #[inline(always)]
    pub(crate) fn free(&self) {
        // loom does not order a store after the marks that a reader made before it.
        if MODEL {
            self.word.swap(0, Ordering::Release);
        } else {
            self.word.store(0, Ordering::Release);
        }
    }

    /// Frees a record that others may free, too. Returns whether this call did; it may fail because the record is being read.
    pub(crate) fn take(&self, word: usize) -> bool {
        let is_freed =
            |word| self.word.compare_exchange(word, 0, Ordering::Release, Ordering::Relaxed).is_ok();
        is_freed(word) || is_freed(word | MARK)
    }

    /// The entry, if the record stands for one hold meanwhile. Marks the record, and calls `marks` if the hold had no mark. For one reader
    /// at a time.
    pub(crate) fn read(&self, mut marks: impl FnMut()) -> Option<Entry> {
        loop {
            let found = self.word.load(Ordering::Acquire);
            let word = found & !MARK;
            if word == 0 {
                return None;
            }
            let marked = marked(word);
            if found != marked {
                if !self.replace_word(found, marked) {
                    return None;
                }
                marks();
            }
            let entry = self.entry(word);
            fence(Ordering::Acquire);
            let now = self.word.load(Ordering::Relaxed);
            mutant!("holders-recheck" => return entry);
            if now == marked {
                return entry;
            }
            if now != word {
                return None;
            }
            // The hold has changed its mode.
        }
    }

    fn replace_word(&self, from: usize, to: usize) -> bool {
        self.word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The entry of the caller's hold, or of one that others may release as well as the caller.
    #[cfg(not(waitword_loom))]
    pub(crate) fn read_own(&self) -> Option<Entry> {
        let word = self.word.load(Ordering::Acquire) & !MARK;
        if word == 0 { None } else { self.entry(word) }
    }

    /// The entry of a hold that lasts.
    fn entry(&self, word: usize) -> Option<Entry> {
        let what = self.what.load(Ordering::Acquire);
        if what & STALE != 0 {
            return None;
        }
        let (thread, site) = (self.thread(), self.site.load()?);
        let (task, number) = (self.task.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed));
        let permits = self.permits.load(Ordering::Relaxed);
        Some(Entry { word, what, thread, site, task, number, permits })
    }

    /// Changes the flags of a hold that goes on; called by the holder of the guard. The hold has no mark afterwards.
    pub(crate) fn change(&self, entry: &Entry, flags: u64) {
        self.what.store(entry.what & !FLAGS | flags, Ordering::Release);
        self.unmark(entry.word);
    }

    /// From now on the record stands for another hold.
    fn unmark(&self, word: usize) {
        mutant!("holders-change" => return);
        self.replace_word(word | MARK, word);
    }

    /// The lock of this entry has another holder, which acquired it later. Does nothing if the record has been claimed since then.
    #[cfg(not(waitword_loom))]
    pub(crate) fn set_stale(&self, entry: &Entry) {
        let stale = entry.what | STALE;
        let _ = self.what.compare_exchange(entry.what, stale, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Changes the number of permits of a hold that goes on.
    pub(crate) fn set_permits(&self, entry: &Entry, permits: usize) {
        self.permits.store(permits, Ordering::Relaxed);
        self.change(entry, entry.flags());
    }

    #[inline(always)]
    pub(crate) fn id(&'static self) -> HoldId {
        HoldId::new(NonNull::from(self).cast())
    }

    /// The record that a guard keeps, if it keeps one.
    #[inline(always)]
    pub(crate) fn of(id: HoldId) -> Option<&'static Self> {
        let name = id.name().filter(|name| *name != NonNull::dangling())?;
        // SAFETY: made by `id`, of a record that lives for ever (R1).
        Some(unsafe { name.cast().as_ref() })
    }

    /// Identifies the hold until its release.
    pub(crate) fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The next record of the ring, for its thread.
    #[inline(always)]
    pub(crate) fn next(&self) -> RecordRef {
        RecordRef(self.next.load(Ordering::Relaxed))
    }

    /// Makes it a record of this thread, in a ring. It is free, and no thread claims it meanwhile.
    pub(crate) fn adopt(&self, thread: u64, next: RecordRef) {
        self.thread.store(thread, Ordering::Release);
        self.set_next(next);
    }

    pub(crate) fn set_next(&self, next: RecordRef) {
        self.next.store(next.0.cast_mut(), Ordering::Relaxed);
    }

    pub(crate) fn thread(&self) -> u64 {
        self.thread.load(Ordering::Relaxed)
    }

    /// Whether it is a record of this word, unless it is being freed or claimed.
    pub(crate) fn may_be_of(&self, word: usize) -> bool {
        self.word.load(Ordering::Relaxed) & !MARK == word
    }

    /// Claims a common record, which any thread may claim.
    pub(crate) fn claim_common(&self, entry: &Entry) -> bool {
        let is_free = self.word.compare_exchange(0, WRITTEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if is_free {
            self.fence();
            self.thread.store(entry.thread, Ordering::Relaxed);
            self.fill_for(entry);
        }
        is_free
    }

    fn fill_for(&self, entry: &Entry) {
        self.fence();
        self.task.store(entry.task, Ordering::Relaxed);
        self.number.store(entry.number, Ordering::Relaxed);
        self.permits.store(entry.permits, Ordering::Relaxed);
        self.fill(entry.word, entry.what, entry.site);
    }
}

fn marked(word: usize) -> usize {
    mutant!("holders-mark" => return word);
    word | MARK
}

const HOLDS: [Hold; 7] = [
    Hold::Mutex,
    Hold::Read,
    Hold::UpgradableRead,
    Hold::Write,
    Hold::Permits,
    Hold::Initialiser,
    Hold::AsyncLock,
];

impl Entry {
    pub(crate) fn hold(&self) -> Option<Hold> {
        HOLDS.into_iter().find(|hold| *hold as u64 == self.number_of_hold())
    }

    pub(crate) fn is_held(&self, hold: Hold) -> bool {
        self.number_of_hold() == hold as u64
    }

    fn number_of_hold(&self) -> u64 {
        self.what & HOLD
    }

    pub(crate) fn flags(&self) -> u64 {
        self.what & FLAGS
    }

    /// The flags for another mode of the hold.
    pub(crate) fn flags_of(&self, hold: Hold) -> u64 {
        self.flags() & !HOLD | hold as u64
    }

    /// The time, to 10 ms.
    pub(crate) fn time(&self) -> u64 {
        self.what & !FLAGS
    }
}
