//! The hooks: every acquisition and every release that is seen passes here.

use std::num::NonZero;
use std::ptr;
use std::task::Waker;

use super::hold::Hold;
use super::kept::{HoldId, Recorded};
use super::own;
use super::record::{ALONE, ELSEWHERE, Entry, FORGOTTEN, ONE_PERMIT, Record, TASK};
use super::recorder::{ALL, ERASES, NOW, NUMBER, TABLE, UNRECORDED, is_on, number, record_time, time};
use super::sent;
use crate::observe::{
    Acquirer, Caller, Release, Site, Step, ask, follow, is_anonymous, is_anything_asked, kept_number,
    note_release, task_of_this_thread, trace_acquired, trace_released, traces_all, tracing, types,
};
use crate::sync::atomic::Ordering;
use crate::thread::is_of_thread;
use crate::thread::numbered;

/// What guards keep that have no room for their record.
static UNKNOWN: Record = Record::always_asked();

/// What is kept of an acquisition that found no record, or needs none.
static NOT_RECORDED: Record = Record::always_asked();

/// Of what is no task: its identity and its number.
const NO_TASK: (usize, u64) = (0, 0);

/// The time of a record, which says at once what is asked besides it.
pub type Now = NonZero<u64>;

/// While acquisitions are recorded: the time, for [`acquired_now`]. One load.
#[inline(always)]
pub fn recording() -> Option<Now> {
    NonZero::new(NOW.load(Ordering::Relaxed))
}

/// The record that the release of a guard has to erase, if the guard keeps one.
#[inline(always)]
pub fn recorded(id: HoldId) -> Option<Recorded> {
    id.0
}

/// The same of a guard that was acquired since [`recording`] said `now`; of one without a record, as observation has ended since, what stands
/// for none.
pub fn as_recorded(_now: Now, id: HoldId) -> Recorded {
    id.0.unwrap_or(Recorded(&NOT_RECORDED))
}

/// What a guard keeps that has no room for it: the release looks for the record, if there are any. One load.
#[inline(always)]
pub fn not_kept() -> HoldId {
    if ERASES.load(Ordering::Relaxed) { HoldId(Some(Recorded(&UNKNOWN))) } else { HoldId::NONE }
}

/// A thread has acquired the lock with this word; it `gives_up` if it would not have waited for ever. Returns what its
/// guard has to keep.
#[inline(always)]
pub fn acquired(word: usize, hold: Hold, caller: Caller, gives_up: bool) -> HoldId {
    if is_on() { record(word, hold as u64, NO_TASK, 1, caller.site(), gives_up).into() } else { HoldId::NONE }
}

/// As [`acquired`], of so many permits of a semaphore.
#[inline(always)]
pub fn acquired_permits(word: usize, permits: usize, caller: Caller) -> HoldId {
    if is_on() && permits > 0 {
        record(word, Hold::Permits as u64, NO_TASK, permits, caller.site(), false).into()
    } else {
        HoldId::NONE
    }
}

/// As [`acquired`] and [`acquired_permits`], right after [`recording`] said `now`, on the shortest path of all: without a call.
#[inline(always)]
pub fn acquired_now(
    now: Now,
    word: usize,
    hold: Hold,
    permits: Option<usize>,
    site: &'static Site,
    gives_up: bool,
) -> Recorded {
    if permits == Some(0) {
        return Recorded(&NOT_RECORDED);
    }
    let (number, many) = if permits == Some(1) { (ONE_PERMIT, None) } else { (hold as u64, permits) };
    // As `|`, but that the addition tests the sign as well.
    let what = now.get().wrapping_add(number);
    if what & ALL == 0
        && hold != Hold::AsyncLock
        && let Some(record) = own::claim(word, what, site, many)
    {
        return Recorded(record);
    }
    record(word, hold as u64, NO_TASK, permits.unwrap_or(1), site, gives_up)
}

#[cold]
#[inline(never)]
fn record(
    word: usize,
    flags: u64,
    (task, number_of_task): (usize, u64),
    permits: usize,
    site: &'static Site,
    gives_up: bool,
) -> Recorded {
    if traces_all() {
        trace_acquired(word, (flags & TASK != 0).then_some(task), Some(site));
    }
    let what = record_time() | flags;
    let entry = Entry { word, what, thread: number(), site, task, number: number_of_task, permits };
    if entry.is_held(Hold::AsyncLock) {
        // This is its only holder: an earlier record is of a hold that a script has released.
        erase_all(word);
    }
    let recorded = keep(own::claim_any(&entry));
    if tracing::is_followed() {
        tell_acquired(recorded, gives_up);
    }
    recorded
}

/// What a guard keeps.
fn keep(record: Option<&'static Record>) -> Recorded {
    Recorded(record.unwrap_or_else(|| {
        UNRECORDED.fetch_add(1, Ordering::Relaxed);
        &NOT_RECORDED
    }))
}

