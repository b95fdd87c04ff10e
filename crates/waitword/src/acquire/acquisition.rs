//! The loop, as something that is stepped: by a thread between two sleeps, by a task in each poll.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::{Cancelled, WaitAsync, wait_async};

use crate::acquire::handle::{Ask, Handle};
use crate::acquire::{Acquire, Place};
use crate::error::LockError;
use crate::patience::Looks;

/// What the driver of an [`Acquisition`] does next.
pub(super) enum Step<H> {
    /// Nothing: it has been acquired, or the time was up.
    Ended(Result<H, LockError>),
    /// Step again when woken, and at this time at the latest, if there is one.
    Wait(Option<Instant>),
}

const ENDED: &str = "an acquisition was polled after it had ended";

pin_project! {
    /// The loop, between two of its steps.
    pub(super) struct Acquisition<H: Handle> {
        // Gone with the end: whoever has acquired has it.
        handle: Option<H>,
        ask: Ask<H>,
        // Whether the first attempt has been made.
        begun: bool,
        looks: <H::Raw as Acquire>::Looks,
        // Its place in line, if it has one. There is a handle as long as there is a place.
        #[pin]
        wait: Option<WaitAsync<H::At>>,
    }

    impl<H: Handle> PinnedDrop for Acquisition<H> {
        fn drop(this: Pin<&mut Self>) {
            this.leave();
        }
    }
}

impl<H: Handle> Acquisition<H> {
    pub(super) fn new(handle: H, ask: Ask<H>) -> Self {
        Self { handle: Some(handle), ask, begun: false, looks: Default::default(), wait: None }
    }

    /// Whether it stands in line.
    pub(super) fn is_waiting(&self) -> bool {
        self.wait.is_some()
    }

    /// The first attempt, before anything that costs. Later calls do nothing.
    #[inline]
    pub(super) fn take_at_once(self: Pin<&mut Self>) -> Option<H> {
        let this = self.project();
        if *this.begun {
            return None;
        }
        *this.begun = true;
        this.handle.take_if(|handle| handle.raw().take(*this.ask))
    }

    /// Goes on until it has ended or has to wait. Whoever is in line stays there until it is notified or has ended.
    pub(super) fn step(mut self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<H> {
        let step = match self.as_mut().line_up(waker) {
            Poll::Ready(()) => Step::Ended(Ok(())),
            Poll::Pending => self.as_mut().look(deadline),
        };
        match step {
            Step::Ended(Ok(())) => Step::Ended(Ok(self.end())),
            Step::Ended(Err(error)) => {
                self.as_mut().leave();
                self.project().handle.take();
                Step::Ended(Err(error))
            }
            Step::Wait(until) => Step::Wait(until),
        }
    }

    /// A thread that was called tries for a while. Returns whether it has taken it.
    pub(super) fn spin(self: Pin<&mut Self>) -> bool {
        let is_called = self.wait.as_ref().is_some_and(WaitAsync::is_called);
        let taken =
            is_called && self.handle.as_ref().is_some_and(|handle| handle.raw().spin(self.ask, Place::Line));
        if taken {
            self.end();
        }
        taken
    }

    /// It has been acquired. A call that it got is answered by that.
    fn end(self: Pin<&mut Self>) -> H {
        let mut this = self.project();
        let handle = this.handle.take().expect(ENDED);
        if this.wait.is_some() {
            this.wait.set(None);
            handle.raw().left(*this.ask);
        }
        handle
    }

    /// It is given up.
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if let (Some(handle), Some(wait)) = (this.handle, this.wait.as_mut().as_pin_mut()) {
            let was_called = wait.cancel() != Cancelled::BeforeNotify;
            this.wait.set(None);
            handle.raw().pass_on(*this.ask, was_called);
        }
    }

    /// Takes it, or stands in line afterwards.
    fn line_up(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        let mut this = self.project();
        let handle = this.handle.as_ref().expect(ENDED);
        let (raw, ask) = (handle.raw(), *this.ask);
        let mut cx = Context::from_waker(waker);
        loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                match raw.take_or_mark(ask, Place::New) {
                    Ok(()) => return Poll::Ready(()),
                    Err(taken) => this.wait.set(Some(wait_async(handle.at(ask), taken))),
                }
                continue;
            };
            // Called: one look before it costs anything, ...
            if wait.is_called() && raw.take_called(ask) {
                return Poll::Ready(());
            }
            match wait.as_mut().poll_called(&mut cx) {
                // Notified; or the word is not what the attempt left, so that somebody else has got on meanwhile.
                Poll::Ready(Some(_)) => this.wait.set(None),
                // ... and one when the next call will find us.
                Poll::Ready(None) if raw.take_or_mark(ask, Place::Line).is_ok() => return Poll::Ready(()),
                Poll::Ready(None) if raw.is_kept(ask) => {
                    wait.ask_for_call();
                    return Poll::Pending;
                }
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// In line: looks for itself if it is time to, and gives up if the time is up.
    fn look(self: Pin<&mut Self>, deadline: Option<Instant>) -> Step<()> {
        let this = self.project();
        if !<H::Raw as Acquire>::Looks::LOOK && deadline.is_none() {
            return Step::Wait(None);
        }
        let now = Instant::now();
        let time_is_up = deadline.is_some_and(|deadline| deadline <= now);
        if time_is_up || this.looks.is_due(now) {
            let raw = this.handle.as_ref().expect(ENDED).raw();
            if raw.take_or_mark(*this.ask, Place::Line).is_ok() {
                return Step::Ended(Ok(()));
            }
            if time_is_up {
                return Step::Ended(Err(LockError::TimedOut));
            }
            this.looks.renew(now);
        }
        let look = this.looks.next(now);
        Step::Wait(deadline.map_or(look, |deadline| Some(look.map_or(deadline, |look| deadline.min(look)))))
    }
}
