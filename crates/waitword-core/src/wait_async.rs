//! The wait as a future: the same four steps, with a waker instead of a parked thread.
//!
//! The node is part of the pinned future. It enters the queue at the first poll, and leaves it at the latest when the
//! future is dropped.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::cancel::{self, Cancelled};
use crate::outcome::Outcome;
use crate::table::enqueue_while_equal;
#[cfg(not(loom))]
use crate::timer::Alarm;
use crate::waiter::{DONE, IDLE, NOTIFIED, QUEUED, Waiter};
use crate::wake::Wake;
use crate::word::{Location, Word, key};

/// Waits for a notify without blocking the thread, if the word holds `expected`; otherwise is ready with
/// [`NotEqual`](Outcome::NotEqual) at its first poll.
///
/// The check, and the place in the line, are had at the first poll, not at the call. Works with any executor, and the
/// future may move between threads.
///
/// # Cancellation
/// Dropping the future leaves the queue. If a notify had counted it already, that wakeup is lost; whoever cannot
/// afford this calls [`WaitAsync::cancel`] and passes it on.
///
/// # Panics
/// When polled again after it was ready.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::{Outcome, notify_one, wait_async};
///
/// # smol::block_on(async {
/// let word = AtomicI32::new(0);
/// let waiting = wait_async(&word, 0);
/// let notifying = async { assert_eq!(notify_one(&word), 1) };
/// let (outcome, ()) = smol::future::zip(waiting, notifying).await;
/// assert_eq!(outcome, Outcome::Notified);
/// # });
/// ```
pub fn wait_async<L: Location>(at: L, expected: <L::Word as Word>::Value) -> WaitAsync<L> {
    WaitAsync { node: Waiter::new(), at, expected }
}

/// As [`wait_async`], for `timeout` at the longest, counted from this call.
///
/// A timeout that goes beyond what [`Instant`] can hold waits without an end. See [`wait_async_until`].
#[cfg(not(loom))]
pub fn wait_async_for<L: Location>(
    at: L,
    expected: <L::Word as Word>::Value,
    timeout: Duration,
) -> WaitAsyncUntil<L> {
    let deadline = Instant::now().checked_add(timeout);
    WaitAsyncUntil { wait: wait_async(at, expected), deadline, alarm: Alarm::new() }
}

/// As [`wait_async`], until `deadline` at the latest, and never [`TimedOut`](Outcome::TimedOut) before it.
///
/// Deadlines of all futures of the process are kept by one thread, started with the first of them; so no executor
/// with a timer is needed. As with any future, the outcome is only had when it is polled: a notify that comes after
/// the deadline and before that poll counts this waiter, and it is [`Notified`](Outcome::Notified).
///
/// # Cancellation
/// As [`wait_async`]. The deadline is forgotten at once.
///
/// # Panics
/// When polled again after it was ready; at the first poll of the process that needs the timer, if the system cannot
/// start a thread.
#[cfg(not(loom))]
pub fn wait_async_until<L: Location>(
    at: L,
    expected: <L::Word as Word>::Value,
    deadline: Instant,
) -> WaitAsyncUntil<L> {
    WaitAsyncUntil { wait: wait_async(at, expected), deadline: Some(deadline), alarm: Alarm::new() }
}

/// The future of [`wait_async`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitAsync<L: Location> {
    node: Waiter,
    at: L,
    expected: <L::Word as Word>::Value,
}

impl<L: Location> WaitAsync<L> {
    /// Gives the wait up, and says whether a notify had counted it without being told so far.
    ///
    /// After it the future must not be polled any more.
    pub fn cancel(self: Pin<&mut Self>) -> Cancelled {
        let this = self.as_ref();
        let cancelled = match this.node.state() {
            QUEUED | NOTIFIED => cancel::leave(this.at.table(), key(&this.at), this.node()),
            _ => Cancelled::BeforeNotify,
        };
        this.node.set_state(DONE);
        cancelled
    }

    /// Whether it stands in the line: polled once, and neither ready nor cancelled since. (A notify may have counted
    /// it meanwhile.)
    pub fn is_waiting(&self) -> bool {
        matches!(self.node.state(), QUEUED | NOTIFIED)
    }

    /// Check and enqueue.
    fn enter(self: Pin<&Self>, wake: Wake) -> Poll<Outcome> {
        self.node().set_wake(wake);
        if enqueue_while_equal(&self.at, self.expected, self.node()) {
            return Poll::Pending;
        }
        self.node.set_state(DONE);
        Poll::Ready(Outcome::NotEqual)
    }

    /// Verdict, or another waker.
    fn look_again(self: Pin<&Self>, wake: Wake) -> Poll<Outcome> {
        let table = self.at.table();
        let key = table.key_of(key(&self.at));
        let mut wake = Some(wake);
        let mut locked = table.lock(key);
        let still_waiting = locked.renew(key, self.node(), &mut wake);
        // Foreign code, so the old waker goes after the lock.
        drop(locked);
        drop(wake);
        if still_waiting {
            return Poll::Pending;
        }
        self.node.set_state(DONE);
        Poll::Ready(Outcome::Notified)
    }

    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl<L: Location> Future for WaitAsync<L> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let this = self.as_ref();
        match this.node.state() {
            NOTIFIED => {
                this.node.set_state(DONE);
                Poll::Ready(Outcome::Notified)
            }
            DONE => panic!("a wait was polled after it had ended"),
            // Cloned here because no lock may be held while foreign code runs.
            IDLE => this.enter(Wake::Task(cx.waker().clone())),
            _ => this.look_again(Wake::Task(cx.waker().clone())),
        }
    }
}

impl<L: Location> Drop for WaitAsync<L> {
    fn drop(&mut self) {
        if self.node.state() == QUEUED {
            // SAFETY: queued, so it was pinned; it is not moved from here on.
            let this = unsafe { Pin::new_unchecked(&*self) };
            // Told to nobody: the docs say so, and `cancel` is for those who want to know.
            let _ = cancel::leave(this.at.table(), key(&this.at), this.node());
        }
    }
}

impl<L: Location> fmt::Debug for WaitAsync<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitAsync").field("expected", &self.expected).finish_non_exhaustive()
    }
}

/// The future of [`wait_async_for`] and [`wait_async_until`].
#[cfg(not(loom))]
#[must_use = "futures do nothing unless polled"]
pub struct WaitAsyncUntil<L: Location> {
    wait: WaitAsync<L>,
    /// `None`: beyond what the clock can say.
    deadline: Option<Instant>,
    alarm: Alarm,
}

#[cfg(not(loom))]
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

#[cfg(not(loom))]
impl<L: Location> Future for WaitAsyncUntil<L> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let (mut wait, deadline, alarm) = self.project();
        if let Poll::Ready(outcome) = wait.as_mut().poll(cx) {
            alarm.clear();
            return Poll::Ready(outcome);
        }
        match deadline {
            Some(deadline) if Instant::now() >= deadline => {
                alarm.clear();
                Poll::Ready(match wait.cancel() {
                    Cancelled::BeforeNotify => Outcome::TimedOut,
                    Cancelled::AfterNotify => Outcome::Notified,
                })
            }
            Some(deadline) => {
                alarm.set(deadline, cx.waker());
                Poll::Pending
            }
            None => Poll::Pending,
        }
    }
}

#[cfg(not(loom))]
impl<L: Location> fmt::Debug for WaitAsyncUntil<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitAsyncUntil")
            .field("expected", &self.wait.expected)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
