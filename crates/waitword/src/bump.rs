//! The bump: whoever has a lock lets the first in line have its turn, and has it again then.
//!
//! Its guard is there all the while, and whoever drops that releases the lock once more. So the lock has to be had again
//! however the bump ends, also by a panic, of which there are three: this thread must not block, which is asked before
//! anything is given away; and the waker of whoever is called next, at the release or once the lock is had again.

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
    let unwinding = AcquireAgain { raw, ask, instead };
    release_fair();
    unwinding.acquire();
    mem::forget(unwinding);
}

struct AcquireAgain<'a, R: Acquire> {
    raw: &'a R,
    ask: R::Ask,
    instead: &'a str,
}

impl<R: Acquire> AcquireAgain<'_, R> {
    fn acquire(&self) {
        if !self.raw.take(self.ask) {
            acquire::block(self.raw, self.ask, self.instead);
        }
    }
}

impl<R: Acquire> Drop for AcquireAgain<'_, R> {
    fn drop(&mut self) {
        self.acquire();
    }
}
