//! The loop as a future with a deadline: a [`WaitFor`], and an alarm that has it polled in time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Alarm;
use waitword_core::observe::Caller;

use crate::condition::wait_for::{Condition, NotSo, WaitFor};
use crate::coop::Unit;
use crate::error::LockError;

pin_project! {
    /// Waits as a future, until a deadline at the latest.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct WaitUntil<C: Condition> {
        #[pin]
        wait: WaitFor<C>,
        // `None`: beyond what `Instant` can hold.
        deadline: Option<Instant>,
        #[pin]
        alarm: Alarm,
    }
}

impl<C: Condition> WaitUntil<C> {
    #[track_caller]
    pub(crate) fn new(condition: C, deadline: Option<Instant>) -> Self {
        Self::from_caller(Caller::here(), condition, deadline)
    }

    /// See [`WaitFor::from_caller`].
    pub(crate) fn from_caller(caller: Caller, condition: C, deadline: Option<Instant>) -> Self {
        let wait = WaitFor::from_caller(caller, condition).timed(deadline.is_some());
        Self { wait, deadline, alarm: Alarm::new() }
    }

    /// See [`WaitFor::is_waiting`].
    pub(crate) fn is_waiting(&self) -> bool {
        self.wait.is_waiting()
    }

    /// See [`WaitFor::enable`]. The deadline takes effect with the first poll.
    pub(crate) fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.enable()
    }
}

impl<C: Condition> Future for WaitUntil<C> {
    type Output = Result<C::Output, LockError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if this.wait.as_mut().advance(cx) {
            // Before the output leaves the future: a waker goes here, and its destructor may panic.
            this.alarm.clear();
            return this.wait.poll(cx).map(Ok);
        }
        let Some(deadline) = *this.deadline else { return Poll::Pending };
        if Instant::now() >= deadline {
            ready!(Unit::poll(cx)).consume();
            this.alarm.clear();
            return Poll::Ready(this.wait.end().map_err(LockError::TimedOut));
        }
        this.alarm.set(deadline, cx.waker());
        Poll::Pending
    }
}

/// The error of the blocking twin.
impl From<NotSo> for LockError {
    fn from(why: NotSo) -> Self {
        match why {
            NotSo::TimedOut(held_by) => Self::TimedOut(held_by),
            NotSo::Forbidden => Self::BlockingForbidden,
        }
    }
}
