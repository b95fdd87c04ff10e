//! A release that is under way: what its lock's record said.
//!
//! The record is erased before the release, because the next holder may make its own right after it; whether others wait is known
//! after the release. Between the two this thread keeps what it may be charged with.

use std::cell::Cell;

use super::site::Site;
use crate::time::Instant;

/// A hold that ends, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Release {
    /// Where the lock was taken.
    pub site: Option<&'static Site>,
    /// When.
    pub since: Option<Instant>,
    /// The data pointer of the waker of the task that took it; `None`: a thread.
    pub task: Option<usize>,
}

impl Release {
    /// Of a lock that was taken at `site`, by the task with a waker of this data pointer or by a thread.
    pub fn new(site: Option<&'static Site>, since: Option<Instant>, task: Option<usize>) -> Self {
        Self { site, since, task }
    }
}

thread_local! {
    static NOTED: Cell<Option<(usize, Release)>> = const { Cell::new(None) };
}

/// For building locks: this thread is about to release the lock with the word at this address. For
/// [`charge_release`](crate::charge_release), which may follow.
#[inline]
pub fn note_release(word: usize, release: Release) {
    NOTED.set(Some((word, release)));
}

/// What was noted of the word.
pub(crate) fn noted(word: usize) -> Release {
    NOTED.take().filter(|(noted, _)| *noted == word).map(|(_, release)| release).unwrap_or_default()
}
