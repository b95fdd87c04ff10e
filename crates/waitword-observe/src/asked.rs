//! What this crate asks the core to tell.

pub(crate) use waitword_core::observe::asks;
use waitword_core::observe::{AWAITED, DELAYS, OWN, WAITS};

/// A trace of all acquisitions and releases.
pub(crate) const TRACES_ALL: u32 = OWN;
/// A trace.
pub(crate) const TRACES: u32 = WAITS;
/// Who made others wait is charged.
pub(crate) const BLAMES: u32 = DELAYS;
/// The order of locks is followed.
pub(crate) const FOLLOWS: u32 = AWAITED;
