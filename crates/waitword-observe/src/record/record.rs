//! One record, which its thread writes by plain stores, and which other threads may read at any time.
//!
//! Only one thread claims a record. The release of its hold frees it, on any thread. Its turn is odd while it stands for a hold:
//!
//! ```text
//!   its thread                              releaser                snapshot
//!   ───────────────────────────────         ──────────────────      ─────────────────────────────────────────
//!   turn = 2                (acquire)
//!   fence                   (R)
//!   word, what, site, ...                                           turn = 3                      (acquire)
//!   turn ← 3                (P)                                     word, what, site, ...
//!   ...                                     turn ← 4                fence                         (A)
//!                                           (release)               turn = 3 still?
//!                                                                   yes: one record. no: again
//! ```
//! The turn is stored last (P), so a record is complete while its turn is odd. If the snapshot has read a field of a later hold, the fences
//! (R) and (A) make it see that the turn has changed.
//!
//! A turn is never repeated: if two snapshots read the same turn, the hold lasted from the one to the other. The time of a record does not
//! show that, because a mutex may be released and acquired again in the same 10 ms. When a hold changes its mode, its record gets the next odd
//! turn. A reader may see the new mode with the old turn. If it sees the mode after that, it sees the next turn, too (U):
//!
//! ```text
//!   guard's owner                             snapshot
//!   ─────────────────────────────────         ─────────────────────────────────────────
//!   what ← Write;       turn ← 5              turn = 5
//!   what ← Upgradable (release) (U)           what = Upgradable (acquire): the turn is 7, or this is read with turn 5
//!   turn ← 7                                  turn = 5 still?
//! ```
//! So a turn and a mode together identify a hold in its mode.
//!
//! Invariant R1: a record lives for ever. (Except those of a model, which makes no [`HoldId`] of them.)

use std::ptr::NonNull;

use waitword::observe::holders::{Hold, HoldId};
use waitword_core::observe::Site;

use crate::site_ptr::AtomicSite;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use crate::sync::{mutant, order};

/// One hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The address of the word that is held.
    pub(crate) word: usize,
    pub(crate) hold: Hold,
    /// The number of permits of a semaphore; 1 for another lock.
    pub(crate) permits: usize,
    /// Where it was acquired.
    pub(crate) site: &'static Site,
    /// When it was acquired, above [`FLAG_BITS`] bits that are 0.
    pub(crate) at: u64,
    /// The number of the thread that acquired it, or polled the task that did.
    pub(crate) thread: u64,
    /// The task that acquired it, if one did.
    pub(crate) task: Option<Task>,
    /// The guard may be with another thread or task than acquired it.
    pub(crate) is_elsewhere: bool,
    /// No guard will release it.
    pub(crate) is_forgotten: bool,
    /// The turn of its record, which sets it.
    pub(crate) turn: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The data pointer of its waker.
    pub(crate) identity: usize,
    /// Its number plus one; 0: none.
    pub(crate) number: u64,
    /// No other thread can poll it.
    pub(crate) is_alone: bool,
}

/// In a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Record {
    turn: AtomicU64,
    word: AtomicUsize,
    /// The time, the hold and the flags.
    what: AtomicU64,
    site: AtomicSite,
    thread: AtomicU64,
    permits: AtomicUsize,
    /// Those of a task; anything otherwise.
    identity: AtomicUsize,
    number: AtomicU64,
}

#[cfg(all(target_pointer_width = "64", not(waitword_loom)))]
const _: () = assert!(size_of::<Record>() == 64);

/// The bits of a record's `what` that are not its time.
pub(crate) const FLAG_BITS: u32 = 8;
const FLAGS: u64 = (1 << FLAG_BITS) - 1;
const HOLD: u64 = 7;
const TASK: u64 = 1 << 3;
const ALONE: u64 = 1 << 4;
const ELSEWHERE: u64 = 1 << 5;
const FORGOTTEN: u64 = 1 << 6;
/// The lock has had another holder since: the guard was leaked, and the lock was never dropped. The record is void.
const STALE: u64 = 1 << 7;

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
    #[inline(always)]
    fn what(&self) -> u64 {
        let flag = |is_set: bool, flag| if is_set { flag } else { 0 };
        let of_task = self.task.map_or(0, |task| TASK | flag(task.is_alone, ALONE));
        let flags = flag(self.is_elsewhere, ELSEWHERE) | flag(self.is_forgotten, FORGOTTEN);
        self.at | self.hold as u64 | of_task | flags
    }
}

/// Whether a record in this turn is free.
#[inline(always)]
fn is_free(turn: u64) -> bool {
    turn & 1 == 0
}

