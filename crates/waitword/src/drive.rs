//! How a thread drives a loop of steps: step, park, spin, step again. The one loop of this crate that parks.
//!
//! The core's `wait` has a loop of its own: a step polls, and a poll of a queued wait takes the shard's lock to compare wakers. The
//! core loads its node's state instead, takes no lock until it gives up, and can be interrupted.

use std::pin::Pin;
use std::task::Waker;
use std::time::Instant;

use waitword_core::Parker;

/// What the driver does next.
pub(crate) enum Step<T> {
    /// Nothing: the loop has ended.
    Ended(T),
    /// Step again when woken, and at this time at the latest, if there is one.
    Wait(Option<Instant>),
}

/// A loop that is driven in steps: by a thread between two sleeps, by a task in each poll.
pub(crate) trait Steps {
    type Output;

    /// Runs until the loop ends or has to wait.
    fn step(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output>;

    /// Spins for a while, in a signalled thread. `Some` if that ended the loop.
    fn spin(self: Pin<&mut Self>) -> Option<Self::Output> {
        None
    }
}

/// Blocks this thread until `steps` has ended.
pub(crate) fn drive<S: Steps>(
    parker: &Parker,
    mut steps: Pin<&mut S>,
    deadline: Option<Instant>,
) -> S::Output {
    loop {
        match steps.as_mut().step(parker.waker(), deadline) {
            Step::Ended(output) => return output,
            Step::Wait(Some(until)) => parker.park_until(until),
            Step::Wait(None) => parker.park(),
        }
        // A signalled waiter is awake now. If it was too late for one release, it is in time for the next.
        if let Some(output) = steps.as_mut().spin() {
            return output;
        }
    }
}
