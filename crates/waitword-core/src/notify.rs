//! Waking waiters: by a notify, by a notify in one step with a change of the word, or by a signal.
//!
//! Waiters are dequeued and completed under the lock, and woken after it:
//!
//! ```text
//!   lock ─ detach (all that are counted, at once) ─ complete a batch ─ unlock ─ wake the batch
//!                                                         ▲                          │
//!                                                         └─────── lock ◄────────────┘   until none is left
//! ```
//!
//! # A notify and a change of the word in one step
//! Some conditions store a notify that finds no waiter, or distinguish present waiters from later ones. Two steps cannot do that:
//!
//! ```text
//!   waiter                                   notifier
//!   ──────────────────────────────           ──────────────────────────────
//!                                            notify one: the queue is empty
//!   word == expected? enqueue
//!                                            word = "a wakeup is stored"
//!   sleeps beside a word that would
//!   have let it through
//! ```
//! With the notifier's steps the other way round, the waiter may take what the word offers and be notified as well. So the notifier does
//! both under the lock of the word's shard, where compare and enqueue are one step too.
//!
//! # A signal wakes the head waiter and leaves it in the queue
//! A notify dequeues. A waiter that is notified and then finds that a barging acquirer has taken the lock has lost its position. A lock
//! that is handed off to a waiter stands idle until that waiter runs. A signal avoids both, because it is only an offer: the waiter is
//! woken, keeps its position, and takes the lock if it is still free.
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
//! The last recheck closes the race with a signaller that came between the first recheck and the new waker, and skipped the waiter because
//! it was `SIGNALLED`. The watchdog deals with signalled waiters that do not respond (`watchdog.rs`).

use std::pin::pin;

use crate::inbox::Inbox;
use crate::list::Detached;
use crate::location::{Location, Value, address};
use crate::observe::{CONTENDED, Woke, asks, contended};
use crate::queue::key::Key;
use crate::queue::section::{Section, Which};
use crate::queue::table::Table;
use crate::sync::mutant;
use crate::wake::{Wake, WakeBatch};
use crate::word::Word;

/// Wakes the waiter that has waited longest on the word. Returns how many it woke: 0 or 1.
///
/// Costs two loads and a fence if the word has no waiters. It takes the lock of the word's shard in vain if that is held at the moment, or
/// if another word with the same occupancy bit has waiters ([`protocol`](crate::protocol), section 2). See [`notify_many`] for the rest.
#[inline]
pub fn notify_one<L: Location>(at: L) -> usize {
    notify(at.table(), address(&at), 1, None)
}

/// Wakes the waiter that was enqueued last, the tail. Returns how many it woke: 0 or 1.
///
/// The data of that thread or task is most likely still in a cache. The others wait longer, in unchanged order. Costs what [`notify_one`]
/// costs, whatever the number of waiters. See [`notify_many`] for the rest.
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
    if table.is_idle(key) { 0 } else { wake_one(table, key, Which::Last, None, &mut || ()) }
}

/// Wakes all waiters that are queued on the word at this moment. Returns how many.
///
/// A waiter that enqueues later is not woken, even while the wakes are still under way. See [`notify_many`] for the rest.
#[inline]
pub fn notify_all<L: Location>(at: L) -> usize {
    notify(at.table(), address(&at), usize::MAX, None)
}

/// Wakes the `count` waiters that have waited longest on the word, or all if there are fewer. Returns how many it woke.
///
/// Wakes them in the order in which they were enqueued. Exactly these waits end as [`Notified`](crate::Outcome::Notified).
///
/// What the caller wrote before is visible to the waiters that this wakes, and to any later wait on the word.
///
/// Dequeuing one waiter or all takes O(1) under the shard's lock, and a part of them O(`count`). They are completed in batches, between
/// which the lock is free.
///
/// Only the address of the word is used. Store to it first, then notify: a waiter that saw the old value is woken.
///
/// # Panics of wakers
/// A panic of a foreign waker or doorbell is caught, after the panic hook has reported it. All other waiters are woken, and the waiter
/// whose waker panicked counts as notified.
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
    match count {
        _ if count == 0 || table.is_idle(key) => 0,
        1 => wake_one(table, key, Which::First, notifier, &mut || ()),
        _ => wake_many(table, table.section(key), count, notifier),
    }
}

/// Wakes one waiter, and returns 1. If there is none, calls `otherwise` in the same critical section, so that no waiter has enqueued
/// meanwhile, and returns 0.
#[inline(never)]
fn wake_one(
    table: &Table,
    key: Key,
    which: Which,
    notifier: Option<&Inbox>,
    otherwise: &mut dyn FnMut(),
) -> usize {
    let (mut section, woke) = (table.section(key), Woke::notified());
    let Some(wake) = section.complete(which, notifier) else {
        otherwise();
        return 0;
    };
    end_and_wake(section, woke, wake);
    1
}

