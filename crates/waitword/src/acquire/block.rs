//! The acquisition loop, driven by a thread that blocks.

use std::panic::Location;
use std::pin::pin;
use waitword_core::time::Instant;

use waitword_core::observe::Caller;
use waitword_core::observe::holders::{HoldId, Now, Recorded, as_recorded, held_by};
use waitword_core::{Parker, may_block};

use crate::acquire::acquisition::{Acquisition, NO_DEADLINE};
use crate::acquire::handle::{Ask, Closed, Handle, HasRaw, waits_for};
use crate::acquire::held::{held_by_thread, records, take_again, take_recorded};
use crate::acquire::raw::{Acquire, Attempt, try_reserved};
use crate::drive::drive;
use crate::error::LockError;

type AskOf<L> = <<L as HasRaw>::Raw as Acquire>::Ask;
type ClosedOf<L> = <<L as HasRaw>::Raw as Acquire>::Closed;

/// A lock for threads that block.
pub(crate) trait Blocks: HasRaw {
    /// Acquires what an attempt has not taken, blocking this thread. `instead` names the method for threads that must not block.
    #[track_caller]
    fn block(&self, ask: AskOf<Self>, instead: &str) -> Result<HoldId, ClosedOf<Self>> {
        block_for(self, ask, instead)
    }
}

/// Acquires it, blocking this thread if an attempt fails. Returns what the guard has to keep. `ask` and `instead` are functions for the
/// reason that [`take`](super::held::take) gives.
#[inline(always)]
#[track_caller]
pub(crate) fn acquire<L: Blocks + ?Sized>(
    lock: &L,
    ask: impl Fn() -> AskOf<L> + Copy,
    instead: impl Fn() -> &'static str + Copy,
) -> Result<HoldId, ClosedOf<L>> {
    let Some(now) = records::<L::Raw>(ask()) else {
        if lock.raw().take(ask()) {
            return Ok(HoldId::NONE);
        }
        let (hold, closed) = block_out_of_line(lock, ask(), instead());
        return closed.map_or(Ok(hold), Err);
    };
    acquire_recorded(lock, ask, instead, now).map(HoldId::from).map_err(rarely)
}

/// Returns a pair, and not a `Result`, so that the record is in the register in which [`acquire_recorded`] returns one.
#[cold]
#[inline(never)]
#[track_caller]
fn block_out_of_line<L: Blocks + ?Sized>(
    lock: &L,
    ask: AskOf<L>,
    instead: &str,
) -> (HoldId, Option<ClosedOf<L>>) {
    match lock.block(ask, instead) {
        Ok(hold) => (hold, None),
        Err(closed) => (HoldId::NONE, Some(closed)),
    }
}

/// Has the compiler lay out the other case without a jump.
#[cold]
fn rarely<T>(error: T) -> T {
    error
}

