//! What is asked of acquisitions and releases besides their records: blame, traces, a listener. One word, so that one load tells whether there
//! is anything.

use std::sync::atomic::{AtomicU32, Ordering};

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Who made others wait is charged.
pub(crate) const BLAME: u32 = 1;
/// A trace of waits. There can be several.
pub(crate) const TRACE: u32 = 2;
/// A trace of all acquisitions and releases.
pub(crate) const TRACE_ALL: u32 = TRACE | 1 << 16;

/// A listener follows holders (`follow.rs`). There is one at most.
pub(crate) const FOLLOWED: u32 = 1 << 30;

pub(crate) fn begin(what: u32) {
    ASKED.fetch_add(what, Ordering::SeqCst);
    tell();
}

pub(crate) fn end(what: u32) {
    ASKED.fetch_sub(what, Ordering::SeqCst);
    tell();
}

/// Each record, and the switch of the holders, say whether anything is asked of them: so an acquisition and its release look at what they
/// look at anyway.
fn tell() {
    #[cfg(not(any(waitword_loom, waitword_shuttle)))]
    super::holders::ask_anew(|| (is_anything_asked(), traces_all()));
}

/// Whether there is blame, a trace or a listener.
#[inline(always)]
pub(crate) fn is_anything_asked() -> bool {
    ASKED.load(Ordering::Relaxed) != 0
}

/// Whether who made others wait is charged.
#[inline(always)]
pub(crate) fn blames() -> bool {
    ASKED.load(Ordering::Relaxed) & BLAME != 0
}

/// Whether there is a trace.
#[inline(always)]
pub(crate) fn traces() -> bool {
    ASKED.load(Ordering::Relaxed) % FOLLOWED >= TRACE
}

/// Whether a listener follows holders.
#[inline(always)]
pub(crate) fn is_followed() -> bool {
    ASKED.load(Ordering::Relaxed) >= FOLLOWED
}

/// Whether there is a trace of all acquisitions and releases.
pub(crate) fn is_all_traced() -> bool {
    ASKED.load(Ordering::Relaxed) % FOLLOWED >= TRACE_ALL & !TRACE
}

/// Whether all acquisitions and releases have to be told, to a trace or to a listener. For building locks: one load.
#[inline(always)]
pub fn traces_all() -> bool {
    ASKED.load(Ordering::Relaxed) >= TRACE_ALL & !TRACE
}
