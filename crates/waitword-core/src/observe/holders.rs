//! For building locks: every acquisition and every release that an observer is told of passes here.
//!
//! A guard keeps what the observer names its hold by, a [`HoldId`], and gives it back at the release. A guard without room for it (`lock_api`'s) says
//! [`not_kept`], and the observer looks for one of the lock's holds. Each function costs a load while nothing is asked for, or a look at
//! what the guard keeps.

#[cfg(feature = "observe")]
use std::ptr::NonNull;
use std::task::Waker;

use super::held_by::HeldBy;
pub use super::hold::{AcquiredByTask, Change, Hold, HoldId};
use super::origin::{Caller, WaitsFor};
use super::seam::{AWAITED, HOLDERS, RELEASES, asks, observer, tell};
use super::types::LockType;
use crate::thread::is_of_thread;

/// Whether acquisitions are asked for. One load.
#[inline(always)]
pub fn recording() -> bool {
    asks(HOLDERS)
}

/// What a guard keeps that has no room for it: the observer looks for the hold, if there may be any. One load.
#[inline(always)]
pub fn not_kept() -> HoldId {
    #[cfg(feature = "observe")]
    if asks(RELEASES) {
        return HoldId::new(NonNull::dangling());
    }
    HoldId::NONE
}

/// A thread has acquired the lock with this word; it `gives_up` if it would not have waited for ever. Returns what its
/// guard has to keep.
#[inline(always)]
pub fn acquired(word: usize, hold: Hold, caller: Caller, gives_up: bool) -> HoldId {
    acquired_permits(word, hold, 1, caller, gives_up)
}

/// As [`acquired`], of so many permits of a semaphore.
#[inline(always)]
pub fn acquired_permits(word: usize, hold: Hold, permits: usize, caller: Caller, gives_up: bool) -> HoldId {
    if asks(HOLDERS) { tell_acquired(word, hold, permits, caller, gives_up) } else { HoldId::NONE }
}

#[cold]
#[inline(never)]
fn tell_acquired(word: usize, hold: Hold, permits: usize, caller: Caller, gives_up: bool) -> HoldId {
    acquired_now(word, hold, permits, caller, gives_up)
}

/// As [`acquired_permits`], where [`recording`] was so just now. No call but that of the observer.
#[inline(always)]
pub fn acquired_now(word: usize, hold: Hold, permits: usize, caller: Caller, gives_up: bool) -> HoldId {
    match observer() {
        Some(observer) if permits > 0 => (observer.acquired)(word, hold, permits, caller.site(), gives_up),
        _ => HoldId::NONE,
    }
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
    if !asks(HOLDERS) {
        return HoldId::NONE;
    }
    let Some(task) = task_of(task) else { return tell_acquired(word, hold, permits, caller, gives_up) };
    let (site, is_alone) = (caller.site(), is_alone());
    tell_acquired_by_task(&AcquiredByTask { word, hold, permits, site, task, is_alone, gives_up })
}

#[cold]
#[inline(never)]
fn tell_acquired_by_task(acquired: &AcquiredByTask<'_>) -> HoldId {
    match observer() {
        Some(observer) if acquired.permits > 0 => (observer.acquired_by_task)(acquired),
        _ => HoldId::NONE,
    }
}

/// The waker, unless it is that of a thread that drives a future by parking, or of no task in particular, as [`Waker::noop`].
fn task_of(waker: &Waker) -> Option<&Waker> {
    (!is_of_thread(waker) && !waker.data().is_null()).then_some(waker)
}

/// The holder is about to release it. Calls nothing if the observer was not told of the acquisition.
#[inline(always)]
pub fn released(word: usize, hold: Hold, id: HoldId) {
    if id.is_some() {
        tell_released(word, hold, id);
    }
}

#[cold]
#[inline(never)]
fn tell_released(word: usize, hold: Hold, id: HoldId) {
    released_now(word, hold, id);
}

/// As [`released`], of which the observer has to be told ([`HoldId::is_some`]). No call but that of the observer.
#[inline(always)]
pub fn released_now(word: usize, hold: Hold, id: HoldId) {
    if let Some(observer) = observer() {
        (observer.released)(word, hold, id);
    }
}

