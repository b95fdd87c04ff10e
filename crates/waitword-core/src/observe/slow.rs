//! Locks that were held so that others waited long: a line for each, kept until somebody prints it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use super::origin::WaitsFor;
use super::site::Site;
use crate::sync::lock;

/// So many are kept. Further ones are counted.
const KEPT: usize = 64;

/// Of a crowd of waiters the kinds of so many are told.
pub(crate) const CROWD: usize = 64;

/// Nanoseconds; 0: none is slow.
static THRESHOLD: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static SLOW: Mutex<Vec<Slow>> = Mutex::new(Vec::new());

/// A release after which another had waited for longer than the threshold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Slow {
    /// The word of the lock.
    pub word: usize,
    /// What the waiters wanted.
    pub waits_for: WaitsFor,
    /// Where the lock was taken, if it is known.
    pub site: Option<&'static Site>,
    /// Who took it: the data pointer of a task's waker, or `None` for the thread that released it, whose name is in `thread`.
    pub task: Option<usize>,
    /// The thread that released it.
    pub thread: std::thread::Thread,
    /// How long it was held, if it is known.
    pub held: Option<Duration>,
    /// How many waited at the release.
    pub waiters: usize,
    /// How many of these were threads that blocked, if there were no more than 64 waiters.
    pub threads: Option<usize>,
    /// How long the holder made the head of the queue wait.
    pub longest: Duration,
    /// Where that one waits.
    pub longest_at: Option<&'static Site>,
}

/// From now on a release that made another wait for so long is kept for [`take_slow`]; zero: none. Holders have to be charged
/// ([`start_blame`](super::start_blame)).
pub fn set_slow_threshold(threshold: Duration) {
    THRESHOLD.store(u64::try_from(threshold.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Those that were kept, the oldest first, and how many were lost since the last call.
pub fn take_slow() -> (Vec<Slow>, u64) {
    let slow = std::mem::take(&mut *lock(&SLOW));
    (slow, LOST.swap(0, Ordering::Relaxed))
}

#[inline]
pub(crate) fn is_slow(nanos: u64) -> bool {
    let threshold = THRESHOLD.load(Ordering::Relaxed);
    threshold != 0 && nanos >= threshold
}

/// Never waits: another thread that keeps one or takes them just now makes this one lost.
pub(crate) fn keep(slow: Slow) {
    let kept = match SLOW.try_lock() {
        Ok(kept) => Some(kept),
        Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    match kept {
        Some(mut kept) if kept.len() < KEPT => kept.push(slow),
        _ => {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }
}
