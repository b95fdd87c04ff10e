//! Check and enqueue: one step against every notify.
//!
//! Races 1 and 2 of the [protocol](crate::protocol) are decided here.

use std::pin::Pin;

use super::follow_up::release;
use super::location::{Location, address};
use crate::sync::broken;
use crate::waiter::node::Waiter;
use crate::word::load_bits;

/// Rule 1, for every kind of waiter: puts `node` at the end of the line of `at`, if the word still holds
/// `expected`, in one step against every notify. Returns whether it did.
///
/// The node's wake has been set, and the caller makes it leave again before its memory goes (I1).
pub(crate) fn enqueue_while_equal<L: Location>(at: &L, expected: u64, node: Pin<&Waiter>) -> bool {
    // Foreign code: not under the lock.
    let (table, word) = (at.table(), at.word());
    let key = table.key_of(address(at));
    // From here on a notify that finds nobody present (its fence N) is one whose store the load sees (operation W).
    let early = broken!("compare-under-lock").then(|| load_bits(word));
    let mut locked = table.lock(key);
    if early.unwrap_or_else(|| load_bits(word)) != expected {
        return false;
    }
    // SAFETY: idle, so in no list; pinned; and the caller makes it leave (I1).
    unsafe { locked.enqueue(key, node) };
    release(locked);
    true
}

/// Whether the word holds `expected`, asked in the critical section of its queue, for a wait that ends at once: it
/// too comes after every notify that went through before.
pub(crate) fn is_equal<L: Location>(at: &L, expected: u64) -> bool {
    let (table, word) = (at.table(), at.word());
    let _locked = table.lock(table.key_of(address(at)));
    load_bits(word) == expected
}
