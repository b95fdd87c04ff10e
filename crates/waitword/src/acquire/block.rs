//! The acquisition loop, driven by a thread that blocks.

use std::pin::pin;
use waitword_core::time::Instant;

use waitword_core::observe::Caller;
use waitword_core::{Parker, may_block};

use crate::acquire::acquisition::Acquisition;
use crate::acquire::attempts::{self, try_reserved};
use crate::acquire::held::{held_by_thread, take};
use crate::acquire::{Acquire, Ask, Attempt, Next, StateWord as _};
use crate::drive::drive;
use crate::error::{LockError, timed_out, would_block};
use crate::handle::HasRaw;
use crate::holders::HoldId;
use crate::spins::{self, Pauses};

type AskOf<L> = Ask<<L as HasRaw>::Raw>;
type ClosedOf<L> = <<L as HasRaw>::Raw as Acquire>::Closed;

/// Acquires the lock, blocking this thread if an attempt fails. Returns what the guard has to keep. `instead` names the method for threads
/// that must not block; it and `ask` are functions for the reason that [`take`] gives.
#[inline(always)]
#[track_caller]
pub(crate) fn acquire<L: HasRaw<Raw: Acquire> + ?Sized>(
    lock: &L,
    ask: impl Fn() -> AskOf<L> + Copy,
    instead: impl Fn() -> &'static str + Copy,
) -> Result<HoldId, ClosedOf<L>> {
    match take(lock.raw(), ask, false) {
        Some(hold) => Ok(hold),
        None => announce_and_block(lock, ask, instead),
    }
}

/// Reports the type of the lock to the observer, and calls [`block`]. Out of line, so that it shares no registers with the attempt before
/// it.
#[cold]
#[inline(never)]
#[track_caller]
fn announce_and_block<L: HasRaw<Raw: Acquire> + ?Sized>(
    lock: &L,
    ask: impl Fn() -> AskOf<L>,
    instead: impl Fn() -> &'static str,
) -> Result<HoldId, ClosedOf<L>> {
    lock.will_wait();
    block(lock.raw(), ask(), instead())
}

/// As [`acquire`], until the deadline at the latest. The clock is not read if there is no need to wait.
#[inline(always)]
#[track_caller]
pub(crate) fn acquire_until<L: HasRaw<Raw: Acquire> + ?Sized>(
    lock: &L,
    ask: impl Fn() -> AskOf<L> + Copy,
    deadline: impl FnOnce() -> Option<Instant>,
) -> Result<Result<HoldId, ClosedOf<L>>, LockError> {
    if let Some(hold) = take(lock.raw(), ask, true) {
        return Ok(Ok(hold));
    }
    lock.will_wait();
    block_until(lock.raw(), ask(), deadline())
}

/// Acquires what [`take`] has not taken, blocking this thread. `instead` names the method for threads that must not block. One function for
/// all types of values: [`will_wait`](HasRaw::will_wait) has said which it is.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn block<R: Acquire>(raw: &R, ask: Ask<R>, instead: &str) -> Result<HoldId, R::Closed> {
    if let Next::Closed(closed) = R::next(raw.word().state(), ask, Attempt::Barging) {
        return Err(closed);
    }
    R::admits(ask);
    if !may_block() {
        would_block(instead);
    }
    block_for_guard(Caller::here(), raw, ask)
}

/// As [`block`], for a guard that exists already and must not exist without its lock. So this thread blocks even if a function
/// that ran meanwhile has forbidden it to.
#[cold]
pub(crate) fn block_for_guard<R: Acquire>(caller: Caller, raw: &R, ask: Ask<R>) -> Result<HoldId, R::Closed> {
    match spin_and_drive(caller, raw, ask, None) {
        Ok(ended) => ended,
        Err(_) => unreachable!("without a deadline it only ends with the lock"),
    }
}

/// As [`block`], until `deadline` at the latest.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn block_until<R: Acquire>(
    raw: &R,
    ask: Ask<R>,
    deadline: Option<Instant>,
) -> Result<Result<HoldId, R::Closed>, LockError> {
    if let Next::Closed(closed) = R::next(raw.word().state(), ask, Attempt::Barging) {
        return Ok(Err(closed));
    }
    R::admits(ask);
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return match try_reserved(raw, ask) {
            true => Ok(Ok(held_by_thread(raw, ask, Caller::here(), true))),
            false => Err(timed_out(raw.held_at(), R::report(ask).waits_for)),
        };
    }
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    spin_and_drive(Caller::here(), raw, ask, deadline)
}

fn spin_and_drive<R: Acquire>(
    caller: Caller,
    raw: &R,
    ask: Ask<R>,
    deadline: Option<Instant>,
) -> Result<Result<HoldId, R::Closed>, LockError> {
    if spins::is_due() && spin(raw, ask) {
        return Ok(Ok(held_by_thread(raw, ask, caller, deadline.is_some())));
    }
    let acquisition = pin!(Acquisition::from_caller(caller, raw, ask));
    let acquired = drive(&Parker::current(), acquisition, deadline)?;
    Ok(acquired.map(|()| held_by_thread(raw, ask, caller, deadline.is_some())))
}

/// Spins, before this thread has to wait. Returns whether an attempt took it.
pub(crate) fn spin<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    let mut pauses = Pauses::new();
    let has_taken = attempts::spin(raw, ask, Attempt::Barging, &mut pauses);
    if has_taken || pauses.have_found_progress() {
        spins::learn(true);
    } else if pauses.are_used_up() {
        spins::learn(false);
    }
    has_taken
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::acquire::attempts::take;
    use crate::raw_mutex::RawMutex;
    use crate::raw_semaphore::RawSemaphore;

    /// On a thread of its own, which has learned nothing yet.
    #[test]
    fn a_thread_that_spins_in_vain_enqueues_at_once_until_a_spin_takes_the_lock() {
        let learns = || {
            let mutex = RawMutex::new();
            assert!(take(&mutex, ()));
            for _ in 0..8 {
                assert!(spins::is_due() && !spin(&mutex, ()));
            }
            assert!(!spins::is_due());
            mutex.give_back(());
            assert!((0..16).any(|_| spins::is_due()), "to find out");
            assert!(spin(&mutex, ()));
            assert!((0..100).all(|_| spins::is_due()));
        };
        thread::spawn(learns).join().unwrap();
    }

    #[test]
    fn a_spin_during_which_others_make_progress_is_not_in_vain() {
        let (semaphore, has_learned) = (RawSemaphore::new(0), AtomicBool::new(false));
        let makes_progress = || {
            while !has_learned.load(Ordering::Relaxed) {
                semaphore.add(1);
                semaphore.reduce(1);
            }
        };
        let learns = || {
            // Two permits are never free.
            (0..8).for_each(|_| assert!(!spin(&semaphore, 2)));
            assert!(!spins::is_due());
            thread::scope(|scope| {
                scope.spawn(makes_progress);
                let (start, mut is_late) = (Instant::now(), false);
                while !is_late && !(0..16).all(|_| spins::is_due()) {
                    spin(&semaphore, 2);
                    is_late = start.elapsed() > Duration::from_secs(60);
                }
                has_learned.store(true, Ordering::Relaxed);
                assert!(!is_late, "no spin was beside progress");
            });
        };
        thread::scope(|scope| scope.spawn(learns).join().unwrap());
    }
}
