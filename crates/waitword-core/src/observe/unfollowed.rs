//! The hook of `follow.rs` that locks call, where nothing is followed: empty.

use std::task::Waker;

use super::origin::{Caller, WaitsFor};

/// Nothing is followed.
#[inline(always)]
pub fn awaited(_word: usize, _waits_for: WaitsFor, _caller: Caller, _task: Option<&Waker>) {}
