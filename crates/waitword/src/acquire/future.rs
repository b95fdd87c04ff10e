//! The loop as futures.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Alarm;

use crate::acquire::acquisition::{Acquisition, Step};
use crate::acquire::handle::{Ask, End, Handle};
use crate::acquire::{Acquire, NO_DEADLINE};
use crate::error::LockError;

pin_project! {
    /// Acquires as a future. Whoever has acquired gets its handle back, and what there is to say about it.
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
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<(H, End<H>)> {
        match self.project().acquisition.step(cx.waker(), None) {
            Step::Ended(Ok(acquired)) => Poll::Ready(acquired),
            Step::Ended(Err(_)) => unreachable!("{NO_DEADLINE}"),
            Step::Wait(_) => Poll::Pending,
        }
    }
}

impl<H: Handle> Future for AcquireAsync<H> {
    type Output = (H, End<H>);

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.as_mut().project().acquisition.take_at_once() {
            Some(handle) => Poll::Ready((handle, H::Raw::TAKEN)),
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
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(H, End<H>), LockError>> {
        let this = self.project();
        match this.acquisition.step(cx.waker(), *this.deadline) {
            // The alarm goes with the future: its waker's destructor may panic, and nobody would have what was acquired.
            Step::Ended(result) => Poll::Ready(result),
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
    type Output = Result<(H, End<H>), LockError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.as_mut().project().acquisition.take_at_once() {
            Some(handle) => Poll::Ready(Ok((handle, H::Raw::TAKEN))),
            None => self.poll_slow(cx),
        }
    }
}
