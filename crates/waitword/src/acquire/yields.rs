//! The yields of a queued thread before it sleeps, while what it waits for is reserved for another.
//!
//! That waiter, or a holder that is in its way, may need this CPU; and the reservation may end before this thread would be asleep.

use std::thread;

use crate::sync::MODEL;

/// How often a thread yields before it sleeps itself.
const YIELDS: u32 = if MODEL { 1 } else { 4 };

/// Yields while it is reserved. Returns whether that has ended, and this thread is not signalled.
pub(crate) fn yield_while(is_reserved: impl Fn() -> bool, is_signalled: impl Fn() -> bool) -> bool {
    for _ in 0..YIELDS {
        thread::yield_now();
        if is_signalled() {
            return false;
        }
        if !is_reserved() {
            return true;
        }
    }
    false
}
