//! Recording holders: where the loop, and the attempts before it, have acquired a lock for a thread or a task. Its release erases the
//! record (`raw_mutex/`, `raw_rwlock/`, the permits). Nothing of this is left without the feature `observe`.

use std::task::Waker;

use waitword_core::observe::Caller;
use waitword_core::observe::holders::{
    Hold, HoldId, acquired, acquired_by_task, acquired_permits, may_be_elsewhere, may_be_recorded, records,
    released_quickly, released_slowly, was_made_to_be_sent,
};

use crate::acquire::raw::{Acquire, try_reserved};
use crate::coop;

/// The first attempt of a thread that blocks otherwise. Returns what the guard has to keep.
///
/// While holders are recorded this makes none, and the blocking half begins with one ([`take_recorded`]). So where they are not, the question
/// is all that it costs: the attempt that records shares no instruction, and no register, with this one.
#[inline(always)]
pub(crate) fn take<R: Acquire>(raw: &R, ask: R::Ask) -> Option<HoldId> {
    let is_left = R::hold(ask).is_some() && records();
    (!is_left && raw.take(ask)).then_some(HoldId::NONE)
}

/// The first attempt of the blocking half. It is made also if holders are not recorded, for they may have been when [`take`] asked.
#[inline(always)]
pub(super) fn take_recorded<R: Acquire>(
    raw: &R,
    ask: R::Ask,
    caller: Caller,
    gives_up: bool,
) -> Option<HoldId> {
    let is_made = cfg!(feature = "observe") && R::hold(ask).is_some();
    (is_made && raw.take(ask)).then(|| held_by_thread(raw, ask, caller, gives_up))
}

/// The attempt of an acquirer that does not wait.
#[inline]
#[track_caller]
pub(crate) fn try_take<R: Acquire>(raw: &R, ask: R::Ask) -> Option<HoldId> {
    let is_taken = raw.take(ask) || try_reserved(raw, ask);
    let caller = Caller::here();
    is_taken.then(|| held_by_thread(raw, ask, caller, true))
}

/// Erases the holder's record, and then releases the lock by `let_go`: the next holder may have a record as soon as the lock is free. Where
/// there is no record, the comparison is all that it costs, as the halves share no register.
#[inline(always)]
pub(crate) fn release(held_at: usize, how: Hold, hold: HoldId, let_go: impl FnOnce()) {
    if may_be_recorded(hold) {
        release_recorded(held_at, how, hold, let_go);
    } else {
        let_go();
    }
}

#[cold]
#[inline(never)]
fn release_recorded(held_at: usize, how: Hold, hold: HoldId, let_go: impl FnOnce()) {
    if released_quickly(hold) {
        let_go();
    } else {
        release_slowly(held_at, how, hold, let_go);
    }
}

#[cold]
#[inline(never)]
fn release_slowly(held_at: usize, how: Hold, hold: HoldId, let_go: impl FnOnce()) {
    released_slowly(held_at, how, hold);
    let_go();
}

/// This thread has acquired it, and would have given up at a deadline if it `gives_up`.
#[inline(always)]
pub(crate) fn held_by_thread<R: Acquire>(raw: &R, ask: R::Ask, caller: Caller, gives_up: bool) -> HoldId {
    match R::hold(ask) {
        None => HoldId::NONE,
        Some(hold) => match R::permits(ask) {
            None => acquired(raw.held_at(), hold, caller, gives_up),
            Some(permits) => acquired_permits(raw.held_at(), permits, caller),
        },
    }
}

/// The task that is polled with this waker has acquired it.
#[inline(always)]
pub(crate) fn held_by_task<R: Acquire>(
    raw: &R,
    ask: R::Ask,
    caller: impl FnOnce() -> Caller,
    task: &Waker,
    gives_up: bool,
) -> HoldId {
    match R::hold(ask) {
        None => HoldId::NONE,
        Some(hold) => acquired_by_task(
            raw.held_at(),
            hold,
            R::permits(ask).unwrap_or(1),
            caller(),
            task,
            coop::is_alone,
            gives_up,
        ),
    }
}

/// Of a guard whose lock is released for a while: whether the guard was made to be sent to others.
pub(crate) struct WasSent(bool);

impl WasSent {
    /// Before the release.
    pub(crate) fn look<R: Acquire>(raw: &R, ask: R::Ask, hold: HoldId) -> Self {
        Self(R::hold(ask).is_some_and(|how| was_made_to_be_sent(raw.held_at(), how, hold)))
    }

    /// After the lock was acquired again.
    pub(crate) fn say<R: Acquire>(&self, raw: &R, ask: R::Ask, hold: HoldId) {
        if let (true, Some(how)) = (self.0, R::hold(ask)) {
            may_be_elsewhere(raw.held_at(), how, hold);
        }
    }
}
