//! Call: wakes the first in line and leaves it there.
//!
//! A notify takes a waiter off the queue, so one who is notified and then finds that somebody else was faster has lost its
//! place. Who builds a lock wants neither that nor to hand the lock over before the waiter has shown up. A call is the
//! offer in between: *come and look*.
//!
//! ```text
//!   waiter (first in line)                  caller
//!   ──────────────────────────────          ──────────────────────────────────
//!   QUEUED, wake set
//!                                           lock the shard: QUEUED → SIGNALLED, take the wake
//!                                           unlock; ring
//!   looks: what it wants is free?
//!     yes: takes it, leaves the queue
//!     no:  lock: SIGNALLED → QUEUED, set       (the next call reaches it again: it is still the first)
//!          a wake; unlock; looks again
//! ```
//! The last look closes the race with a caller that came between the first look and the wake, and passed it over.

use crate::shard::Key;
use crate::table::{Location, Table, address, release, unlock};
use crate::waiter::wake::Wake;

/// Wakes the first in line that has not been called since it last looked, and leaves it in line. Returns how many are in
/// line, or 0 if there is nobody to call.
///
/// Nothing is counted, and no wait ends by it. It is for those who build locks: a call is an offer, which the waiter takes
/// up, without having lost its place if somebody else was faster. A future looks when it is polled, a blocked thread when it
/// wakes up and goes on waiting. Agents' waits cannot be called, and are passed over.
///
/// If one who was called does not look within [`STALL_TIMEOUT`] or twice that, the next in line is called too; in the table of
/// the process. In others whoever made them sees to that ([`Table::signal_stalled`]).
///
/// Costs a fence and two loads when nobody waits on the word; otherwise takes the shard's lock, and as much again for each
/// waiter at the front that was called before and has not looked.
///
/// # Panics
/// When the waker does; and if the system cannot start the thread that keeps the time, at the first call of the process
/// that leaves somebody behind the one it called.
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::sync::atomic::AtomicI32;
/// use std::task::{Context, Waker};
/// use waitword_core::{signal_one, notify_one, wait_async};
///
/// let word = AtomicI32::new(0);
/// assert_eq!(signal_one(&word), 0, "nobody is there");
/// let mut waiting = pin!(wait_async(&word, 0));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(signal_one(&word), 1);
/// assert_eq!(signal_one(&word), 0, "called, and has not looked yet");
/// assert!(waiting.is_signalled());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(signal_one(&word), 1);
/// assert_eq!(notify_one(&word), 1, "still in line");
/// ```
#[inline]
pub fn signal_one<L: Location>(at: L) -> usize {
    let table = at.table();
    let key = table.key_of(address(&at));
    if table.shard(key).is_idle(key.hash) { 0 } else { signal_first(table, key) }
}

#[inline(never)]
fn signal_first(table: &Table, key: Key) -> usize {
    let mut locked = table.lock(key);
    let called = locked.signal_first(key);
    let follow_up = unlock(locked);
    // If ringing panics, so does the call, and there is nobody else to tell.
    let len = called.map_or(0, |(wake, len)| {
        Wake::ring(wake);
        len
    });
    drop(follow_up);
    len
}

/// Whether all who are in line were called and have not looked for so long that one who stood behind them would have been
/// called ([`STALL_TIMEOUT`]), if anybody is in line at all.
///
/// For those who build locks, and for the attempt that does not wait: it may have what is kept for those in line if this is
/// so. To ask counts as standing behind them for a moment, so that the next sweep looks at them: one who asks again and again
/// gets there.
///
/// Takes the shard's lock, and looks at those at the front who have been passed over and at one more.
///
/// # Panics
/// As [`signal_one`], if the thread that keeps the time cannot be started.
pub fn is_queue_stalled<L: Location>(at: L) -> bool {
    let table = at.table();
    let key = table.key_of(address(&at));
    let mut locked = table.lock(key);
    let is_stalled = locked.is_stalled(key);
    release(locked);
    is_stalled
}
