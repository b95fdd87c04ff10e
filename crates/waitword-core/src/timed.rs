//! The future with a deadline: a [`WaitAsync`], and an alarm that wakes its task in time.

use crate::time::{Duration, Instant};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::location::Location;
use crate::observe::{Origin, WaitsFor};
use crate::outcome::{Cancelled, Outcome};
use crate::timer::Alarm;
use crate::wait::{WaitAsync, wait_async_from};
use crate::word::Word;

/// As [`wait_async`](crate::wait_async), for at most `timeout`, counted from this call.
///
/// A timeout beyond what [`Instant`] can hold never expires. See [`wait_async_until`].
#[track_caller]
pub fn wait_async_for<L: Location>(
    at: L,
    expected: <L::Word as Word>::Value,
    timeout: Duration,
) -> WaitAsyncUntil<L> {
    let deadline = Instant::now().checked_add(timeout);
    let wait = wait_async_from(Origin::here(WaitsFor::Word).timed(deadline.is_some()), at, expected);
    WaitAsyncUntil { wait, deadline, alarm: Alarm::new() }
}

/// As [`wait_async`](crate::wait_async), until `deadline` at the latest, and never [`TimedOut`](Outcome::TimedOut) before it.
///
/// Threads of the timer serve the deadlines of all futures of the process, and are started with the first of them; so no executor with a
/// timer is needed. (What a waker that blocks costs the others: [`Alarm`](crate::Alarm#wakers-that-block).) A poll decides the outcome: a
/// notify that comes after the deadline and before that poll counts this waiter, and the outcome is [`Notified`](Outcome::Notified).
///
/// # Cancellation
/// As [`wait_async`](crate::wait_async). The deadline is forgotten at once.
///
/// # Panics
/// When polled again after it was ready; at the first poll of the process that needs the timer, if the system cannot
/// start a thread.
#[track_caller]
pub fn wait_async_until<L: Location>(
    at: L,
    expected: <L::Word as Word>::Value,
    deadline: Instant,
) -> WaitAsyncUntil<L> {
    let wait = wait_async_from(Origin::here(WaitsFor::Word).timed(true), at, expected);
    WaitAsyncUntil { wait, deadline: Some(deadline), alarm: Alarm::new() }
}

/// The future of [`wait_async_for`] and [`wait_async_until`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitAsyncUntil<L: Location> {
    wait: WaitAsync<L>,
    /// `None`: later than [`Instant`] can hold.
    deadline: Option<Instant>,
    alarm: Alarm,
}

impl<L: Location> WaitAsyncUntil<L> {
    /// Gives the wait up, as [`WaitAsync::cancel`].
    pub fn cancel(self: Pin<&mut Self>) -> Cancelled {
        let (wait, _, alarm) = self.project();
        alarm.clear();
        wait.cancel()
    }

    fn project(self: Pin<&mut Self>) -> (Pin<&mut WaitAsync<L>>, Option<Instant>, Pin<&mut Alarm>) {
        // SAFETY: both fields are pinned with the whole; neither is moved out, here or in a `Drop` of the whole.
        unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.wait), this.deadline, Pin::new_unchecked(&mut this.alarm))
        }
    }
}

impl<L: Location> Future for WaitAsyncUntil<L> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let (wait, deadline, alarm) = self.project();
        wait.as_ref().spin(cx.waker());
        if let Poll::Ready(Some(outcome)) = wait.as_ref().poll_outcome(cx) {
            alarm.clear();
            wait.as_ref().finish();
            return Poll::Ready(outcome);
        }
        let Some(deadline) = deadline else { return Poll::Pending };
        let now = Instant::now();
        if now < deadline {
            alarm.set_at(now, deadline, cx.waker());
            return Poll::Pending;
        }
        alarm.clear();
        Poll::Ready(match wait.cancel() {
            Cancelled::BeforeNotify | Cancelled::AfterSignal | Cancelled::AfterRequeue => Outcome::TimedOut,
            Cancelled::AfterNotify => Outcome::Notified,
        })
    }
}

impl<L: Location> fmt::Debug for WaitAsyncUntil<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitAsyncUntil")
            .field("wait", &self.wait)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