/// The record of a guard, which nobody else frees, and what it says.
fn own(Recorded(record): Recorded) -> Option<(&'static Record, Entry)> {
    Some((record, record.read_own()?))
}

/// As [`own`], and of a guard that keeps no record: one of its lock that is held so, preferably by this thread.
fn found(word: usize, hold: Hold, recorded: Recorded) -> Option<(&'static Record, Entry)> {
    if !is_unknown(recorded) {
        return own(recorded);
    }
    let is_own = |entry: &Entry| entry.thread == NUMBER.get();
    find(word, hold).find(|(_, entry)| is_own(entry)).or_else(|| find(word, hold).next())
}

fn find(word: usize, hold: Hold) -> impl Iterator<Item = (&'static Record, Entry)> {
    TABLE.find(word, move |entry| entry.is_held(hold))
}

fn is_unknown(Recorded(record): Recorded) -> bool {
    ptr::eq(record, &UNKNOWN)
}

/// As [`acquired`], by a task that is polled with this waker, and with the number of permits. `is_alone` says whether only this thread can
/// poll it.
#[inline(always)]
pub fn acquired_by_task(
    word: usize,
    hold: Hold,
    permits: usize,
    caller: Caller,
    task: &Waker,
    is_alone: impl FnOnce() -> bool,
    gives_up: bool,
) -> HoldId {
    if !is_on() {
        return HoldId::NONE;
    }
    // Of a thread that drives a future by parking, or polls it once: nothing.
    let (mut flags, mut number) = (0, None);
    if !is_of_thread(task) && !is_anonymous(task) {
        flags = TASK | if is_alone() { ALONE } else { 0 };
        number = ask(task);
    }
    let task = (task.data().addr(), kept_number(number));
    record(word, hold as u64 | flags, task, permits, caller.site(), gives_up).into()
}

#[cold]
#[inline(never)]
fn tell_acquired(recorded: Recorded, gives_up: bool) {
    let Some((record, entry)) = own(recorded) else { return };
    let Some(mode) = entry.hold() else { return };
    let otherwise = match entry.what & TASK != 0 {
        true => Acquirer::Task(entry.task),
        false => Acquirer::Thread(entry.thread),
    };
    let Entry { word, site, .. } = entry;
    let (hold, by) = (record.number(), follow::acquirer(otherwise));
    follow::tell(|| Step::Acquired { hold, word, mode, site, by, gives_up });
}

#[cold]
#[inline(never)]
fn tell_released(record: &Record) {
    let by = follow::acquirer(Acquirer::Thread(number()));
    follow::tell(|| Step::Released { hold: record.number(), by });
}

/// The holder is about to release it.
#[inline(always)]
pub fn released(word: usize, hold: Hold, id: HoldId) {
    if let Some(recorded) = recorded(id)
        && !released_quickly(recorded)
    {
        released_slowly(word, hold, recorded);
    }
}

/// As [`released`], of a guard that keeps its record, if nothing else is asked of the release. Calls nothing. Otherwise it is `false`, and
/// [`released_slowly`] is due.
#[inline(always)]
pub fn released_quickly(Recorded(record): Recorded) -> bool {
    let is_quick = !record.is_asked();
    if is_quick {
        record.free();
    }
    is_quick
}

/// The other half of [`released`].
#[cold]
#[inline(never)]
pub fn released_slowly(word: usize, hold: Hold, recorded: Recorded) {
    if is_unknown(recorded) && !ERASES.load(Ordering::Relaxed) {
        return;
    }
    if is_anything_asked() {
        note(word, hold, recorded);
    }
    if !is_unknown(recorded) {
        // Perhaps what stands for none, at which nobody looks.
        return recorded.0.free();
    }
    // Of two that look at once each frees another.
    while let Some((record, entry)) = found(word, hold, recorded) {
        if record.take(entry.word) {
            return;
        }
    }
}

/// Keeps what the record says until the release is over and it is known whether others wait (`release.rs`).
#[inline(never)]
fn note(word: usize, hold: Hold, recorded: Recorded) {
    let found = found(word, hold, recorded);
    if tracing::is_followed()
        && let Some((record, _)) = found
    {
        tell_released(record);
    }
    let release = found.map_or(Release::default(), |(_, entry)| {
        // Of several readers whose guards keep no record any may be meant, of one line all the same.
        let is_any = is_unknown(recorded) && hold == Hold::Read;
        let is_known = || !is_any || find(word, hold).all(|(_, other)| other.site == entry.site);
        if is_elsewhere_now(&entry) && is_known() {
            sent::learn(entry.site);
        }
        let task = (entry.what & TASK != 0).then_some(entry.task);
        Release::new(Some(entry.site), time(entry.what), task)
    });
    note_release(word, release);
    if traces_all() {
        trace_released(word, release.task, release.site, release.since);
    }
}

