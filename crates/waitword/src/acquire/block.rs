//! The acquisition loop, driven by a thread that blocks.

use std::pin::pin;
use std::time::Instant;

use waitword_core::{Parker, may_block};

use crate::acquire::acquisition::{Acquisition, NO_DEADLINE};
use crate::acquire::attempt::try_reserved;
use crate::acquire::drive::drive;
use crate::acquire::raw::{Acquire, Attempt, Ended};
use crate::error::LockError;

/// Acquires what could not be taken at once, blocking this thread. `instead` names the method for threads that must not block.
#[cold]
#[track_caller]
pub(crate) fn block<R: Acquire>(raw: &R, ask: R::Ask, instead: &str) -> R::End {
    assert!(may_block(), "this thread must not block (`forbid_blocking`): use `{instead}` here");
    block_for_guard(raw, ask)
}

/// As [`block`], for a guard that exists already and must not exist without its lock. So this thread blocks even if a function
/// that ran meanwhile has forbidden it to.
#[cold]
pub(crate) fn block_for_guard<R: Acquire>(raw: &R, ask: R::Ask) -> R::End {
    match spin_and_drive(raw, ask, None) {
        Ok(end) => end,
        Err(_) => unreachable!("{NO_DEADLINE}"),
    }
}

/// As [`block`], until `deadline` at the latest.
#[cold]
pub(crate) fn block_until<R: Acquire>(
    raw: &R,
    ask: R::Ask,
    deadline: Option<Instant>,
) -> Result<R::End, LockError> {
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return if try_reserved(raw, ask) { Ok(R::End::TAKEN) } else { Err(LockError::TimedOut) };
    }
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    spin_and_drive(raw, ask, deadline)
}

fn spin_and_drive<R: Acquire>(raw: &R, ask: R::Ask, deadline: Option<Instant>) -> Result<R::End, LockError> {
    if raw.spin(ask, Attempt::Barging) {
        return Ok(R::End::TAKEN);
    }
    let acquisition = pin!(Acquisition::new(raw, ask));
    drive(&Parker::current(), acquisition, deadline).map(|(_, end)| end)
}