/// Ends a section that has taken this wake.
#[inline(always)]
fn end_and_wake(section: Section<'_>, woke: Woke, wake: Wake) {
    let (key, left) = (section.key, section.unlock());
    woke.tell(|| key.address(), [wake.identity()]);
    wake.wake();
    left.follow_up();
}

/// Wakes the first `count` waiters.
#[cold]
#[allow(unsafe_code)]
fn wake_many<'a>(
    table: &'a Table,
    mut section: Section<'a>,
    count: usize,
    notifier: Option<&Inbox>,
) -> usize {
    let (detached, key) = (pin!(Detached::new()), section.key);
    let detached = detached.as_ref();
    detached.init();
    let mut batch = WakeBatch::new();
    let woken = section.detach(count, detached);
    loop {
        let woke = Woke::notified();
        // SAFETY: filled by `detach` under the same lock. The loop ends only when the list is empty, so no waiter is left linked to this
        // stack frame.
        let more = woken > 0 && unsafe { section.complete_batch(detached, &mut batch, notifier) };
        let left = section.unlock();
        woke.tell(|| key.address(), batch.identities());
        batch.wake_all();
        left.follow_up();
        if !more {
            return woken;
        }
        section = table.section(key);
    }
}

/// Wakes the waiter that has waited longest on the word; if there is no waiter, replaces `current` in the word by `new`. Returns how many
/// it woke: 0 or 1.
///
/// Atomic with respect to every wait on the word: none is enqueued between the check for waiters and the change.
///
/// Always takes the lock of the word's shard.
///
/// # Errors
/// The word's value, if there was no waiter and the value was not `current`. Nothing has changed then.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::{Outcome, notify_one_or_replace, wait};
///
/// const STORED: i32 = 1;
/// let word = AtomicI32::new(0);
/// assert_eq!(notify_one_or_replace(&word, 0, STORED), Ok(0));
/// assert_eq!(notify_one_or_replace(&word, 0, STORED), Err(STORED));
/// assert_eq!(wait(&word, 0), Outcome::NotEqual);
/// ```
pub fn notify_one_or_replace<L: Location>(
    at: L,
    current: Value<L>,
    new: Value<L>,
) -> Result<usize, Value<L>> {
    wake_one_or_replace(&at, Which::First, current, new)
}

#[inline]
fn wake_one_or_replace<L: Location>(
    at: &L,
    which: Which,
    current: Value<L>,
    new: Value<L>,
) -> Result<usize, Value<L>> {
    let (table, mut replaced) = (at.table(), Ok(()));
    let replace = &mut || replaced = at.word().compare_exchange(current, new);
    let woken = wake_one(table, table.key_of(address(at)), which, None, replace);
    replaced.map(|()| woken)
}

/// As [`notify_one_or_replace`], but wakes the waiter that was enqueued last ([`notify_last`](crate::notify_last)).
///
/// # Errors
/// The word's value, if there was no waiter and the value was not `current`. Nothing has changed then.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::notify_last_or_replace;
///
/// let word = AtomicI32::new(0);
/// assert_eq!(notify_last_or_replace(&word, 0, 1), Ok(0));
/// assert_eq!(notify_last_or_replace(&word, 0, 1), Err(1));
/// ```
pub fn notify_last_or_replace<L: Location>(
    at: L,
    current: Value<L>,
    new: Value<L>,
) -> Result<usize, Value<L>> {
    wake_one_or_replace(&at, Which::Last, current, new)
}

/// Replaces `current` in the word by `new`, and wakes all its waiters. Returns how many it woke.
///
/// Atomic with respect to every wait on the word: a waiter that enqueues after the change is not woken.
///
/// Always takes the lock of the word's shard.
///
/// # Errors
/// The word's value, if that was not `current`. Nothing has changed then, and no waiter was woken.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::replace_and_notify_all;
///
/// let word = AtomicI32::new(0);
/// assert_eq!(replace_and_notify_all(&word, 0, 1), Ok(0));
/// assert_eq!(replace_and_notify_all(&word, 0, 1), Err(1));
/// ```
pub fn replace_and_notify_all<L: Location>(
    at: L,
    current: Value<L>,
    new: Value<L>,
) -> Result<usize, Value<L>> {
    let (word, section) = (at.word(), section(&at));
    word.compare_exchange(current, new)?;
    Ok(wake_many(at.table(), section, usize::MAX, None))
}

