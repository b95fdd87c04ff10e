//! Temporary release: a holder releases the lock, and acquires it again. A bump does that for the head waiter, and runs nothing
//! in between.
//!
//! The guard exists all the while, and its drop releases the lock. So the lock is acquired again however this ends, also by a
//! panic. There are four sources of panics:
//!
//! - This thread must not block. That is checked before the release.
//! - The function that runs in between.
//! - The waker of the waiter that the release signals.
//! - The waker of a waiter that is signalled after the lock was acquired again.

use std::convert::Infallible;
use std::mem;

use waitword_core::may_block;

use crate::acquire::{self, Acquire};

/// Releases what the caller holds, and acquires it again, also if the release unwinds. A second panic meanwhile aborts.
#[cold]
#[track_caller]
pub(crate) fn bump<R: Acquire<Closed = Infallible>>(
    raw: &R,
    ask: R::Ask,
    instead: &str,
    release_fair: impl FnOnce(),
) {
    assert!(
        may_block(),
        "this thread must not block (`forbid_blocking`): use `unlock_fair`, and then `{instead}`, here"
    );
    let_go(raw, ask, release_fair, || ());
}

/// As [`bump`], and calls `run` meanwhile. The lock may be held afterwards, so this checks in any case whether this thread may
/// block.
#[track_caller]
pub(crate) fn unlocked<R: Acquire<Closed = Infallible>, U>(
    raw: &R,
    ask: R::Ask,
    instead: &str,
    release: impl FnOnce(),
    run: impl FnOnce() -> U,
) -> U {
    assert!(may_block(), "this thread must not block (`forbid_blocking`): use `{instead}` here");
    let_go(raw, ask, release, run)
}

fn let_go<R: Acquire<Closed = Infallible>, U>(
    raw: &R,
    ask: R::Ask,
    release: impl FnOnce(),
    run: impl FnOnce() -> U,
) -> U {
    let unwinding = AcquireAgain { raw, ask };
    release();
    let result = run();
    // It may panic, and then has not acquired the lock: its drop does.
    unwinding.acquire();
    mem::forget(unwinding);
    result
}

/// Acquires the lock of a guard again before that guard is dropped, if its holder unwinds. To be made before the release, which
/// signals a waiter whose waker may panic.
pub(crate) struct AcquireAgain<'a, R: Acquire<Closed = Infallible>> {
    pub(crate) raw: &'a R,
    pub(crate) ask: R::Ask,
}

impl<R: Acquire<Closed = Infallible>> AcquireAgain<'_, R> {
    fn acquire(&self) {
        if !self.raw.take(self.ask) {
            let Ok(()) = acquire::block_for_guard(self.raw, self.ask);
        }
    }
}

impl<R: Acquire<Closed = Infallible>> Drop for AcquireAgain<'_, R> {
    fn drop(&mut self) {
        self.acquire();
    }
}
