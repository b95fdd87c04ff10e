//! Notify: waiters are dequeued and completed under the lock, and woken after it. The other ways to wake are in the files below: a signal, a
//! requeue, and a notify in one step with a change of the word.
//!
//! ```text
//!   lock ─ detach (all that are counted, at once) ─ complete a batch ─ unlock ─ wake the batch
//!                                                         ▲                          │
//!                                                         └─────── lock ◄────────────┘   until none is left
//! ```

pub(crate) mod replace;
#[allow(unsafe_code)]
pub(crate) mod requeue;
pub(crate) mod signal;

use std::convert::Infallible;
use std::pin::pin;

use crate::observe::Waking;
use crate::shard::Locked;
use crate::shard::hash::Key;
use crate::table::enqueue::unlock;
use crate::table::{Location, Table, address};
use crate::waiter::Inbox;
use crate::waiter::list::Detached;
use crate::waiter::wake::{Wake, WakeBatch};

/// Wakes the waiter that has waited longest on the word. Returns how many it woke: 0 or 1.
///
/// Without waiters on the word it costs two loads and a fence. It also takes the lock of the word's shard if that is held at the moment, or
/// if another word with the same occupancy bit has waiters ([`protocol`](crate::protocol), section 2). See [`notify_many`] for the rest.
#[inline]
pub fn notify_one<L: Location>(at: L) -> usize {
    notify(at.table(), address(&at), 1, None)
}

/// Wakes the waiter that was enqueued last, the tail. Returns how many it woke: 0 or 1.
///
/// Picks the thread or task whose data is most likely still in a cache; the others wait longer, in unchanged order. Costs what
/// [`notify_one`] costs, however many wait; see [`notify_many`] for the rest.
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
    let table = at.table();
    let key = table.key_of(address(&at));
    if table.shard(key).is_idle(key.hash) {
        return 0;
    }
    let woken: Result<usize, Infallible> =
        wake_one_or(table, key, |locked, key| locked.complete_last(key), || Ok(()));
    woken.unwrap_or_else(|never| match never {})
}

/// Wakes all waiters that are queued on the word at this moment. Returns how many.
///
/// A waiter that comes later is not woken, even while the wakes are still under way. See [`notify_many`] for the rest.
#[inline]
pub fn notify_all<L: Location>(at: L) -> usize {
    notify(at.table(), address(&at), usize::MAX, None)
}

/// Wakes the `count` waiters that have waited longest on the word, or all if there are fewer, in the order in which they were enqueued.
/// Returns how many it woke; exactly these waits end as [`Notified`](crate::Outcome::Notified).
///
/// What the caller wrote before is visible to the waiters that this wakes, and to any later wait on the word.
///
/// Dequeuing one waiter or all takes O(1) under the shard's lock, and a part of them O(`count`). They are completed in batches, between
/// which the lock is free.
///
/// Only the address of the word is used. Store to it first, then notify: a waiter that saw the old value is woken.
///
/// # Many sleeping threads
/// The notifier wakes two of a batch of 32, and each woken thread wakes two more before it returns from its wait. So a thread
/// that is notified but gets no CPU, for a low priority or a quota, can delay up to 15 others. Tasks, and threads that wait
/// with an [`Interrupt`](crate::Interrupt), are woken by the notifier.
///
/// # Panics of wakers
/// A panic of a foreign waker or doorbell is caught, after the panic hook has reported it. All others are woken, and the waiter counts as
/// notified.
///
/// ```
/// use std::sync::atomic::AtomicI64;
/// let word = AtomicI64::new(0);
/// assert_eq!(waitword_core::notify_many(&word, 3), 0);
/// ```
#[inline]
pub fn notify_many<L: Location>(at: L, count: usize) -> usize {
    notify(at.table(), address(&at), count, None)
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
    let waking = Waking::now();
    let wake = locked.complete_first(key, notifier);
    let follow_up = unlock(locked);
    waking.notified(key.address, wake.iter().map(Wake::identity));
    let woken = usize::from(wake.map(Wake::wake).is_some());
    drop(follow_up);
    woken
}

#[cold]
fn wake_many(table: &Table, key: Key, count: usize, notifier: Option<&Inbox>) -> usize {
    detach_and_wake(table, key, count, notifier, table.lock(key))
}

/// Wakes the waiter that `complete` dequeues; or, if there is none, makes `change` under the same lock (`replace.rs`).
pub(crate) fn wake_one_or<E>(
    table: &Table,
    key: Key,
    complete: impl FnOnce(&mut Locked<'_>, Key) -> Option<Wake>,
    change: impl FnOnce() -> Result<(), E>,
) -> Result<usize, E> {
    let mut locked = table.lock(key);
    let waking = Waking::now();
    let Some(wake) = complete(&mut locked, key) else {
        // The lock is still held: no waiter has enqueued meanwhile.
        return change().map(|()| 0);
    };
    let follow_up = unlock(locked);
    waking.notified(key.address, [wake.identity()]);
    wake.wake();
    drop(follow_up);
    Ok(1)
}

/// Wakes all waiters if `change` succeeds, under the same lock (`replace.rs`).
pub(crate) fn wake_all_if<E>(
    table: &Table,
    key: Key,
    change: impl FnOnce() -> Result<(), E>,
) -> Result<usize, E> {
    let locked = table.lock(key);
    change()?;
    Ok(detach_and_wake(table, key, usize::MAX, None, locked))
}

/// Wakes the first `count` waiters of `key`, whose shard is `locked`.
#[allow(unsafe_code)]
fn detach_and_wake<'a>(
    table: &'a Table,
    key: Key,
    count: usize,
    notifier: Option<&Inbox>,
    mut locked: Locked<'a>,
) -> usize {
    let detached = pin!(Detached::new());
    let detached = detached.as_ref();
    detached.init();
    let mut batch = WakeBatch::new();
    let woken = locked.detach(key, count, detached);
    loop {
        let waking = Waking::now();
        // SAFETY: filled by `detach` under the same lock. The loop ends only when the list is empty, so no waiter
        // is left linked to this stack frame.
        let more = unsafe { locked.complete_batch(detached, &mut batch, notifier) };
        if !more {
            locked.worked_off(detached);
        }
        let follow_up = unlock(locked);
        waking.notified(key.address, batch.identities());
        batch.wake_all();
        drop(follow_up);
        if !more {
            break;
        }
        locked = table.lock(key);
    }
    woken
}