/// Whether the guard is with another than what acquired it: the thread that releases it here, or the task that this thread polls.
fn is_elsewhere_now(entry: &Entry) -> bool {
    let is_other_thread = entry.thread != numbered::UNKNOWN && entry.thread != NUMBER.get();
    entry.what & ELSEWHERE == 0
        && match (entry.what & TASK != 0, entry.number) {
            (false, _) => is_other_thread,
            // Of a task without a number it is known only if no other thread can poll it.
            (true, 0) => entry.what & ALONE != 0 && is_other_thread,
            (true, number) => number != kept_number(task_of_this_thread()),
        }
}

/// The holder goes on in another way: it upgrades, or downgrades. Returns what its new guard has to keep.
#[inline(always)]
pub fn changed(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    if ERASES.load(Ordering::Relaxed) { change(word, from, to, id) } else { HoldId::NONE }
}

#[cold]
fn change(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    let Some((record, entry)) = id.0.and_then(|recorded| found(word, from, recorded)) else {
        return HoldId::NONE;
    };
    if is_elsewhere_now(&entry) {
        sent::learn(entry.site);
    }
    record.change(&entry, entry.flags_of(to));
    if tracing::is_followed() {
        follow::tell(|| Step::Changed { hold: record.number(), mode: to });
    }
    Recorded(record).into()
}

/// The guard is made to be sent elsewhere.
#[inline(always)]
pub fn may_be_elsewhere(word: usize, hold: Hold, id: HoldId) {
    if is_on() {
        mark_elsewhere(word, hold, id);
    }
}

#[cold]
#[inline(never)]
fn mark_elsewhere(word: usize, hold: Hold, id: HoldId) {
    if let Some((record, entry)) = id.0.and_then(|recorded| found(word, hold, recorded)) {
        record.change(&entry, entry.flags() | ELSEWHERE);
    }
}

/// Whether the guard was made to be sent elsewhere: its holder is about to release the lock, and to acquire it again for the same guard.
#[inline(always)]
pub fn was_made_to_be_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    is_on() && is_marked(word, hold, id)
}

#[cold]
#[inline(never)]
fn is_marked(word: usize, hold: Hold, id: HoldId) -> bool {
    id.0.and_then(|recorded| found(word, hold, recorded))
        .is_some_and(|(_, entry)| entry.what & ELSEWHERE != 0)
}

/// The guard is gone, and its hold stays.
#[inline(always)]
pub fn forgotten(id: HoldId) {
    if let Some((record, entry)) = id.0.and_then(own) {
        record.change(&entry, entry.flags() | FORGOTTEN | ELSEWHERE);
    }
}

/// A part of the permits has a guard of its own. `left` are with the first one.
#[inline(always)]
pub fn split(id: HoldId, left: usize, permits: usize) -> HoldId {
    let Some((record, entry)) = id.0.and_then(own) else { return HoldId::NONE };
    record.set_permits(&entry, left);
    let part = entry.with_permits(permits);
    // This thread's records say that they are its own.
    keep(if entry.thread == NUMBER.get() { own::claim_any(&part) } else { TABLE.claim_common(&part) }).into()
}

/// Two guards have become one, with so many permits. Returns what that has to keep.
#[inline(always)]
pub fn merged(word: usize, id: HoldId, other: HoldId, permits: usize) -> HoldId {
    let (kept, gone) = if id.0.is_some() { (id, other) } else { (other, id) };
    if let Some((record, entry)) = kept.0.and_then(own) {
        record.set_permits(&entry, permits);
    }
    released(word, Hold::Permits, gone);
    kept
}

/// Permits were added that nobody gives back: they stand for as many that were forgotten.
#[inline(always)]
pub fn permits_added(word: usize, permits: usize) {
    if ERASES.load(Ordering::Relaxed) {
        forget_no_more(word, permits);
    }
}

#[cold]
fn forget_no_more(word: usize, mut permits: usize) {
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

/// The lock goes. If guards `may_hold` it still, they were leaked; another may be made in its place.
#[inline(never)] // or each function that may drop a lock keeps the address of the table in a register
pub fn dropped(word: usize, may_hold: bool) {
    if ERASES.load(Ordering::Relaxed) {
        drop_recorded(word, may_hold);
    }
}

#[cold]
fn drop_recorded(word: usize, may_hold: bool) {
    if may_hold {
        erase_all(word);
    }
    types::forget(word);
    if tracing::is_followed() {
        follow::tell(|| Step::Dropped { word });
    }
}

fn erase_all(word: usize) {
    TABLE.find(word, |_| true).for_each(|(record, _)| record.free());
}
