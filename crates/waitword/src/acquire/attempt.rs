//! The attempts of an acquirer that does not wait, and of one whose time is up.

use std::mem;

use waitword_core::is_queue_stalled;

use crate::acquire::raw::{Acquire, GivesBack};
use crate::sync::mutant;

/// The attempt of an acquirer that does not wait.
#[inline]
pub(crate) fn try_take<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    raw.take(ask) || try_reserved(raw, ask)
}

/// Takes what is reserved for unresponsive waiters, as [`take_reserved`], for an acquirer that was not queued.
#[cold]
pub(super) fn try_reserved<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    let is_taken = take_reserved(raw, ask);
    if is_taken {
        let unwinding = GivesBack { raw, ask };
        raw.dequeued(ask, false);
        mem::forget(unwinding);
    }
    is_taken
}

/// Takes what is reserved for waiters, if all of them were signalled and have been unresponsive for so long that a waiter
/// behind them would get it. Such an acquirer counts as a waiter, and has to call [`Acquire::dequeued`].
pub(super) fn take_reserved<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    mutant!("acquire-stalled" => return false);
    raw.is_reserved(ask) && is_queue_stalled(raw.at(ask)) && raw.take_signalled(ask)
}
