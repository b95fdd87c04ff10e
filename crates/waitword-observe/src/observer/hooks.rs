//! The hooks for holders: the core calls them at every acquisition and every release.

use std::sync::atomic::Ordering;

use waitword::observe::holders::{AcquiredByTask, Change, Hold, HoldId};
use waitword_core::observe::{AWAITED, CONTENDED, OWN, RELEASES, Site, asks};

use crate::names::TYPES;
use crate::notifies::NOTIFIES;
use crate::order::{self, Acquirer};
use crate::record::record::{Entry, Record, Task, is_not_kept};
use crate::record::recorder::{UNRECORDED, number, record_time, time};
use crate::record::table::{self, HERE, UNKNOWN};
use crate::record::{Release, learn_sent, note_release, rings};
use crate::tasks::{kept_number, may_ask, number_of, of_this_thread};

/// This thread has acquired a lock. Returns the [`HoldId`] for the guard.
pub(super) fn acquired(
    word: usize,
    hold: Hold,
    permits: usize,
    site: &'static Site,
    gives_up: bool,
) -> HoldId {
    let is_common = hold != Hold::AsyncLock && !asks(OWN | AWAITED);
    // The entry is made here and again in `record`. Where the next record is free, as a rule, it exists only in registers.
    if is_common && let Some(record) = table::add_next(&Entry::new(word, hold, permits, site)) {
        return record.id();
    }
    record(word, hold, None, permits, site, gives_up)
}

/// A task has acquired a lock. Returns the [`HoldId`] for the guard.
pub(super) fn acquired_by_task(acquired: &AcquiredByTask<'_>) -> HoldId {
    let AcquiredByTask { word, hold, permits, site, task, is_alone, gives_up } = *acquired;
    let number = kept_number(number_of(task));
    let task = Some(Task { identity: task.data().addr(), number, is_alone });
    record(word, hold, task, permits, site, gives_up)
}

impl Entry {
    #[inline(always)]
    fn new(word: usize, hold: Hold, permits: usize, site: &'static Site) -> Self {
        Self {
            word,
            hold,
            permits,
            site,
            // 0 if the switch was turned off meanwhile. No snapshot shows a record with that time.
            at: record_time(),
            thread: number(),
            task: None,
            is_elsewhere: false,
            is_forgotten: false,
            turn: 0,
        }
    }
}

#[cold]
#[inline(never)]
fn record(
    word: usize,
    hold: Hold,
    task: Option<Task>,
    permits: usize,
    site: &'static Site,
    gives_up: bool,
) -> HoldId {
    let entry = Entry { task, ..Entry::new(word, hold, permits, site) };
    rings::acquired(word, task.map(|task| task.identity), Some(site));
    if hold == Hold::AsyncLock {
        // An `AsyncLock` has one holder: an earlier record is of a hold that a script has released.
        erase_all(word);
    }
    let record = table::add(&entry);
    if let Some(record) = record
        && asks(AWAITED)
    {
        let otherwise = match task {
            Some(task) => Acquirer::Task(task.identity),
            None => Acquirer::Thread(entry.thread),
        };
        let by = order::acquirer(otherwise);
        order::follow(|order| order.acquired(record.address(), word, hold, site, by, gives_up));
    }
    kept(record)
}

/// The [`HoldId`] for a guard.
#[inline(always)]
fn kept(record: Option<&'static Record>) -> HoldId {
    record.map_or_else(
        || {
            UNRECORDED.fetch_add(1, Ordering::Relaxed);
            HoldId::NONE
        },
        Record::id,
    )
}

/// The record that a guard keeps, which no other thread erases. For a guard that keeps none: a record of its lock in the same mode, preferably
/// one of this thread.
fn found(word: usize, hold: Hold, id: HoldId) -> Option<(&'static Record, Entry)> {
    if let Some(record) = Record::of(id) {
        return Some((record, record.read()?));
    }
    let is_own = |(_, entry): &(&Record, Entry)| entry.thread == HERE.with(|here| here.number.get());
    find(word, hold).find(is_own).or_else(|| find(word, hold).next())
}

