//! The hooks: every acquisition and every release that is seen passes here.

use std::task::Waker;

use super::hold::{Hold, HoldId};
use super::recorder::{NUMBER, RECORDER, TABLE, UNRECORDED, number, time};
use super::records::{ALONE, ELSEWHERE, Entry, FLAG_BITS, FLAGS, FORGOTTEN, HOLD, RECORDS, TASK};
use super::sent;
use crate::observe::{
    Acquirer, Caller, Release, Site, Step, ask, follow, is_anonymous, is_anything_asked, kept_number,
    note_release, task_of_this_thread, trace_acquired, trace_released, traces_all, tracing, types,
};
use crate::sync::atomic::Ordering;
use crate::thread::is_of_thread;
use crate::thread::numbered;

/// Whether acquisitions are recorded: the switch is on. One load.
#[inline(always)]
pub fn records() -> bool {
    RECORDER.now.load(Ordering::Relaxed) != 0
}

/// Whether the release of a guard that keeps this has to erase a record.
#[inline(always)]
pub fn may_be_recorded(id: HoldId) -> bool {
    id != HoldId::NONE
}

/// What a guard keeps that has no room for it: the release looks for the record, if there are any. One load.
#[inline(always)]
pub fn not_kept() -> HoldId {
    if RECORDER.erases.load(Ordering::Relaxed) { HoldId::UNKNOWN } else { HoldId::NONE }
}

/// A thread has acquired the lock with this word; it `gives_up` if it would not have waited for ever. Returns what its
/// guard has to keep, if there may be several holders.
#[inline(always)]
pub fn acquired(word: usize, hold: Hold, caller: Caller, gives_up: bool) -> HoldId {
    let now = RECORDER.now.load(Ordering::Relaxed);
    if now == 0 {
        return HoldId::NONE;
    }
    // Without a call up to here: the shortest path of all.
    if !traces_all()
        && let number @ 1.. = NUMBER.get()
        && let Some(at) = RECORDER.table.claim(word, now, caller.site(), number | hold as u64)
    {
        return id(at);
    }
    record(word, hold, caller.site(), gives_up)
}

#[cold]
#[inline(never)]
fn record(word: usize, hold: Hold, site: &'static Site, gives_up: bool) -> HoldId {
    let (now, who) = (RECORDER.now.load(Ordering::Relaxed), number() | hold as u64);
    let mut at = None;
    if traces_all() {
        trace_acquired(word, None, Some(site));
        at = TABLE.claim(word, now, site, who);
    }
    let elsewhere = || {
        if matches!(hold, Hold::Mutex | Hold::AsyncLock) {
            // This is its only holder: an earlier record is that of a leaked guard, of a lock that a script has released, or of a lock that
            // was here before.
            erase_all(word);
        }
        TABLE.claim_elsewhere(word, now, site, who)
    };
    let id = at.or_else(elsewhere).map_or_else(unrecorded, id);
    if tracing::is_followed() {
        tell_acquired(id, gives_up);
    }
    id
}

/// The place of the record is in the low bits, and the highest one is set.
fn id(at: usize) -> HoldId {
    HoldId(at as u32 | HoldId::KEPT)
}

/// Where the record is, of a guard that keeps that.
#[inline(always)]
fn place(id: HoldId) -> usize {
    id.0 as usize % RECORDS
}

#[cold]
fn unrecorded() -> HoldId {
    UNRECORDED.fetch_add(1, Ordering::Relaxed);
    HoldId::NONE
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
    if RECORDER.now.load(Ordering::Relaxed) == 0 {
        return HoldId::NONE;
    }
    // Of a thread that drives a future by parking, or polls it once: nothing.
    let (mut flags, mut number) = (0, None);
    if !is_of_thread(task) && !is_anonymous(task) {
        flags = TASK | if is_alone() { ALONE } else { 0 };
        number = ask(task);
    }
    let task = (task.data().addr(), kept_number(number));
    record_with(word, hold as u64 | flags, permits, caller.site(), task, gives_up)
}

#[cold]
#[inline(never)]
fn tell_acquired(id: HoldId, gives_up: bool) {
    let Some((hold, entry)) = own(id) else { return };
    let Some(mode) = Hold::from_number(entry.who & HOLD) else { return };
    let otherwise = match entry.who & TASK != 0 {
        true => Acquirer::Task(entry.task),
        false => Acquirer::Thread(entry.who >> FLAG_BITS),
    };
    let Entry { word, site, .. } = entry;
    follow::tell(|| Step::Acquired { hold, word, mode, site, by: follow::acquirer(otherwise), gives_up });
}

#[cold]
#[inline(never)]
fn tell_released(at: Option<usize>) {
    let Some(hold) = at else { return };
    let thread = Acquirer::Thread(number() >> FLAG_BITS);
    follow::tell(|| Step::Released { hold, by: follow::acquirer(thread) });
}