/// Replaces `current` in the word by `new` if there is no waiter. Atomic with respect to every wait on the word.
///
/// Always takes the lock of the word's shard.
///
/// # Errors
/// The word's value, if that was not `current` or there is a waiter. Nothing has changed then.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::replace_if_idle;
///
/// let word = AtomicI32::new(0);
/// assert_eq!(replace_if_idle(&word, 0, 1), Ok(()));
/// assert_eq!(replace_if_idle(&word, 0, 1), Err(1));
/// ```
pub fn replace_if_idle<L: Location>(at: L, current: Value<L>, new: Value<L>) -> Result<(), Value<L>> {
    let (word, mut section) = (at.word(), section(&at));
    if section.is_empty() { word.compare_exchange(current, new) } else { Err(word.load()) }
}

#[inline(always)]
fn section<L: Location>(at: &L) -> Section<'_> {
    at.table().section(at.table().key_of(address(at)))
}

/// Wakes the first waiter of the queue that is not signalled yet, and leaves it in the queue. Returns the number of waiters in the queue,
/// or 0 if there is none to signal.
///
/// For building locks. A signal is an offer: it counts no waiter and ends no wait. If a barging acquirer is faster, the waiter keeps its
/// position. A future acknowledges the signal when it is polled, a blocked thread when it wakes and continues to wait. The waits of agents
/// cannot be signalled, and are passed over.
///
/// If a signalled waiter does not respond within once to twice `STALL_TIMEOUT`, the next one is signalled, too: in the table of the process
/// by the watchdog, in any other table by its owner ([`Table::signal_stalled`]).
///
/// Costs a fence and two loads if the word has no waiters. Otherwise takes the shard's lock, with O(1) for each signalled waiter at the
/// front that has not responded.
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
    signal(at.table(), address(&at), false, None)
}

/// Signals as [`signal_one`] does; if there is no waiter to signal, calls `none`.
///
/// The closure `none` runs in the same critical section, so that a later waiter compares the value that `none()` has stored. Its argument
/// tells whether there are waiters; all of them are signalled then. `none` may change the word. It must not wait, notify or unwind.
///
/// Always takes the shard's lock.
#[inline]
pub fn signal_one_or<L: Location>(at: L, none: &dyn Fn(bool)) -> usize {
    signal(at.table(), address(&at), false, Some(none))
}

/// Signals as [`signal_one_or`] does, but goes past the waiters that let signals pass
/// ([`WaitAsync::let_pass`](crate::WaitAsync::let_pass)).
///
/// Visits each of these waiters at the front of the queue.
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
/// assert_eq!(signal_past(&word, &|_| ()), 2);
/// assert!(behind.is_signalled() && !first.is_signalled());
/// assert_eq!(signal_one(&word), 2);
/// assert!(first.is_signalled());
/// ```
pub fn signal_past<L: Location>(at: L, none: &dyn Fn(bool)) -> usize {
    signal(at.table(), address(&at), true, Some(none))
}

#[inline(never)]
fn signal(table: &Table, address: usize, goes_past: bool, none: Option<&dyn Fn(bool)>) -> usize {
    let key = table.key_of(address);
    if none.is_none() && table.is_idle(key) {
        return 0;
    }
    let (mut section, woke) = (table.section(key), Woke::signalled());
    let Some((wake, len)) = section.signal(goes_past) else {
        if let Some(none) = none {
            let are_waiters = !section.is_empty();
            mutant!("signal-none" => {
                drop(section);
                none(are_waiters);
                return 0;
            });
            none(are_waiters);
        }
        return 0;
    };
    end_and_wake(section, woke, wake);
    len
}

/// Returns whether every waiter of the queue has been skipped. `true` for an empty queue.
///
/// A skipped waiter was signalled, and has been unresponsive for so long that a waiter behind it would have been signalled in its place.
///
/// For building locks: an attempt that does not wait (`try_lock`) may take what is reserved for the queue if this is true. Until its next
/// pass, the watchdog treats the caller like a waiter that is queued behind these. So an acquirer that calls this repeatedly gets `true`
/// after at most three times `STALL_TIMEOUT`, if none of them responds.
///
/// Takes the shard's lock, and visits the skipped waiters at the front and one more.
pub fn is_queue_stalled<L: Location>(at: L) -> bool {
    section(&at).is_stalled()
}

/// Reports to the observer that a lock was released for which others wait on `at`. For building locks.
///
/// The holders of the lock are recorded under the address `held`.
///
/// Call it after the release and before the signal. It costs one load if no observer has enabled it.
#[inline]
pub fn charge_release<L: Location>(at: L, held: usize) {
    if asks(CONTENDED) {
        let (table, word) = (at.table(), address(&at));
        contended(word, held, &|who| table.front(word, who));
    }
}
