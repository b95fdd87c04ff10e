//! The hooks of `notifies.rs` where nothing is recorded: empty.

use super::origin::Caller;

/// Nothing is recorded.
#[inline(always)]
pub fn notes_notifies() -> bool {
    false
}

/// Nothing is recorded.
#[inline(always)]
pub fn note_notify(_word: usize, _woken: usize, _caller: Caller) {}

/// Nothing is recorded.
#[inline(always)]
pub fn forget_notify(_word: usize) {}
