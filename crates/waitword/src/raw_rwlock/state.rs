//! The bits of the state word: the table in `mod.rs` has their meaning.

use crate::barging_window;

pub(super) const WRITER: u64 = 1;
pub(super) const UPGRADABLE: u64 = 1 << 1;
pub(super) const QUEUED: u64 = 1 << 2;
pub(super) const SIGNALLED: u64 = 1 << 3;
pub(super) const FAIR: u64 = 1 << 4;
pub(super) const PACE_SHIFT: u32 = 5;
pub(super) const PACE: u64 = ((1 << barging_window::BITS) - 1) << PACE_SHIFT;
pub(super) const ONE_READER: u64 = 1 << (PACE_SHIFT + barging_window::BITS);
pub(super) const READERS: u64 = !(ONE_READER - 1);
/// There are [`MAX_READERS`].
pub(super) const FULL: u64 = 1 << 63;
pub(super) const HOLDERS: u64 = WRITER | UPGRADABLE | READERS;

/// How many can read at a time: 2^30, as many as a GiB of memory has bytes.
pub(crate) const MAX_READERS: u64 = FULL / ONE_READER;