/// As [`acquired`], of so many permits of a semaphore.
#[inline(always)]
pub fn acquired_permits(word: usize, permits: usize, caller: Caller) -> HoldId {
    let now = RECORDER.now.load(Ordering::Relaxed);
    if now == 0 || permits == 0 {
        return HoldId::NONE;
    }
    let hold = Hold::Permits as u64;
    if !traces_all()
        && let number @ 1.. = NUMBER.get()
        && let Some(at) = RECORDER.table.claim_permits(word, now, caller.site(), number | hold, permits)
    {
        return id(at);
    }
    record_with(word, hold, permits, caller.site(), (0, 0), false)
}

#[inline(never)]
fn record_with(
    word: usize,
    flags: u64,
    permits: usize,
    site: &'static Site,
    task: (usize, u64),
    gives_up: bool,
) -> HoldId {
    if traces_all() {
        trace_acquired(word, (flags & TASK != 0).then_some(task.0), Some(site));
    }
    const OF_ONE: u64 = 1 << Hold::Mutex as u64 | 1 << Hold::AsyncLock as u64;
    if OF_ONE >> (flags & HOLD) & 1 != 0 {
        // As in `record_elsewhere`.
        TABLE.free_at_home(word);
    }
    let now = RECORDER.now.load(Ordering::Relaxed);
    let at = TABLE.claim_with(word, now, site, number() | flags, task, permits);
    let id = at.map_or_else(unrecorded, id);
    if tracing::is_followed() {
        tell_acquired(id, gives_up);
    }
    id
}

/// The holder is about to release it.
#[inline(always)]
pub fn released(word: usize, hold: Hold, id: HoldId) {
    if may_be_recorded(id) && !released_quickly(id) {
        released_slowly(word, hold, id);
    }
}

/// As [`released`], of a guard that keeps the place of its record, if nothing else is asked of the release. Calls nothing. Otherwise it is
/// `false`, and [`released_slowly`] is due.
#[inline(always)]
pub fn released_quickly(id: HoldId) -> bool {
    let is_quick = id != HoldId::UNKNOWN && !is_anything_asked();
    if is_quick {
        RECORDER.table.free(place(id));
    }
    is_quick
}

/// The other half of [`released`].
#[cold]
#[inline(never)]
pub fn released_slowly(word: usize, hold: Hold, id: HoldId) {
    if id == HoldId::UNKNOWN && !RECORDER.erases.load(Ordering::Relaxed) {
        return;
    }
    if is_anything_asked() {
        note(word, hold, id);
    }
    if id == HoldId::UNKNOWN {
        erase(word, hold);
    } else {
        TABLE.free(place(id));
    }
}

#[inline(always)]
fn erase(word: usize, hold: Hold) {
    if hold == Hold::Mutex { erase_only(word) } else { erase_one(word, hold) }
}

/// Keeps what the record says until the release is over and it is known whether others wait (`release.rs`).
#[inline(never)]
fn note(word: usize, hold: Hold, id: HoldId) {
    let found = if id == HoldId::UNKNOWN { one(word, hold) } else { own(id) };
    if tracing::is_followed() {
        tell_released(found.map(|(at, _)| at));
    }
    let release = found.map_or(Release::default(), |(_, entry)| {
        // Of several readers without places in the table any may be meant, of one line all the same.
        let is_any = id == HoldId::UNKNOWN && hold == Hold::Read;
        let is_known = || !is_any || find(word, hold).all(|(_, other)| other.site == entry.site);
        if is_elsewhere_now(&entry) && is_known() {
            sent::learn(entry.site);
        }
        let task = (entry.who & TASK != 0).then_some(entry.task);
        Release::new(Some(entry.site), time(entry.since), task)
    });
    note_release(word, release);
    if traces_all() {
        trace_released(word, release.task, release.site, release.since);
    }
}

/// Whether the guard is with another than what acquired it: the thread that releases it here, or the task that this thread polls.
fn is_elsewhere_now(entry: &Entry) -> bool {
    let acquirer = entry.who >> FLAG_BITS;
    let is_other_thread = acquirer != numbered::UNKNOWN && acquirer != NUMBER.get() >> FLAG_BITS;
    entry.who & ELSEWHERE == 0
        && match (entry.who & TASK != 0, entry.number) {
            (false, _) => is_other_thread,
            // Of a task without a number it is known only if no other thread can poll it.
            (true, 0) => entry.who & ALONE != 0 && is_other_thread,
            (true, number) => number != kept_number(task_of_this_thread()),
        }
}

/// The record of a word that has one at most.
#[inline(always)]
fn erase_only(word: usize) {
    if !RECORDER.table.free_at_home(word) {
        erase_one(word, Hold::Mutex);
    }
}

/// A record of a guard that keeps no place, preferably of this thread's.
#[cold]
fn erase_one(word: usize, hold: Hold) {
    // Of two that look at once each takes another.
    while let Some((at, entry)) = one(word, hold) {
        if TABLE.take(at, entry.who) {
            return;
        }
    }
}

/// A record of a word, preferably of this thread's.
fn one(word: usize, hold: Hold) -> Option<(usize, Entry)> {
    let is_own = |entry: &Entry| entry.who >> FLAG_BITS == NUMBER.get() >> FLAG_BITS;
    find(word, hold).find(|(_, entry)| is_own(entry)).or_else(|| find(word, hold).next())
}