#[cold]
#[inline(never)]
#[track_caller]
fn acquire_recorded<L: Blocks + ?Sized>(
    lock: &L,
    ask: impl Fn() -> AskOf<L>,
    instead: impl Fn() -> &'static str,
    now: Now,
) -> Result<Recorded, ClosedOf<L>> {
    match take_recorded(lock.raw(), ask(), now, Location::caller(), false) {
        Some(recorded) => Ok(recorded),
        None => block_recorded(lock, ask(), instead(), now),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn block_recorded<L: Blocks + ?Sized>(
    lock: &L,
    ask: AskOf<L>,
    instead: &'static str,
    now: Now,
) -> Result<Recorded, ClosedOf<L>> {
    lock.block(ask, instead).map(|hold| as_recorded(now, hold))
}

/// Acquires what [`take`](super::held::take) has not taken, blocking this thread. `instead` names the method for threads that must not block.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn block<H: Handle>(handle: H, ask: Ask<H>, instead: &str) -> Result<HoldId, Closed<H>> {
    match take_again(handle.raw(), ask, Caller::here(), false) {
        Some(hold) => Ok(hold),
        None => block_if_allowed(handle, ask, instead),
    }
}

/// As [`block`], of a lock whose type reports know once it is waited for.
#[cold]
#[inline(never)]
#[track_caller]
fn block_for<L: HasRaw + ?Sized>(lock: &L, ask: AskOf<L>, instead: &str) -> Result<HoldId, ClosedOf<L>> {
    match take_again(lock.raw(), ask, Caller::here(), false) {
        Some(hold) => Ok(hold),
        None => {
            waits_for(lock);
            block_if_allowed(lock.raw(), ask, instead)
        }
    }
}

#[inline(never)]
#[track_caller]
fn block_if_allowed<H: Handle>(handle: H, ask: Ask<H>, instead: &str) -> Result<HoldId, Closed<H>> {
    assert!(may_block(), "this thread must not block (`forbid_blocking`): use `{instead}` here");
    block_for_guard(Caller::here(), handle, ask)
}

/// As [`block`], for a guard that exists already and must not exist without its lock. So this thread blocks even if a function
/// that ran meanwhile has forbidden it to.
#[cold]
pub(crate) fn block_for_guard<H: Handle>(
    caller: Caller,
    handle: H,
    ask: Ask<H>,
) -> Result<HoldId, Closed<H>> {
    match spin_and_drive(caller, handle, ask, None) {
        Ok(ended) => ended,
        Err(_) => unreachable!("{NO_DEADLINE}"),
    }
}

/// As [`block`], until `deadline` at the latest.
#[cold]
#[track_caller]
pub(crate) fn block_until<H: Handle>(
    handle: H,
    ask: Ask<H>,
    deadline: Option<Instant>,
) -> Result<Result<HoldId, Closed<H>>, LockError> {
    match take_again(handle.raw(), ask, Caller::here(), deadline.is_some()) {
        Some(hold) => Ok(Ok(hold)),
        None => block_until_if_allowed(handle, ask, deadline),
    }
}

/// As [`block_until`], of a lock whose type reports know once it is waited for.
#[cold]
#[track_caller]
pub(crate) fn block_until_for<L: HasRaw + ?Sized>(
    lock: &L,
    ask: AskOf<L>,
    deadline: Option<Instant>,
) -> Result<Result<HoldId, ClosedOf<L>>, LockError> {
    match take_again(lock.raw(), ask, Caller::here(), deadline.is_some()) {
        Some(hold) => Ok(Ok(hold)),
        None => {
            waits_for(lock);
            block_until_if_allowed(lock.raw(), ask, deadline)
        }
    }
}

#[track_caller]
fn block_until_if_allowed<H: Handle>(
    handle: H,
    ask: Ask<H>,
    deadline: Option<Instant>,
) -> Result<Result<HoldId, Closed<H>>, LockError> {
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return match try_reserved(handle.raw(), ask) {
            true => Ok(Ok(held_by_thread(handle.raw(), ask, Caller::here(), true))),
            false => Err(LockError::TimedOut(held_by(handle.raw().held_at(), H::Raw::waits_for(ask)))),
        };
    }
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    spin_and_drive(Caller::here(), handle, ask, deadline)
}

fn spin_and_drive<H: Handle>(
    caller: Caller,
    handle: H,
    ask: Ask<H>,
    deadline: Option<Instant>,
) -> Result<Result<HoldId, Closed<H>>, LockError> {
    if handle.raw().spin(ask, Attempt::Barging) {
        return Ok(Ok(held_by_thread(handle.raw(), ask, caller, deadline.is_some())));
    }
    let acquisition = pin!(Acquisition::from_caller(caller, handle, ask));
    let acquired = drive(&Parker::current(), acquisition, deadline)?;
    Ok(acquired.map(|handle| held_by_thread(handle.raw(), ask, caller, deadline.is_some())))
}
