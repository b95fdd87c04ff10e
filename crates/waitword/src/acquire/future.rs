//! The loop as futures.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Alarm;

use crate::acquire::Acquire;
use crate::acquire::acquisition::{Acquisition, Step};
use crate::acquire::handle::{Ask, Handle};
use crate::error::LockError;

pin_project! {
    /// Acquires as a future. Whoever has acquired gets its handle back.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsync<H: Handle> {
        #[pin]
        acquisition: Acquisition<H>,
    }
}

impl<H: Handle> AcquireAsync<H> {
    pub(crate) fn new(handle: H, ask: Ask<H>) -> Self
    where
        H: Handle<Raw: Acquire<Looks = ()>>,
    {
        Self { acquisition: Acquisition::new(handle, ask) }
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.is_waiting()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<H> {
        match self.project().acquisition.step(cx.waker(), None) {
            Step::Ended(Ok(handle)) => Poll::Ready(handle),
            Step::Ended(Err(_)) => unreachable!("without a deadline it only ends with the lock"),
            Step::Wait(_) => Poll::Pending,
        }
    }
}

impl<H: Handle> Future for AcquireAsync<H> {
    type Output = H;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<H> {
        match self.as_mut().project().acquisition.take_at_once() {
            Some(handle) => Poll::Ready(handle),
            None => self.poll_slow(cx),
        }
    }
}

pin_project! {
    /// Acquires as a future that has to be woken at certain times: until a deadline at the latest, or to look for itself.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsyncUntil<H: Handle> {
        #[pin]
        acquisition: Acquisition<H>,
        deadline: Option<Instant>,
        // Wakes the task when it is time to look, or to give up.
        #[pin]
        alarm: Alarm,
    }
}

impl<H: Handle> AcquireAsyncUntil<H> {
    pub(crate) fn new(handle: H, ask: Ask<H>, deadline: Option<Instant>) -> Self {
        Self { acquisition: Acquisition::new(handle, ask), deadline, alarm: Alarm::new() }
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.is_waiting()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<H, LockError>> {
        let this = self.project();
        match this.acquisition.step(cx.waker(), *this.deadline) {
            Step::Ended(result) => {
                this.alarm.clear();
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
}

impl<H: Handle> Future for AcquireAsyncUntil<H> {
    type Output = Result<H, LockError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.as_mut().project().acquisition.take_at_once() {
            Some(handle) => Poll::Ready(Ok(handle)),
            None => self.poll_slow(cx),
        }
    }
}
