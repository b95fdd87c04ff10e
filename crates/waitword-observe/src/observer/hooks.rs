//! What the core tells of holders: every acquisition and every release passes here.

use waitword::observe::holders::{AcquiredByTask, Change, Hold, HoldId};
use waitword_core::observe::{AWAITED, CONTENDED, OWN, RELEASES, Site, asks};

use crate::names::TYPES;
use crate::notifies::NOTIFIES;
use crate::order::{self, Acquirer};
use crate::record::record::{ALONE, ELSEWHERE, Entry, FORGOTTEN, Record, TASK, is_not_kept};
use crate::record::recorder::{NUMBER, TABLE, UNKNOWN, UNRECORDED, number, record_time, time};
use crate::record::{Release, learn_sent, note_release, own, rings};
use crate::sync::atomic::Ordering;
use crate::tasks::{kept_number, may_ask, number_of, of_this_thread};

/// This thread has acquired a lock. Returns the [`HoldId`] for the guard.
pub(super) fn acquired(
    word: usize,
    hold: Hold,
    permits: usize,
    site: &'static Site,
    gives_up: bool,
) -> HoldId {
    // 0 if the switch was turned off meanwhile. No snapshot shows a record of that time.
    let now = record_time();
    let is_common = hold != Hold::AsyncLock && !asks(OWN | AWAITED);
    if is_common && let Some(record) = own::claim(word, now | hold as u64, site, permits) {
        return record.id();
    }
    record(word, hold as u64, NO_TASK, permits, site, gives_up)
}

/// A task has acquired a lock. Returns the [`HoldId`] for the guard.
pub(super) fn acquired_by_task(acquired: &AcquiredByTask<'_>) -> HoldId {
    let AcquiredByTask { word, hold, permits, site, task, is_alone, gives_up } = *acquired;
    let flags = hold as u64 | TASK | if is_alone { ALONE } else { 0 };
    let task = (task.data().addr(), kept_number(number_of(task)));
    record(word, flags, task, permits, site, gives_up)
}

/// The identity and the number of an acquirer that is no task.
const NO_TASK: (usize, u64) = (0, 0);

#[cold]
#[inline(never)]
fn record(
    word: usize,
    flags: u64,
    (task, number_of_task): (usize, u64),
    permits: usize,
    site: &'static Site,
    gives_up: bool,
) -> HoldId {
    let now = record_time();
    if now == 0 {
        // The switch was turned off meanwhile.
        return HoldId::NONE;
    }
    rings::acquired(word, (flags & TASK != 0).then_some(task), Some(site));
    let entry =
        Entry { word, what: now | flags, thread: number(), site, task, number: number_of_task, permits };
    if entry.is_held(Hold::AsyncLock) {
        // An `AsyncLock` has one holder: an earlier record is of a hold that a script has released.
        erase_all(word);
    }
    let record = own::claim_any(&entry);
    if let Some(record) = record
        && asks(AWAITED)
    {
        tell_acquired(record, &entry, gives_up);
    }
    kept(record)
}

/// The [`HoldId`] for a guard.
fn kept(record: Option<&'static Record>) -> HoldId {
    record.map_or_else(
        || {
            UNRECORDED.fetch_add(1, Ordering::Relaxed);
            HoldId::NONE
        },
        Record::id,
    )
}

/// The record that a guard keeps, which nobody else frees, and its content. For a guard that keeps none: a record of its lock in the same
/// mode, preferably one of this thread.
fn found(word: usize, hold: Hold, id: HoldId) -> Option<(&'static Record, Entry)> {
    if let Some(record) = Record::of(id) {
        return Some((record, record.read_own()?));
    }
    let is_own = |entry: &Entry| entry.thread == NUMBER.get();
    find(word, hold).find(|(_, entry)| is_own(entry)).or_else(|| find(word, hold).next())
}

fn find(word: usize, hold: Hold) -> impl Iterator<Item = (&'static Record, Entry)> {
    TABLE.find(word, move |entry| entry.is_held(hold))
}

fn tell_acquired(record: &Record, entry: &Entry, gives_up: bool) {
    let Some(mode) = entry.hold() else { return };
    let otherwise = match entry.what & TASK != 0 {
        true => Acquirer::Task(entry.task),
        false => Acquirer::Thread(entry.thread),
    };
    let Entry { word, site, .. } = *entry;
    let (hold, by) = (record.number(), order::acquirer(otherwise));
    order::follow(|order| order.acquired(hold, word, mode, site, by, gives_up));
}

/// The holder is about to release it.
pub(super) fn released(word: usize, hold: Hold, id: HoldId) {
    match Record::of(id) {
        Some(record) if !asks(CONTENDED | AWAITED) => record.free(),
        _ => release(word, hold, id),
    }
}

