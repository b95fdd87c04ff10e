//! Notify and a change of the word in one step.
//!
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

use super::{wake_all_if, wake_one_or};
use crate::table::{Location, address};
use crate::word::Word;

/// Wakes the waiter that has waited longest on the word; if there is no waiter, replaces `current` in the word by `new`. Atomic with
/// respect to every wait on the word. Returns how many it woke: 0 or 1.
///
/// Takes the lock of the word's shard in any case.
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
    current: <L::Word as Word>::Value,
    new: <L::Word as Word>::Value,
) -> Result<usize, <L::Word as Word>::Value> {
    let (table, word) = (at.table(), at.word());
    let change = || word.compare_exchange(current, new);
    wake_one_or(table, table.key_of(address(&at)), |locked, key| locked.complete_first(key, None), change)
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
    current: <L::Word as Word>::Value,
    new: <L::Word as Word>::Value,
) -> Result<usize, <L::Word as Word>::Value> {
    let (table, word) = (at.table(), at.word());
    let change = || word.compare_exchange(current, new);
    wake_one_or(table, table.key_of(address(&at)), |locked, key| locked.complete_last(key), change)
}

/// Replaces `current` in the word by `new`, and wakes all its waiters. Atomic with respect to every wait on the word: no waiter is woken
/// that came after the change. Returns how many it woke.
///
/// Takes the lock of the word's shard in any case.
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
    current: <L::Word as Word>::Value,
    new: <L::Word as Word>::Value,
) -> Result<usize, <L::Word as Word>::Value> {
    let (table, word) = (at.table(), at.word());
    wake_all_if(table, table.key_of(address(&at)), || word.compare_exchange(current, new))
}

/// Replaces `current` in the word by `new` if there is no waiter. Atomic with respect to every wait on the word.
///
/// Takes the lock of the word's shard in any case.
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
pub fn replace_if_idle<L: Location>(
    at: L,
    current: <L::Word as Word>::Value,
    new: <L::Word as Word>::Value,
) -> Result<(), <L::Word as Word>::Value> {
    let (table, word) = (at.table(), at.word());
    let key = table.key_of(address(&at));
    let mut locked = table.lock(key);
    if locked.len(key) == 0 { word.compare_exchange(current, new) } else { Err(word.load()) }
}
