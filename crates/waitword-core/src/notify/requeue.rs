//! Requeue: from one line to another, without waking anybody on the way.
//!
//! Who waits for a condition that a mutex protects has to have the mutex when it goes on. To wake a hundred of them for one
//! mutex is to wake ninety-nine in vain. So they are moved to the end of its line, asleep as they are, and called one by one.
//!
//! ```text
//!   waiter                                notifier                            holder of the mutex
//!   ──────────────────────────────        ──────────────────────────────      ────────────────────────
//!   in line on `from`, asleep
//!                                         lock both shards
//!                                         move it: in line on `to`, asleep
//!                                         call the first there
//!                                         unlock; ring
//!                                                                             releases it: calls the
//!   called: takes the mutex                                                   first in line
//! ```
//! # Which lock the node is under
//! A node that moves has another shard's lock above it from then on. Its owner, who wants to leave or to change its waker,
//! locks the shard of the address that the node says, and looks whether it still says so; whoever moves it holds both locks
//! ([`Table::lock_of`]). Between two batches of a long move, those who are still to be moved are in detached, as those are whom
//! a notify took and has not told: counted, so that an owner who leaves finds out that it was notified.
//!
//! # Why the first is called even if the mutex is held
//! Whoever moves them has no reference to the mutex, only its address: a future that was leaked stands in line for ever, and
//! the mutex that it borrowed may be gone. So somebody in that line has to look, and sees to it that the release calls the next.

use std::pin::pin;

use crate::shard::Key;
use crate::sync::broken;
use crate::table::{Location, Table, address};
use crate::waiter::list::List;
use crate::waiter::wake::Wake;
use crate::word::{Word, bits};

/// Moves the `count` that have waited longest on the word, or all if there are fewer, to the end of the line on the word at
/// the address `to`, in the order in which they came, if the word holds `expected`. They are not woken; but the first in line
/// there that was not called yet is called, as by [`signal_one`](crate::signal_one). Returns how many it moved.
///
/// From then on they are called and notified there, and nobody reaches them here any more. `to` is in the same table; nothing
/// is ever read or written at it. Agents' waits must not be moved.
///
/// Costs a fence and two loads when nobody waits on the word. Otherwise O(number moved) under the locks of both shards, in
/// short stays.
///
/// # Errors
/// What the word held instead of `expected`; nothing has changed then.
///
/// # Panics
/// When the waker does that is called, once all has been done.
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::sync::atomic::AtomicU64;
/// use std::task::{Context, Waker};
/// use waitword_core::{notify_one, requeue_while_equal, wait_async};
///
/// let (here, there) = (AtomicU64::new(0), AtomicU64::new(0));
/// let mut waiting = pin!(wait_async(&here, 0));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// let to = std::ptr::from_ref(&there).addr();
/// assert_eq!(requeue_while_equal(&here, 0, to, usize::MAX), Ok(1));
/// assert!(waiting.is_requeued());
/// assert_eq!((notify_one(&here), notify_one(&there)), (0, 1));
/// assert!(waiting.as_mut().poll(&mut cx).is_ready());
/// ```
pub fn requeue_while_equal<L: Location>(
    from: L,
    expected: <L::Word as Word>::Value,
    to: usize,
    count: usize,
) -> Result<usize, <L::Word as Word>::Value> {
    let (table, word) = (from.table(), from.word());
    let key = table.key_of(address(&from));
    if count == 0 || table.shard(key).is_idle(key.hash) {
        let value = word.load();
        return if value == expected { Ok(0) } else { Err(value) };
    }
    let expects = || {
        let value = word.load();
        if bits::<L::Word>(value) == bits::<L::Word>(expected) { Ok(()) } else { Err(value) }
    };
    requeue_if(table, key, table.key_of(to), count, expects)
}

fn requeue_if<E>(
    table: &Table,
    from: Key,
    to: Key,
    count: usize,
    condition: impl FnOnce() -> Result<(), E>,
) -> Result<usize, E> {
    let detached = pin!(List::new());
    let detached = detached.as_ref();
    detached.init();
    let mut both = table.lock_two(from, to);
    condition()?;
    let moved = both.first.detach(from, count, detached);
    // SAFETY: filled under the first of these locks. The loop ends only when the list is empty, so no waiter is left linked to
    // this stack frame.
    while unsafe { both.second().adopt(to, detached) } {
        let (first, second) = both.unlock();
        // Sweeps may need a thread, and to start one may fail; but to unwind is no choice as long as the list is not empty.
        let watch = [Some(first), second]
            .into_iter()
            .flatten()
            .fold(false, |watch, after| watch | after.all_but_watchdog());
        both = table.lock_two(from, to);
        both.second().watch_too(watch);
    }
    let called = if moved == 0 || broken!("requeue-call") { None } else { both.second().signal_first(to) };
    let (first, second) = both.unlock();
    // If this panics, so does the notify, and there is nobody else to tell.
    called.into_iter().for_each(|(wake, _)| Wake::ring(wake));
    drop((first, second));
    Ok(moved)
}
