//! The acquisition loop as a future.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::observe::Caller;

use crate::acquire::acquisition::Acquisition;
use crate::acquire::{Acquire, Acquired, Ask, OnUnwind};
use crate::coop::Unit;
use crate::deadline::{Deadline, NoDeadline, Until};
use crate::drive::{Step, Steps};
use crate::holders::HoldId;

pin_project! {
    /// Acquires as a future. With [`Until`](crate::deadline::Until) it is also woken at its deadline.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsync<'a, R: Acquire, D = NoDeadline> {
        #[pin]
        acquisition: Acquisition<'a, R>,
        #[pin]
        deadline: D,
    }
}

impl<'a, R: Acquire> AcquireAsync<'a, R> {
    #[cfg(test)]
    #[track_caller]
    pub(crate) fn new(raw: &'a R, ask: Ask<R>) -> Self {
        Self::from_caller(Caller::here(), raw, ask)
    }

    /// For a wait that began at `caller`.
    #[inline]
    pub(crate) fn from_caller(caller: Caller, raw: &'a R, ask: Ask<R>) -> Self {
        Self { acquisition: Acquisition::from_caller(caller, raw, ask), deadline: NoDeadline }
    }
}

impl<'a, R: Acquire, D> AcquireAsync<'a, R, D> {
    /// The same with this deadline, before its first poll.
    #[inline]
    pub(crate) fn until(self, deadline: Until) -> AcquireAsync<'a, R, Until> {
        AcquireAsync { acquisition: self.acquisition, deadline }
    }

    /// The request.
    #[inline]
    pub(crate) fn ask(&self) -> Ask<R> {
        self.acquisition.ask()
    }

    /// The [`HoldId`] for the guard, once the future is ready.
    #[inline]
    pub(crate) fn hold(&self) -> HoldId {
        self.acquisition.hold()
    }

    /// The caller that created it.
    pub(crate) fn caller(self: Pin<&mut Self>) -> Caller {
        self.project().acquisition.caller()
    }

    /// Whether the acquirer is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.is_waiting()
    }
}

impl<R: Acquire, D: Deadline> AcquireAsync<'_, R, D> {
    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Acquired<R>, D::Error>> {
        let mut this = self.project();
        let (raw, ask) = (this.acquisition.raw(), this.acquisition.ask());
        match this.acquisition.as_mut().step(cx.waker(), this.deadline.at()) {
            Step::Ended(result) => {
                // The alarm's waker is dropped here, as that of the wait was: if its destructor panicked in the drop of the future, an
                // `.await` would leak what this poll returns.
                let acquired = raw.filter(|_| matches!(result, Ok(Ok(()))));
                let unwinding = acquired.map(|raw| OnUnwind(move || raw.give_back(ask)));
                this.deadline.as_mut().clear();
                mem::forget(unwinding);
                if let Some(raw) = acquired {
                    this.acquisition.held(raw, cx.waker(), this.deadline.at().is_some());
                }
                Poll::Ready(result.map_err(D::error))
            }
            Step::Wait(until) => {
                if let Some(until) = until {
                    this.deadline.wake_at(until, cx.waker());
                }
                Poll::Pending
            }
        }
    }

    /// The task yields. But a task that has to wait enqueues first: that needs no budget, and the position in the queue must not
    /// depend on what the task did before. A timeout needs a unit of budget, too.
    #[cold]
    fn poll_exhausted(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Acquired<R>, D::Error>> {
        let this = self.as_mut().project();
        let is_over = this.deadline.at().is_some_and(|deadline| deadline <= Instant::now());
        match is_over || this.acquisition.can_yield() {
            true => Poll::Pending,
            false => self.poll_slow(cx),
        }
    }
}

impl<R: Acquire, D: Deadline> Future for AcquireAsync<'_, R, D> {
    type Output = Result<Acquired<R>, D::Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(unit) = Unit::poll(cx) else { return self.poll_exhausted(cx) };
        let polled = match self.as_mut().project().acquisition.take_at_once() {
            Some(raw) => {
                let this = self.as_mut().project();
                this.acquisition.held(raw, cx.waker(), this.deadline.at().is_some());
                Poll::Ready(Ok(Ok(())))
            }
            None => self.poll_slow(cx),
        };
        if polled.is_ready() {
            unit.consume();
        }
        polled
    }
}
