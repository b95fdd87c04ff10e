//! The waits of threads.

use std::pin::pin;
use std::time::Instant;

use waitword_core::{Parker, may_block};

use crate::acquire::{self, Acquire, Handle, drive};
use crate::condition::Waited;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::{RawCondvar, Waiting};
use crate::error::LockError;
use crate::raw_mutex::RawMutex;

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
            Err(LockError::TimedOut) if !condition(guard) => break,
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
    waiting.as_mut().enqueue(parker.waker());
    let released = Released::new(mutex);
    // Before the first sleep: a notified waiter is signalled as soon as the mutex is free.
    parker.spin(deadline, || waiting.is_signalled());
    let (_, result) = drive(&parker, waiting, deadline);
    released.locked_again();
    result
}

/// A mutex that was released while its guard exists. The guard must not be dropped before the mutex is locked again.
struct Released<'a>(&'a RawMutex);

impl<'a> Released<'a> {
    fn new(mutex: &'a RawMutex) -> Self {
        // Before the release, which frees the mutex and then signals a waiter whose waker may panic.
        let released = Self(mutex);
        mutex.release();
        released
    }

    fn locked_again(self) {
        std::mem::forget(self);
    }
}

impl Drop for Released<'_> {
    /// Foreign code has panicked during the wait, and the guard is dropped next.
    fn drop(&mut self) {
        if !self.0.take(()) {
            acquire::block(self.0, (), "wait_async");
        }
    }
}
