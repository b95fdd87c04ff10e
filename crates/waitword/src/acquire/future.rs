//! The acquisition loop as futures.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Alarm;
use waitword_core::observe::Caller;
use waitword_core::observe::holders::HoldId;

use crate::acquire::acquisition::{Acquisition, NO_DEADLINE};
use crate::acquire::handle::{Acquired, Ask, Handle};
use crate::coop::Unit;
use crate::drive::{Step, Steps};
use crate::error::LockError;

pin_project! {
    /// Acquires as a future, without rechecks. Its output is the handle.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsync<H: Handle> {
        #[pin]
        acquisition: Acquisition<H>,
    }
}

impl<H: Handle> AcquireAsync<H> {
    #[inline]
    #[track_caller]
    pub(crate) fn new(handle: H, ask: Ask<H>) -> Self {
        Self { acquisition: Acquisition::new(handle, ask) }
    }

    /// What the guard has to keep, once it is ready.
    #[inline]
    pub(crate) fn hold(&self) -> HoldId {
        self.acquisition.hold()
    }

    /// Where it was made.
    pub(crate) fn caller(self: Pin<&mut Self>) -> Caller {
        self.project().acquisition.caller()
    }

    /// Whether the acquirer is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.is_waiting()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Acquired<H>> {
        let mut this = self.project();
        match this.acquisition.as_mut().step(cx.waker(), None) {
            Step::Ended(Ok(acquired)) => {
                if let Ok(handle) = &acquired {
                    this.acquisition.held(handle, cx.waker(), false);
                }
                Poll::Ready(acquired)
            }
            Step::Ended(Err(_)) => unreachable!("{NO_DEADLINE}"),
            Step::Wait(until) => {
                debug_assert!(until.is_none(), "no alarm wakes this future for a recheck");
                Poll::Pending
            }
        }
    }

    /// The task yields. But a task that has to wait enqueues first: that needs no budget, and the position in the queue must not
    /// depend on what the task did before.
    #[cold]
    fn poll_exhausted(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Acquired<H>> {
        match self.as_mut().project().acquisition.can_yield() {
            true => Poll::Pending,
            false => self.poll_slow(cx),
        }
    }
}

impl<H: Handle> Future for AcquireAsync<H> {
    type Output = Acquired<H>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(unit) = Unit::poll(cx) else { return self.poll_exhausted(cx) };
        let polled = match self.as_mut().project().acquisition.take_at_once() {
            Some(handle) => {
                self.as_mut().project().acquisition.held(&handle, cx.waker(), false);
                Poll::Ready(Ok(handle))
            }
            None => self.poll_slow(cx),
        };
        if polled.is_ready() {
            unit.consume();
        }
        polled
    }
}

pin_project! {
    /// Acquires as a future that is woken also at certain times: at its deadline, or for a recheck.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsyncUntil<H: Handle> {
        #[pin]
        acquisition: Acquisition<H>,
        deadline: Option<Instant>,
        // Wakes the task for a recheck, or to give up.
        #[pin]
        alarm: Alarm,
    }
}

impl<H: Handle> AcquireAsyncUntil<H> {
    #[track_caller]
    pub(crate) fn new(handle: H, ask: Ask<H>, deadline: Option<Instant>) -> Self {
        Self { acquisition: Acquisition::new(handle, ask), deadline, alarm: Alarm::new() }
    }

    /// What the guard has to keep, once it is ready.
    #[inline]
    pub(crate) fn hold(&self) -> HoldId {
        self.acquisition.hold()
    }

    /// Whether the acquirer is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.is_waiting()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Acquired<H>, LockError>> {
        let mut this = self.project();
        match this.acquisition.as_mut().step(cx.waker(), *this.deadline) {
            // The alarm is dropped with the future, not here: its waker's destructor may panic, and the acquisition would be lost.
            Step::Ended(result) => {
                if let Ok(Ok(handle)) = &result {
                    this.acquisition.held(handle, cx.waker(), this.deadline.is_some());
                }
                Poll::Ready(result)
            }
            Step::Wait(until) => {
                if let Some(until) = until {
                    this.alarm.set(until, cx.waker());
                }
                Poll::Pending
            }
        }
    }

    /// As that of [`AcquireAsync`]. A timeout needs a unit of budget, too.
    #[cold]
    fn poll_exhausted(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Acquired<H>, LockError>> {
        let this = self.as_mut().project();
        let is_over = this.deadline.is_some_and(|deadline| deadline <= Instant::now());
        match is_over || this.acquisition.can_yield() {
            true => Poll::Pending,
            false => self.poll_slow(cx),
        }
    }
}

impl<H: Handle> Future for AcquireAsyncUntil<H> {
    type Output = Result<Acquired<H>, LockError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(unit) = Unit::poll(cx) else { return self.poll_exhausted(cx) };
        let polled = match self.as_mut().project().acquisition.take_at_once() {
            Some(handle) => {
                let this = self.as_mut().project();
                this.acquisition.held(&handle, cx.waker(), this.deadline.is_some());
                Poll::Ready(Ok(Ok(handle)))
            }
            None => self.poll_slow(cx),
        };
        if polled.is_ready() {
            unit.consume();
        }
        polled
    }
}