/// Whether this is the [`HoldId`] of a guard that has no field for its record.
pub(crate) fn is_not_kept(id: HoldId) -> bool {
    id.name() == Some(NonNull::dangling())
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            turn: AtomicU64::new(0),
            word: AtomicUsize::new(0),
            what: AtomicU64::new(0),
            site: AtomicSite::none(),
            thread: AtomicU64::new(0),
            permits: AtomicUsize::new(0),
            identity: AtomicUsize::new(0),
            number: AtomicU64::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn id(&'static self) -> HoldId {
        HoldId::new(NonNull::from(self).cast())
    }

    /// The record that a guard keeps, if it keeps one.
    #[inline(always)]
    pub(crate) fn of(id: HoldId) -> Option<&'static Self> {
        let name = id.name().filter(|_| !is_not_kept(id))?;
        // SAFETY: made by `id`, of a record that lives for ever (R1).
        Some(unsafe { name.cast().as_ref() })
    }

    /// Identifies the hold until its release.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Identifies the hold of this record in its present mode, together with its word, place and time: alone, it may be the same for
    /// different records, because it is below 2^53, for JSON.
    pub(crate) fn number(&self, entry: &Entry) -> u64 {
        let of_record = (self.address() as u64 / align_of::<Self>() as u64) % (1 << 20);
        (entry.turn << 3 | entry.hold as u64) ^ of_record << 33
    }

    /// Claims the record, if it is free. One thread at a time.
    #[inline(always)]
    pub(crate) fn claim(&self, entry: &Entry) -> bool {
        let turn = self.turn.load(Ordering::Acquire);
        if !is_free(turn) {
            return false;
        }
        self.fence();
        self.word.store(entry.word, Ordering::Relaxed);
        self.what.store(entry.what(), Ordering::Relaxed);
        self.site.store(Some(entry.site));
        self.thread.store(entry.thread, Ordering::Relaxed);
        self.permits.store(entry.permits, Ordering::Relaxed);
        if let Some(task) = entry.task {
            self.identity.store(task.identity, Ordering::Relaxed);
            self.number.store(task.number, Ordering::Relaxed);
        }
        self.turn.store(turn + 1, order!(Release, "holders-publish"));
        true
    }

    #[inline(always)]
    fn fence(&self) {
        mutant!("holders-fence" => return);
        fence(Ordering::Release); // R
    }

    /// Frees the record of the caller's hold, which no other thread frees.
    #[inline(always)]
    pub(crate) fn free(&self) {
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::Release);
    }

    /// Frees the record if it still stands for this hold; returns whether it did. Other threads may free it, too.
    pub(crate) fn take(&self, entry: &Entry) -> bool {
        let (now, next) = (entry.turn, entry.turn + 1);
        self.turn.compare_exchange(now, next, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The entry, if the record stands for a hold.
    pub(crate) fn read(&self) -> Option<Entry> {
        loop {
            let turn = self.turn.load(Ordering::Acquire);
            if is_free(turn) {
                return None;
            }
            let entry = self.entry(turn);
            fence(Ordering::Acquire); // A
            let now = self.turn.load(Ordering::Relaxed);
            mutant!("holders-recheck" => return entry);
            if now == turn {
                return entry;
            }
        }
    }

    fn entry(&self, turn: u64) -> Option<Entry> {
        let what = self.what.load(Ordering::Acquire); // U
        let is_task = what & TASK != 0;
        let task = Task {
            identity: self.identity.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
            is_alone: what & ALONE != 0,
        };
        let entry = Entry {
            word: self.word.load(Ordering::Relaxed),
            hold: HOLDS.into_iter().find(|hold| *hold as u64 == what & HOLD)?,
            permits: self.permits.load(Ordering::Acquire),
            site: self.site.load()?,
            at: what & !FLAGS,
            thread: self.thread.load(Ordering::Relaxed),
            task: is_task.then_some(task),
            is_elsewhere: what & ELSEWHERE != 0,
            is_forgotten: what & FORGOTTEN != 0,
            turn,
        };
        (what & STALE == 0).then_some(entry)
    }

    /// Whether it is a record of this word; not reliable while it is being freed or claimed.
    pub(crate) fn may_be_of(&self, word: usize) -> bool {
        self.word.load(Ordering::Relaxed) == word
    }

    /// Changes the mode, the flags or the permits of a hold that continues. Called by the guard's owner, with the entry that it read, changed.
    pub(crate) fn change(&self, entry: &Entry) {
        self.permits.store(entry.permits, Ordering::Release);
        self.what.store(entry.what(), Ordering::Release);
        mutant!("holders-change" => return);
        self.turn.store(entry.turn + 2, Ordering::Release);
    }

    /// The lock of this entry has another holder, which acquired it later. Does nothing if the record has been claimed since then.
    pub(crate) fn set_stale(&self, entry: &Entry) {
        let (now, stale) = (entry.what(), entry.what() | STALE);
        let _ = self.what.compare_exchange(now, stale, Ordering::Relaxed, Ordering::Relaxed);
    }
}