/// The holder goes on in another way: it upgrades, or downgrades. Returns what its new guard has to keep.
#[inline(always)]
pub fn changed(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    change(word, from, id, Change::To(to))
}

/// The guard is made to be sent elsewhere.
#[inline(always)]
pub fn may_be_elsewhere(word: usize, hold: Hold, id: HoldId) {
    change(word, hold, id, Change::Sent);
}

/// The guard of permits is gone, and its hold stays.
#[inline(always)]
pub fn forgotten(id: HoldId) {
    change(0, Hold::Permits, id, Change::Forgotten);
}

/// A part of the permits has a guard of its own. `left` are with the first one.
#[inline(always)]
pub fn split(id: HoldId, left: usize, permits: usize) -> HoldId {
    change(0, Hold::Permits, id, Change::Split { left, permits })
}

/// Two guards have become one, with so many permits. Returns what that has to keep.
#[inline(always)]
pub fn merged(word: usize, id: HoldId, other: HoldId, permits: usize) -> HoldId {
    let (kept, gone) = if id.is_some() { (id, other) } else { (other, id) };
    change(word, Hold::Permits, kept, Change::Permits(permits));
    released(word, Hold::Permits, gone);
    kept
}

#[inline(always)]
fn change(word: usize, hold: Hold, id: HoldId, change: Change) -> HoldId {
    if id.is_some() { tell_change(word, hold, id, change) } else { HoldId::NONE }
}

#[cold]
#[inline(never)]
fn tell_change(word: usize, hold: Hold, id: HoldId, change: Change) -> HoldId {
    observer().map_or(HoldId::NONE, |observer| (observer.changed)(word, hold, id, change))
}

/// Whether the guard was made to be sent elsewhere: its holder is about to release the lock, and to acquire it again for the same guard.
#[inline(always)]
pub fn was_made_to_be_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    id.is_some() && asks(HOLDERS) && observer().is_some_and(|observer| (observer.is_sent)(word, hold, id))
}

/// Permits were added that nobody gives back: they stand for as many that were forgotten.
#[inline(always)]
pub fn permits_added(word: usize, permits: usize) {
    if asks(RELEASES) {
        tell_permits_added(word, permits);
    }
}

#[cold]
#[inline(never)]
fn tell_permits_added(word: usize, permits: usize) {
    if let Some(observer) = observer() {
        (observer.permits_added)(word, permits);
    }
}

/// The lock, condition variable or event goes. If guards `may_hold` it still, they were leaked; another may be made in its place.
#[inline(always)]
pub fn dropped(word: usize, may_hold: bool) {
    if asks(RELEASES) {
        tell_dropped(word, may_hold);
    }
}

#[cold]
#[inline(never)]
fn tell_dropped(word: usize, may_hold: bool) {
    if let Some(observer) = observer() {
        (observer.dropped)(word, may_hold);
    }
}

/// Who is in the way of an acquirer that wants this of the lock with the word, and whose time is up.
#[cold]
pub fn held_by(word: usize, waits_for: WaitsFor) -> HeldBy {
    if !asks(HOLDERS) {
        return HeldBy::NONE;
    }
    observer().map_or(HeldBy::NONE, |observer| (observer.held_by)(word, waits_for))
}

/// A thread, or the task that is polled with this waker, waits without a deadline for what it will not hold by having
/// it.
#[inline(always)]
pub fn awaited(word: usize, waits_for: WaitsFor, caller: Caller, task: Option<&Waker>) {
    if asks(AWAITED) {
        let task = task.and_then(task_of);
        tell(|observer| (observer.awaited)(word, waits_for, caller.site(), task));
    }
}

/// Whether notifies are to be [noted](note_notify).
#[inline(always)]
pub fn notes_notifies() -> bool {
    asks(HOLDERS)
}

/// The object with the word was notified, and so many waiters were woken.
#[cold]
#[inline(never)]
pub fn note_notify(word: usize, woken: usize, caller: Caller) {
    tell(|observer| (observer.notified)(word, woken, caller.site()));
}

/// Somebody is about to wait for the lock with this word, which is of this type.
#[cold]
pub fn note_lock_type(word: usize, lock_type: &'static LockType) {
    if asks(HOLDERS) {
        tell(|observer| (observer.typed)(word, lock_type));
    }
}
