//! Signal: wakes the head waiter and leaves it in the queue.
//!
//! A notify dequeues. A waiter that is notified and then finds that a barging acquirer has taken the lock has lost its
//! position; a lock that is handed off to a waiter stands idle until that waiter runs. A signal is the offer in between:
//! the waiter is woken, keeps its position, and takes the lock if it still is free.
//!
//! ```text
//!   waiter (head of the queue)              signaller (who releases the lock)
//!   ──────────────────────────────          ──────────────────────────────────
//!   QUEUED, its waker set
//!                                           lock the shard: QUEUED → SIGNALLED, take the waker
//!                                           unlock; wake
//!   rechecks: is the lock free?
//!     yes: takes it, leaves the queue
//!     no:  lock: SIGNALLED → QUEUED, set    (the next signal finds it again: it still is the head)
//!          a waker; unlock; rechecks again
//! ```
//! The last recheck closes the race with a signaller that came between the first recheck and the new waker, and skipped the
//! waiter because it was `SIGNALLED`. Signalled waiters that do not respond are the watchdog's business
//! (`table/watchdog.rs`).

use crate::observe::Waking;
use crate::shard::hash::Key;
use crate::sync::mutant;
use crate::table::enqueue::{release, unlock};
use crate::table::{Location, Table, address};
use crate::waiter::wake::Wake;

/// Wakes the first waiter of the queue that is not signalled yet, and leaves it in the queue. Returns how many waiters
/// the queue has, or 0 if there is none to signal.
///
/// A signal counts no waiter and ends no wait. It is for building locks: an offer. If a barging acquirer is faster, the
/// waiter has not lost its position. A future acknowledges it when it is polled, a blocked thread when it
/// wakes and goes on waiting. The waits of agents cannot be signalled, and are skipped.
///
/// If a signalled waiter does not respond within `STALL_TIMEOUT` or twice that, the next one is signalled too: in the table of the process
/// by the watchdog, in another table by its owner ([`Table::signal_stalled`]).
///
/// Costs a fence and two loads without waiters on the word; otherwise takes the shard's lock, and O(1) more for each
/// signalled waiter at the front that has not responded.
///
/// Does not panic: a panic of a waker is caught, as in [`notify_many`](crate::notify_many); if the system cannot start the watchdog's
/// thread, the next signal or wait tries again.
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::sync::atomic::AtomicI32;
/// use std::task::{Context, Waker};
/// use waitword_core::{notify_one, signal_one, wait_async};
///
/// let word = AtomicI32::new(0);
/// assert_eq!(signal_one(&word), 0, "there is no waiter");
/// let mut waiting = pin!(wait_async(&word, 0));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(signal_one(&word), 1);
/// assert_eq!(signal_one(&word), 0, "signalled, and not polled since");
/// assert!(waiting.is_signalled());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(signal_one(&word), 1);
/// assert_eq!(notify_one(&word), 1, "still queued");
/// ```
#[inline]
pub fn signal_one<L: Location>(at: L) -> usize {
    let table = at.table();
    let key = table.key_of(address(&at));
    if table.shard(key).is_idle(key.hash) { 0 } else { signal_first(table, key, false) }
}

/// As [`signal_one`], past the waiters that let signals pass ([`WaitAsync::let_pass`](crate::WaitAsync::let_pass)).
///
/// Visits each of them at the front.
///
/// ```
/// use std::pin::pin;
/// use std::sync::atomic::AtomicI32;
/// use std::task::{Context, Waker};
/// use waitword_core::{signal_one, signal_past, wait_async};
///
/// let word = AtomicI32::new(0);
/// let (mut first, mut behind) = (pin!(wait_async(&word, 0)), pin!(wait_async(&word, 0)));
/// let mut cx = Context::from_waker(Waker::noop());
/// for wait in [&mut first, &mut behind] {
///     assert!(wait.as_mut().poll_signalled(&mut cx).is_pending());
/// }
/// first.as_mut().let_pass();
/// assert_eq!(signal_past(&word), 2);
/// assert!(behind.is_signalled() && !first.is_signalled());
/// assert_eq!(signal_one(&word), 2);
/// assert!(first.is_signalled());
/// ```
pub fn signal_past<L: Location>(at: L) -> usize {
    let table = at.table();
    let key = table.key_of(address(&at));
    if table.shard(key).is_idle(key.hash) { 0 } else { signal_first(table, key, true) }
}

#[inline(never)]
fn signal_first(table: &Table, key: Key, goes_past: bool) -> usize {
    let mut locked = table.lock(key);
    let waking = Waking::now();
    let signalled = locked.signal_first(key, goes_past);
    let follow_up = unlock(locked);
    waking.signalled(key.address, signalled.iter().map(|(wake, _)| wake.identity()));
    let len = signalled.map_or(0, |(wake, len)| {
        Wake::wake(wake);
        len
    });
    drop(follow_up);
    len
}

/// Whether every waiter of the queue has been skipped: signalled, and unresponsive for so long that a waiter behind it would have been
/// signalled in its place. True for an empty queue.
///
/// For building locks: an attempt that does not wait (`try_lock`) may take what is reserved for the queue if this is true. Until the next
/// pass of the watchdog, asking counts as being queued behind these waiters: an acquirer that asks repeatedly gets `true` after three times
/// `STALL_TIMEOUT` at the latest.
///
/// Takes the shard's lock, and visits the skipped waiters at the front and one more.
pub fn is_queue_stalled<L: Location>(at: L) -> bool {
    let table = at.table();
    let key = table.key_of(address(&at));
    let mut locked = table.lock(key);
    let is_stalled = locked.is_stalled(key);
    mutant!("watch-question" => return is_stalled);
    release(locked);
    is_stalled
}