fn find(word: usize, hold: Hold) -> impl Iterator<Item = (usize, Entry)> {
    TABLE.find(word, move |entry| entry.who & HOLD == hold as u64)
}

/// The holder goes on in another way: it upgrades, or downgrades. Returns what its new guard has to keep.
#[inline(always)]
pub fn changed(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    if RECORDER.erases.load(Ordering::Relaxed) { change(word, from, to, id) } else { HoldId::NONE }
}

#[cold]
fn change(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    let found = if id == HoldId::UNKNOWN { find(word, from).next() } else { own(id) };
    let Some((at, entry)) = found else { return HoldId::NONE };
    TABLE.change(at, entry.who & !HOLD | to as u64);
    if tracing::is_followed() {
        follow::tell(|| Step::Changed { hold: at, mode: to });
    }
    self::id(at)
}

/// The record of a guard, which nobody else erases.
fn own(id: HoldId) -> Option<(usize, Entry)> {
    let at = (id != HoldId::NONE && id != HoldId::UNKNOWN).then(|| place(id))?;
    Some((at, TABLE.at(at)?))
}

/// The guard is made to be sent elsewhere.
#[inline(always)]
pub fn may_be_elsewhere(word: usize, hold: Hold, id: HoldId) {
    if RECORDER.now.load(Ordering::Relaxed) != 0 {
        mark_elsewhere(word, hold, id);
    }
}

#[cold]
#[inline(never)]
fn mark_elsewhere(word: usize, hold: Hold, id: HoldId) {
    let found = if id == HoldId::UNKNOWN { find(word, hold).next() } else { own(id) };
    if let Some((at, entry)) = found {
        TABLE.change(at, entry.who | ELSEWHERE);
    }
}

/// Whether the guard was made to be sent elsewhere: its holder is about to release the lock, and to acquire it again for the same guard.
#[inline(always)]
pub fn was_made_to_be_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    RECORDER.now.load(Ordering::Relaxed) != 0 && is_marked(word, hold, id)
}

#[cold]
#[inline(never)]
fn is_marked(word: usize, hold: Hold, id: HoldId) -> bool {
    let found = if id == HoldId::UNKNOWN { find(word, hold).next() } else { own(id) };
    found.is_some_and(|(_, entry)| entry.who & ELSEWHERE != 0)
}

/// The guard is gone, and its hold stays.
#[inline(always)]
pub fn forgotten(id: HoldId) {
    if let Some((at, entry)) = own(id) {
        TABLE.change(at, entry.who | FORGOTTEN | ELSEWHERE);
    }
}

/// A part of the permits has a guard of its own. `left` are with the first one.
#[inline(always)]
pub fn split(word: usize, id: HoldId, left: usize, permits: usize) -> HoldId {
    let Some((at, entry)) = own(id) else { return HoldId::NONE };
    TABLE.set_permits(at, left);
    let place =
        TABLE.claim_with(word, entry.since, entry.site, entry.who, (entry.task, entry.number), permits);
    place.map_or_else(unrecorded, self::id)
}

/// Two guards have become one, with so many permits. Returns what that has to keep.
#[inline(always)]
pub fn merged(word: usize, id: HoldId, other: HoldId, permits: usize) -> HoldId {
    let (kept, gone) = if id == HoldId::NONE { (other, id) } else { (id, other) };
    if let Some((at, _)) = own(kept) {
        TABLE.set_permits(at, permits);
    }
    released(word, Hold::Permits, gone);
    kept
}

/// Permits were added that nobody gives back: they stand for as many that were forgotten.
#[inline(always)]
pub fn permits_added(word: usize, permits: usize) {
    if RECORDER.erases.load(Ordering::Relaxed) {
        forget_no_more(word, permits);
    }
}

#[cold]
fn forget_no_more(word: usize, mut permits: usize) {
    let mut forgotten: Vec<_> = find(word, Hold::Permits).collect();
    forgotten.retain(|(_, entry)| entry.who & FORGOTTEN != 0);
    forgotten.sort_by_key(|(_, entry)| entry.since);
    for (at, entry) in forgotten {
        match entry.permits.checked_sub(permits) {
            Some(left) if left > 0 => return TABLE.set_permits(at, left),
            _ => TABLE.free(at),
        }
        permits -= entry.permits;
    }
}

/// The lock goes. Guards that were leaked held it; another may be made in its place.
#[inline(never)] // or each function that may drop a lock keeps the address of the table in a register
pub fn dropped(word: usize) {
    if RECORDER.erases.load(Ordering::Relaxed) {
        drop_all(word);
    }
}

#[cold]
fn drop_all(word: usize) {
    erase_all(word);
    types::forget(word);
    if tracing::is_followed() {
        follow::tell(|| Step::Dropped { word });
    }
}

#[cold]
fn erase_all(word: usize) {
    TABLE.find(word, |_| true).for_each(|(at, _)| TABLE.free(at));
}

const _: () = assert!(FLAGS == 0xFF && HOLD < TASK);
