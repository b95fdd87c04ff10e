//! Notify: taken off the queue under the lock, woken after it.
//!
//! ```text
//!   lock ─ detach (all who are counted, at once) ─ settle a batch ─ unlock ─ ring the batch
//!                                                        ▲                        │
//!                                                        └────── lock ◄───────────┘   until none is left
//! ```

use std::convert::Infallible;
use std::pin::pin;

use crate::inbox::Inbox;
use crate::queue::List;
use crate::shard::Locked;
use crate::table::{Key, Table};
use crate::wake::{Wake, WakeBatch};
use crate::word::{Location, key};

/// Wakes the waiter that has waited longest on the word. Returns how many it woke: 0 or 1.
///
/// When nobody waits on the word it costs two loads and a fence; a lock too, if somebody holds that of the word's shard at the
/// moment, or another word that shares its bit there has waiters ([`protocol`](crate::protocol), section 2). See
/// [`notify_many`] for the rest.
#[inline]
pub fn notify_one<L: Location>(at: L) -> usize {
    notify(at.table(), key(&at), 1, None)
}

/// Wakes the waiter that came last to the word's queue. Returns how many it woke: 0 or 1.
///
/// For those who want the thread or task whose data is most likely still in a cache, and do not mind that the others wait
/// longer: the order among those who stay is unchanged. Costs what [`notify_one`] costs, however many wait; see
/// [`notify_many`] for the rest.
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::sync::atomic::AtomicI32;
/// use std::task::{Context, Waker};
/// use waitword_core::{notify_last, wait_async};
///
/// let word = AtomicI32::new(0);
/// let (mut first, mut last) = (pin!(wait_async(&word, 0)), pin!(wait_async(&word, 0)));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(first.as_mut().poll(&mut cx).is_pending() && last.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(notify_last(&word), 1);
/// assert!(first.as_mut().poll(&mut cx).is_pending() && last.as_mut().poll(&mut cx).is_ready());
/// ```
#[inline]
pub fn notify_last<L: Location>(at: L) -> usize {
    let (table, address) = (at.table(), key(&at));
    let key = table.key_of(address);
    if table.shard(key).is_idle(key.hash) {
        return 0;
    }
    let woken: Result<usize, Infallible> =
        wake_one_or(table, key, |locked, key| locked.settle_last(key), || Ok(()));
    woken.unwrap_or_else(|never| match never {})
}

/// Wakes all who wait on the word at this moment. Returns how many these were.
///
/// Whoever comes later is not woken, even while the wakes are still under way. See [`notify_many`] for the rest.
#[inline]
pub fn notify_all<L: Location>(at: L) -> usize {
    notify(at.table(), key(&at), usize::MAX, None)
}

/// Wakes the `count` waiters that have waited longest on the word, or all if there are fewer, in the order in
/// which they came. Returns how many it woke; each of these waits ends as
/// [`Notified`](crate::Outcome::Notified), and no other.
///
/// What the caller wrote before is visible to those it wakes, and to any later wait on the word.
///
/// Takes O(1) to take off one waiter, or all of them, and O(`count`) for a part of them, under the lock of the shard;
/// they are told in batches, between which the lock is free.
///
/// Only the address of the word is used. Store to it first, then notify: a waiter that saw the old value is woken.
///
/// # Panics
/// When a foreign waker or doorbell panics, all others are woken first; then the first panic goes on here.
///
/// ```
/// use std::sync::atomic::AtomicI64;
/// let word = AtomicI64::new(0);
/// assert_eq!(waitword_core::notify_many(&word, 3), 0);
/// ```
#[inline]
pub fn notify_many<L: Location>(at: L, count: usize) -> usize {
    notify(at.table(), key(&at), count, None)
}

/// Notifies on behalf of the agent with the inbox `notifier`, if one is named.
#[inline]
pub(crate) fn notify(table: &Table, address: usize, count: usize, notifier: Option<&Inbox>) -> usize {
    let key = table.key_of(address);
    if count == 0 || table.shard(key).is_idle(key.hash) {
        return 0;
    }
    if count == 1 { wake_first(table, key, notifier) } else { wake_many(table, key, count, notifier) }
}

/// The common case: one waiter needs neither a list nor a batch.
#[inline(never)]
fn wake_first(table: &Table, key: Key, notifier: Option<&Inbox>) -> usize {
    let mut locked = table.lock(key);
    let wake = locked.settle_first(key, notifier);
    let after = locked.unlock();
    // If this panics, so does the notify, and there is nobody else to tell.
    let woken = usize::from(wake.map(Wake::ring).is_some());
    after.settle();
    woken
}

#[cold]
fn wake_many(table: &Table, key: Key, count: usize, notifier: Option<&Inbox>) -> usize {
    detach_and_wake(table, key, count, notifier, table.lock(key))
}

/// The waiter that `settle` takes off the queue; or, if there is none, `change`, under the same lock (`replace.rs`).
pub(crate) fn wake_one_or<E>(
    table: &Table,
    key: Key,
    settle: impl FnOnce(&mut Locked<'_>, Key) -> Option<Wake>,
    change: impl FnOnce() -> Result<(), E>,
) -> Result<usize, E> {
    let mut locked = table.lock(key);
    let Some(wake) = settle(&mut locked, key) else {
        // The lock is still held: nobody has enqueued meanwhile.
        return change().map(|()| 0);
    };
    let after = locked.unlock();
    wake.ring();
    after.settle();
    Ok(1)
}

/// All in line, if `change` comes off, under the same lock (`replace.rs`).
pub(crate) fn wake_all_if<E>(
    table: &Table,
    key: Key,
    change: impl FnOnce() -> Result<(), E>,
) -> Result<usize, E> {
    let locked = table.lock(key);
    change()?;
    Ok(detach_and_wake(table, key, usize::MAX, None, locked))
}

/// `locked` is the shard of `key`.
#[allow(unsafe_code)]
fn detach_and_wake<'a>(
    table: &'a Table,
    key: Key,
    count: usize,
    notifier: Option<&Inbox>,
    mut locked: Locked<'a>,
) -> usize {
    let limbo = pin!(List::new());
    let limbo = limbo.as_ref();
    limbo.init();
    let mut batch = WakeBatch::new();
    let woken = locked.detach(key, count, limbo);
    loop {
        // SAFETY: filled by `detach` under the same lock. The loop ends only when the list is empty, so no waiter
        // is left linked to this stack frame.
        let more = unsafe { locked.settle(limbo, &mut batch, notifier) };
        let after = locked.unlock();
        batch.ring();
        after.settle();
        if !more {
            break;
        }
        locked = table.lock(key);
    }
    batch.finish();
    woken
}
