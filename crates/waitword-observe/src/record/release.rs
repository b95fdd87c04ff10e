//! A release that is under way: what its lock's record said.

use std::cell::Cell;

use waitword_core::observe::Site;
use waitword_core::time::Instant;

/// A hold that ends, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Release {
    /// Where the lock was taken.
    pub site: Option<&'static Site>,
    /// When.
    pub since: Option<Instant>,
    /// The data pointer of the waker of the task that took it; `None`: a thread.
    pub task: Option<usize>,
}

thread_local! {
    /// A release that is under way. Its record is erased before it, because the next holder may make its own right after it. Whether others wait
    /// is known after it. Between the two this thread keeps what it may be charged with.
    static UNDER_WAY: Cell<Option<(usize, Release)>> = const { Cell::new(None) };
}

/// What is known of the release of this word, which this thread has just made.
pub(crate) fn release_under_way(word: usize) -> Release {
    UNDER_WAY.take().filter(|(noted, _)| *noted == word).map(|(_, release)| release).unwrap_or_default()
}

/// This thread is about to release the lock with the word at this address.
pub fn note_release(word: usize, release: Release) {
    UNDER_WAY.set(Some((word, release)));
}
