//! The hooks of `on.rs` where nothing is recorded: empty.

use std::task::Waker;

use super::hold::Hold;
use super::kept::{HoldId, Recorded};
use crate::observe::{Caller, Site};

/// There is none.
#[derive(Clone, Copy, Debug)]
pub struct Now;

/// Nothing is recorded.
#[inline(always)]
pub fn recording() -> Option<Now> {
    None
}

/// Nothing is recorded.
#[inline(always)]
pub fn recorded(_id: HoldId) -> Option<Recorded> {
    None
}

/// Nothing is recorded.
#[inline(always)]
pub fn as_recorded(_now: Now, _id: HoldId) -> Recorded {
    Recorded
}

/// Nothing is recorded.
#[inline(always)]
pub fn acquired(_word: usize, _hold: Hold, _caller: Caller, _gives_up: bool) -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn acquired_now(
    _now: Now,
    _word: usize,
    _hold: Hold,
    _permits: Option<usize>,
    _site: &'static Site,
    _gives_up: bool,
) -> Recorded {
    Recorded
}

/// Nothing is recorded.
#[inline(always)]
pub fn acquired_by_task(
    _word: usize,
    _hold: Hold,
    _permits: usize,
    _caller: Caller,
    _task: &Waker,
    _is_alone: impl FnOnce() -> bool,
    _gives_up: bool,
) -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn acquired_permits(_word: usize, _permits: usize, _caller: Caller) -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn may_be_elsewhere(_word: usize, _hold: Hold, _id: HoldId) {}

/// Nothing is recorded.
#[inline(always)]
pub fn was_made_to_be_sent(_word: usize, _hold: Hold, _id: HoldId) -> bool {
    false
}

/// Nothing is recorded.
#[inline(always)]
pub fn changed(_word: usize, _from: Hold, _to: Hold, _id: HoldId) -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn not_kept() -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn released_quickly(_recorded: Recorded) -> bool {
    true
}

/// Nothing is recorded.
#[inline(always)]
pub fn released_slowly(_word: usize, _hold: Hold, _recorded: Recorded) {}

/// Nothing is recorded.
#[inline(always)]
pub fn released(_word: usize, _hold: Hold, _id: HoldId) {}

/// Nothing is recorded.
#[inline(always)]
pub fn forgotten(_id: HoldId) {}

/// Nothing is recorded.
#[inline(always)]
pub fn split(_id: HoldId, _left: usize, _permits: usize) -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn merged(_word: usize, _id: HoldId, _other: HoldId, _permits: usize) -> HoldId {
    HoldId::NONE
}

/// Nothing is recorded.
#[inline(always)]
pub fn permits_added(_word: usize, _permits: usize) {}

/// Nothing is recorded.
#[inline(always)]
pub fn dropped(_word: usize, _may_hold: bool) {}