fn find(word: usize, hold: Hold) -> impl Iterator<Item = (&'static Record, Entry)> {
    table::of_word(word).filter(move |(_, entry)| entry.hold == hold)
}

/// The holder is about to release the lock.
pub(super) fn released(word: usize, hold: Hold, id: HoldId) {
    match Record::of(id) {
        Some(record) if !asks(CONTENDED | AWAITED) => record.free(),
        _ => release(word, hold, id),
    }
}

/// As [`released`], if the release is charged or followed, or the guard keeps no record.
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
    // Two threads that release at the same time may find the same record. One of them takes it, and the other searches again.
    while let Some((record, entry)) = found(word, hold, id) {
        if record.take(&entry) {
            return;
        }
    }
}

/// Keeps the content of the record until the release is done, when it is known whether others wait.
#[inline(never)]
fn note(word: usize, hold: Hold, id: HoldId) {
    let found = found(word, hold, id);
    if let Some((record, _)) = found
        && asks(AWAITED)
    {
        let by = order::acquirer(Acquirer::Thread(number()));
        order::follow(|order| order.released(record.address(), by));
    }
    let release = found.map_or(Release::default(), |(_, entry)| {
        // Of readers whose guards keep no record, any record may be the one. Its site is known only if all have the same.
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
    let task = entry.task.map(|task| task.identity);
    Release { site: Some(entry.site), since: time(entry.at), task }
}

/// Whether the guard was sent by its acquirer: this thread, or the task that it polls, releases the guard and has not acquired it.
fn is_elsewhere_now(entry: &Entry) -> bool {
    let is_other_thread = entry.thread != UNKNOWN && entry.thread != HERE.with(|here| here.number.get());
    !entry.is_elsewhere
        && match entry.task {
            None => is_other_thread,
            // For a task without a number this is known only if no other thread can poll it.
            Some(Task { number: 0, is_alone, .. }) => is_alone && is_other_thread,
            Some(Task { number, .. }) => may_ask() && number != kept_number(of_this_thread()),
        }
}

/// A hold changes and continues. Returns the [`HoldId`] for its guard.
pub(super) fn changed(word: usize, hold: Hold, id: HoldId, change: Change) -> HoldId {
    let Some((record, entry)) = found(word, hold, id) else { return HoldId::NONE };
    match change {
        Change::To(to) => {
            if is_elsewhere_now(&entry) {
                learn_sent(entry.site);
            }
            if asks(CONTENDED) {
                // Waiters that the hold has excluded may acquire the lock now; the hold itself continues.
                note_release(word, Release { since: None, ..release_of(&entry) });
            }
            record.change(&Entry { hold: to, ..entry });
            if asks(AWAITED) {
                order::follow(|order| order.changed(record.address(), to));
            }
        }
        Change::Sent => record.change(&Entry { is_elsewhere: true, ..entry }),
        Change::Forgotten => record.change(&Entry { is_elsewhere: true, is_forgotten: true, ..entry }),
        Change::Permits(permits) => record.change(&Entry { permits, ..entry }),
        Change::Split { left, permits } => {
            record.change(&Entry { permits: left, ..entry });
            return kept(table::add(&Entry { permits, ..entry }));
        }
    }
    record.id()
}

/// Whether the guard was made to be sent elsewhere.
pub(super) fn is_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    found(word, hold, id).is_some_and(|(_, entry)| entry.is_elsewhere)
}

/// Permits were added. They replace as many permits that were forgotten.
pub(super) fn permits_added(word: usize, mut permits: usize) {
    let mut forgotten: Vec<_> = find(word, Hold::Permits).filter(|(_, entry)| entry.is_forgotten).collect();
    forgotten.sort_by_key(|(_, entry)| entry.at);
    for (record, entry) in forgotten {
        match entry.permits.checked_sub(permits) {
            Some(left) if left > 0 => return record.change(&Entry { permits: left, ..entry }),
            _ => _ = record.take(&entry),
        }
        permits -= entry.permits;
    }
}

/// The lock, condition variable or event is dropped. Guards that `may_hold` it were leaked. Another lock may be made at its address.
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
    for (record, entry) in table::of_word(word) {
        record.take(&entry);
    }
}
