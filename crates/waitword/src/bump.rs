//! Letting go for a while: a holder releases the lock, and acquires it again. A bump is that for the head waiter's turn, with
//! nothing to do meanwhile.
//!
//! Its guard is there all the while, and whoever drops that releases the lock once more. So the lock has to be had again
//! however this ends, also by a panic, of which there are four: this thread must not block, which is asked before anything is
//! given away; what is done meanwhile; and the waker of the waiter that is signalled next, at the release or once the lock is had
//! again.

use std::mem;

use waitword_core::may_block;

use crate::acquire::{self, Acquire};

/// Releases what the caller has, and acquires it again; also if that unwinds. A second panic in the course of it aborts.
#[cold]
#[track_caller]
pub(crate) fn bump<R: Acquire>(raw: &R, ask: R::Ask, instead: &str, release_fair: impl FnOnce()) {
    assert!(
        may_block(),
        "this thread must not block (`forbid_blocking`): use `unlock_fair`, and then `{instead}`, here"
    );
    let_go(raw, ask, release_fair, || ());
}

/// As [`bump`], and does something meanwhile. Nobody can know whether the lock is free afterwards, so it is asked in any case
/// whether this thread may block.
#[track_caller]
pub(crate) fn unlocked<R: Acquire, U>(
    raw: &R,
    ask: R::Ask,
    instead: &str,
    release: impl FnOnce(),
    run: impl FnOnce() -> U,
) -> U {
    assert!(may_block(), "this thread must not block (`forbid_blocking`): use `{instead}` here");
    let_go(raw, ask, release, run)
}

fn let_go<R: Acquire, U>(raw: &R, ask: R::Ask, release: impl FnOnce(), run: impl FnOnce() -> U) -> U {
    let unwinding = AcquireAgain { raw, ask };
    release();
    let result = run();
    unwinding.acquire();
    mem::forget(unwinding);
    result
}

struct AcquireAgain<'a, R: Acquire> {
    raw: &'a R,
    ask: R::Ask,
}

impl<R: Acquire> AcquireAgain<'_, R> {
    fn acquire(&self) {
        if !self.raw.take(self.ask) {
            acquire::block_for_guard(self.raw, self.ask);
        }
    }
}

impl<R: Acquire> Drop for AcquireAgain<'_, R> {
    fn drop(&mut self) {
        self.acquire();
    }
}
