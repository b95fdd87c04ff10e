//! Reports to an observer: acquisitions, by the loop and by the attempts before it, and releases (`raw_mutex/`, `raw_rwlock/`, the
//! permits). Compiles to nothing without the feature `observe`.

use std::task::Waker;

use waitword_core::observe::{Caller, HOLDERS, asks};

use crate::acquire::attempts::{self, try_reserved};
use crate::acquire::{Acquire, Ask};
use crate::coop;
use crate::holders::{
    Change, Hold, HoldId, acquired, acquired_by_task, acquired_now, changed, released_now,
    was_made_to_be_sent,
};

/// The attempt of a thread that blocks if it fails, until a deadline if it `gives_up`. Returns what the guard has to keep.
///
/// The recording attempt shares no instruction and no register with the plain one, so while holders are not recorded, it costs only the
/// test. `ask` is a function so that each attempt has code of its own.
#[inline(always)]
#[track_caller]
pub(crate) fn take<R: Acquire>(raw: &R, ask: impl Fn() -> Ask<R> + Copy, gives_up: bool) -> Option<HoldId> {
    if asks(HOLDERS) && R::report(ask()).hold.is_some() {
        return take_recorded(raw, ask(), Caller::here(), gives_up);
    }
    attempts::take(raw, ask()).then_some(HoldId::NONE)
}

/// As [`take`], when the observer was just found to ask for holders.
#[cold]
#[inline(never)]
fn take_recorded<R: Acquire>(raw: &R, ask: Ask<R>, caller: Caller, gives_up: bool) -> Option<HoldId> {
    let report = R::report(ask);
    let hold = report.hold.filter(|_| attempts::take(raw, ask))?;
    Some(acquired_now(raw.held_at(), hold, report.permits, caller, gives_up))
}

/// The attempt of an acquirer that does not wait.
#[inline]
#[track_caller]
pub(crate) fn try_take<R: Acquire>(raw: &R, ask: Ask<R>) -> Option<HoldId> {
    let is_taken = attempts::take(raw, ask) || try_reserved(raw, ask);
    let caller = Caller::here();
    is_taken.then(|| held_by_thread(raw, ask, caller, true))
}

/// Reports the release to the observer, then releases the lock by `let_go`. In this order, because the next holder may acquire as soon as
/// the lock is free. If the acquisition was not reported, this costs only the comparison, because the halves share no register. `how`
/// returns how the lock was held; it is a function for the reason that [`take`] gives.
#[inline(always)]
pub(crate) fn release<R: Acquire, U>(
    raw: &R,
    hold: HoldId,
    how: impl FnOnce() -> Hold,
    let_go: impl FnOnce(&R) -> U,
) {
    if hold.is_some() {
        release_recorded(raw, hold, how, let_go);
    } else {
        let_go(raw);
    }
}

/// As [`release`], of what was acquired with this ask.
#[inline]
pub(crate) fn release_by_ask<R: Acquire>(raw: &R, ask: Ask<R>, hold: HoldId) {
    let how = || R::report(ask).hold.expect("it has a record");
    release(raw, hold, how, |raw| raw.give_back(ask));
}

#[cold]
#[inline(never)]
fn release_recorded<R: Acquire, U>(
    raw: &R,
    hold: HoldId,
    how: impl FnOnce() -> Hold,
    let_go: impl FnOnce(&R) -> U,
) {
    released_now(raw.held_at(), how(), hold);
    let_go(raw);
}

/// This thread has acquired the lock, and would have given up at a deadline if it `gives_up`.
#[inline(always)]
pub(crate) fn held_by_thread<R: Acquire>(raw: &R, ask: Ask<R>, caller: Caller, gives_up: bool) -> HoldId {
    let report = R::report(ask);
    match report.hold {
        None => HoldId::NONE,
        Some(hold) => acquired(raw.held_at(), hold, report.permits, caller, gives_up),
    }
}

/// The task that is polled with this waker has acquired the lock.
#[inline(always)]
pub(crate) fn held_by_task<R: Acquire>(
    raw: &R,
    ask: Ask<R>,
    caller: impl FnOnce() -> Caller,
    task: &Waker,
    gives_up: bool,
) -> HoldId {
    let report = R::report(ask);
    match report.hold {
        None => HoldId::NONE,
        Some(hold) => {
            acquired_by_task(raw.held_at(), hold, report.permits, caller(), task, coop::is_alone, gives_up)
        }
    }
}

/// For a guard whose lock is released for a while: whether the guard was made to be sent to others.
pub(crate) struct WasSent(bool);

impl WasSent {
    /// To be called before the release.
    pub(crate) fn look<R: Acquire>(raw: &R, ask: Ask<R>, hold: HoldId) -> Self {
        Self(R::report(ask).hold.is_some_and(|how| was_made_to_be_sent(raw.held_at(), how, hold)))
    }

    /// To be called after the lock was acquired again.
    pub(crate) fn say<R: Acquire>(&self, raw: &R, ask: Ask<R>, hold: HoldId) {
        if let (true, Some(how)) = (self.0, R::report(ask).hold) {
            changed(raw.held_at(), how, hold, Change::Sent);
        }
    }
}
