//! The waits of threads.

use std::pin::pin;
use waitword_core::time::Instant;

use waitword_core::observe::Caller;
use waitword_core::observe::holders::not_kept;
use waitword_core::{Parker, Table, may_block};

use crate::acquire::{Handle, WasSent, held_by_thread};
use crate::condition::Waited;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::{RawCondvar, Waiting};
use crate::drive::drive;
use crate::error::LockError;
use crate::sync::MODEL;

/// Waits until notified, until `deadline` at the latest. Fails if this thread must not block.
#[track_caller]
pub(super) fn wait_until<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
) -> Result<(), LockError> {
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    block(raw, guard, deadline)
}

/// As [`wait_until`], while the condition holds.
#[track_caller]
pub(super) fn wait_while_until<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
    mut condition: impl FnMut(&mut G::Target) -> bool,
) -> Result<(), LockError> {
    while condition(guard) {
        match wait_until(raw, guard, deadline) {
            Ok(()) => {}
            // Other holders may have changed the value before this thread acquired the mutex.
            Err(LockError::TimedOut(_)) if !condition(guard) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The wait of a thread that may block.
#[track_caller]
pub(super) fn block<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
) -> Result<(), LockError> {
    let parker = Parker::current();
    let handle = guard.handle();
    let mutex = handle.raw();
    let mut waiting = pin!(Waiting::new(raw.at(), mutex));
    waiting.as_mut().enqueue(parker.waker(), deadline.is_some());
    // The guard must not be used before the mutex is locked again. Nothing unwinds from here on.
    let (caller, held) = (Caller::here(), guard.keep(not_kept()));
    let sent = WasSent::look(mutex, (), held);
    mutex.release(held);
    waiting.released();
    // Before the first sleep: a notified waiter is signalled as soon as the mutex is free. With others in front, a spin would
    // only keep a CPU from them.
    if !MODEL && Table::global().waiters(raw.at()) <= 1 {
        parker.spin(deadline, || waiting.is_signalled());
    }
    let (_, result) = drive(&parker, waiting, deadline);
    let hold = held_by_thread(mutex, (), caller, false);
    sent.say(mutex, (), hold);
    guard.keep(hold);
    result
}