/// As [`released`], if more is asked for, or the guard keeps no record.
#[cold]
#[inline(never)]
fn release(word: usize, hold: Hold, id: HoldId) {
    if is_not_kept(id) && !asks(RELEASES) {
        return;
    }
    if asks(CONTENDED | AWAITED) {
        note(word, hold, id);
    }
    if let Some(record) = Record::of(id) {
        return record.free();
    }
    // Two threads that release at the same time may find the same record. Then one of them looks for another.
    while let Some((record, entry)) = found(word, hold, id) {
        if record.take(entry.word) {
            return;
        }
    }
}

/// Keeps the content of the record until the release is over and it is known whether others wait.
#[inline(never)]
fn note(word: usize, hold: Hold, id: HoldId) {
    let found = found(word, hold, id);
    if let Some((record, _)) = found
        && asks(AWAITED)
    {
        let by = order::acquirer(Acquirer::Thread(number()));
        order::follow(|order| order.released(record.number(), by));
    }
    let release = found.map_or(Release::default(), |(_, entry)| {
        // Among readers whose guards keep no record, any record may be the one; its site is known only if all have the same.
        let is_any = is_not_kept(id) && hold == Hold::Read;
        let is_known = || !is_any || find(word, hold).all(|(_, other)| other.site == entry.site);
        if is_elsewhere_now(&entry) && is_known() {
            learn_sent(entry.site);
        }
        release_of(&entry)
    });
    note_release(word, release);
    rings::released(word, &release);
}

fn release_of(entry: &Entry) -> Release {
    let task = (entry.what & TASK != 0).then_some(entry.task);
    Release { site: Some(entry.site), since: time(entry.what), task }
}

/// Whether the guard is with another than the one that acquired it: with the thread that releases it here, or the task that this thread
/// polls.
fn is_elsewhere_now(entry: &Entry) -> bool {
    let is_other_thread = entry.thread != UNKNOWN && entry.thread != NUMBER.get();
    entry.what & ELSEWHERE == 0
        && match (entry.what & TASK != 0, entry.number) {
            (false, _) => is_other_thread,
            // For a task without a number this is known only if no other thread can poll it.
            (true, 0) => entry.what & ALONE != 0 && is_other_thread,
            (true, number) => may_ask() && number != kept_number(of_this_thread()),
        }
}

/// A hold changes and goes on. Returns the [`HoldId`] for its guard.
pub(super) fn changed(word: usize, hold: Hold, id: HoldId, change: Change) -> HoldId {
    let Some((record, entry)) = found(word, hold, id) else { return HoldId::NONE };
    match change {
        Change::To(to) => {
            if is_elsewhere_now(&entry) {
                learn_sent(entry.site);
            }
            if asks(CONTENDED) {
                // Others may enter now, whom the hold has kept out; the hold itself goes on.
                note_release(word, Release { since: None, ..release_of(&entry) });
            }
            record.change(&entry, entry.flags_of(to));
            if asks(AWAITED) {
                order::follow(|order| order.changed(record.number(), to));
            }
        }
        Change::Sent => record.change(&entry, entry.flags() | ELSEWHERE),
        Change::Forgotten => record.change(&entry, entry.flags() | FORGOTTEN | ELSEWHERE),
        Change::Permits(permits) => record.set_permits(&entry, permits),
        Change::Split { left, permits } => {
            record.set_permits(&entry, left);
            let part = Entry { permits, ..entry };
            // Records of this thread name it as the acquirer.
            let is_own = entry.thread == NUMBER.get();
            return kept(if is_own { own::claim_any(&part) } else { TABLE.claim_common(&part) });
        }
    }
    record.id()
}

/// Whether the guard was made to be sent elsewhere.
pub(super) fn is_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    found(word, hold, id).is_some_and(|(_, entry)| entry.what & ELSEWHERE != 0)
}

/// Permits were added that no guard gives back: they replace as many that were forgotten.
pub(super) fn permits_added(word: usize, mut permits: usize) {
    let mut forgotten: Vec<_> = find(word, Hold::Permits).collect();
    forgotten.retain(|(_, entry)| entry.what & FORGOTTEN != 0);
    forgotten.sort_by_key(|(_, entry)| entry.time());
    for (record, entry) in forgotten {
        match entry.permits.checked_sub(permits) {
            Some(left) if left > 0 => return record.set_permits(&entry, left),
            _ => record.free(),
        }
        permits -= entry.permits;
    }
}

/// The lock, condition variable or event is dropped. If guards `may_hold` it still, they were leaked; another may be made at its address.
pub(super) fn dropped(word: usize, may_hold: bool) {
    if may_hold {
        erase_all(word);
    }
    TYPES.remove(word);
    NOTIFIES.remove(word);
    if asks(AWAITED) {
        order::follow(|order| order.dropped(word));
    }
}

fn erase_all(word: usize) {
    TABLE.find(word, |_| true).for_each(|(record, _)| record.free());
}
