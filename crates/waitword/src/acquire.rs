//! The one acquisition loop: try; else wait in line while the word says "taken"; called, try again.
//!
//! [`Acquisition`] is the loop as something that is stepped. A thread drives it with its [`Parker`] ([`block`]), with a
//! deadline or without, and [`AcquireAsync`] drives it as a future. What is acquired says in [`Acquire`] how that is
//! tried; that a thread, a task and a timeout can meet on it is all here.
//!
//! # A call is an offer
//! Whoever frees the word calls the first in line and lets go: the word is free for anybody until somebody takes it.
//! So the one who was called owes something to those behind it. If it takes the word, its own release calls the next.
//! There are three ways in which it might not, and each would let the others sleep for ever:
//!
//! **It is dropped, or its time is up, after it was called.** It passes the call on.
//!
//! ```text
//!   A (a task)                    B                        the holder
//!   ───────────────────────       ──────────────────       ───────────────────────
//!   in line                       in line behind A         free; call A
//!   dropped                       sleeps; nobody will
//!                                 ever call it
//!
//!   leave the line: was called
//!   → call B, or see to it that
//!     who barged in will
//! ```
//!
//! **Somebody barges in before it comes.** It finds the word taken, marks it so that the release calls again, and goes
//! back into line.
//!
//! **It is a task that nobody polls**, because whoever owns it awaits something else, perhaps this very word. It may
//! never come. And whoever barges in meanwhile does not know of B:
//!
//! ```text
//!   A (called, not polled)        B                        C (new)
//!   ───────────────────────       ──────────────────       ───────────────────────
//!                                 in line                  FREE → LOCKED
//!                                                          LOCKED → FREE: nobody to call
//!                                 sleeps for ever
//!
//!                                 patience is over:
//!                                 looks, in line           FREE → LOCKED
//!                                 LOCKED → CONTENDED
//!                                                          CONTENDED → FREE; call B
//! ```
//! So everybody looks for itself when it has not been called for a while ([`Patience`]). A look is the same attempt as
//! any other: it takes the word if it is free, and marks it if it is not. It is made from the place in line, which is
//! kept. A look that succeeds may coincide with a call; that call is used up by the success, since what was taken this
//! way calls the next when it is released.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::{Alarm, Cancelled, Location, Parker, WaitAsync, Word, wait_async};

use crate::patience::Patience;

/// What can be acquired: how it is tried, and where one waits for it.
pub(crate) trait Acquire {
    /// Where those who wait stand in line.
    type At: Location;

    /// See [`Acquire::At`].
    fn at(&self) -> &Self::At;

    /// The attempt of one who has not waited: takes it if it is free, and leaves no trace otherwise.
    fn take(&self) -> bool;

    /// The attempt of one who waits or is about to: takes it if it is free, so that its release calls the next in
    /// line; otherwise sees to it that the release of who holds it does. The error is the value to wait on.
    fn take_or_mark(&self) -> Result<(), Value<Self>>;

    /// One who was called leaves without trying: somebody else has to be called, now or by the next release.
    fn pass_on(&self);
}

pub(crate) type Value<R> = <<<R as Acquire>::At as Location>::Word as Word>::Value;

/// The time was up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TimedOut;

/// Acquires, blocking this thread, until `deadline` at the latest.
#[cold]
pub(crate) fn block<R: Acquire>(target: &R, deadline: Option<Instant>) -> Result<(), TimedOut> {
    let parker = Parker::current();
    let mut acquisition = pin!(Acquisition::new(target, deadline));
    loop {
        match acquisition.as_mut().step(parker.waker()) {
            Step::Ended(result) => return result,
            Step::Wait(until) => parker.park_until(until),
        }
    }
}

pin_project! {
    /// Acquires as a future, until a deadline at the latest.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsync<'a, R: Acquire> {
        #[pin]
        acquisition: Acquisition<'a, R>,
        // Wakes the task when it is time to look, or to give up.
        #[pin]
        alarm: Alarm,
    }
}

impl<'a, R: Acquire> AcquireAsync<'a, R> {
    pub(crate) fn new(target: &'a R, deadline: Option<Instant>) -> Self {
        Self { acquisition: Acquisition::new(target, deadline), alarm: Alarm::new() }
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.wait.is_some()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TimedOut>> {
        let this = self.project();
        match this.acquisition.step(cx.waker()) {
            Step::Ended(result) => {
                this.alarm.clear();
                Poll::Ready(result)
            }
            Step::Wait(until) => {
                this.alarm.set(until, cx.waker());
                Poll::Pending
            }
        }
    }
}

impl<R: Acquire> Future for AcquireAsync<'_, R> {
    type Output = Result<(), TimedOut>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.as_mut().project().acquisition.take_at_once() {
            return Poll::Ready(Ok(()));
        }
        self.poll_slow(cx)
    }
}

/// What the driver of an [`Acquisition`] does next.
enum Step {
    /// Nothing: it has been acquired, or the time was up.
    Ended(Result<(), TimedOut>),
    /// Step again when woken, and at this time at the latest.
    Wait(Instant),
}

#[derive(PartialEq, Eq)]
enum Stage {
    New,
    Begun,
    Ended,
}

pin_project! {
    /// The loop, between two of its steps.
    struct Acquisition<'a, R: Acquire> {
        target: &'a R,
        deadline: Option<Instant>,
        stage: Stage,
        patience: Patience,
        // Its place in line, if it has one.
        #[pin]
        wait: Option<WaitAsync<&'a R::At>>,
    }

    impl<R: Acquire> PinnedDrop for Acquisition<'_, R> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(wait) = this.wait.as_pin_mut()
                && wait.cancel() == Cancelled::AfterNotify
            {
                this.target.pass_on();
            }
        }
    }
}

impl<'a, R: Acquire> Acquisition<'a, R> {
    fn new(target: &'a R, deadline: Option<Instant>) -> Self {
        Self { target, deadline, stage: Stage::New, patience: Patience::new(), wait: None }
    }

    /// The first attempt, before anything that costs. Later calls do nothing.
    #[inline]
    fn take_at_once(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        if *this.stage != Stage::New {
            return false;
        }
        let taken = this.target.take();
        *this.stage = if taken { Stage::Ended } else { Stage::Begun };
        taken
    }

    /// Goes on until it has ended or has to wait. Whoever is in line stays there until it is called or has ended.
    fn step(mut self: Pin<&mut Self>, waker: &Waker) -> Step {
        assert!(self.stage != Stage::Ended, "an acquisition was polled after it had ended");
        let step = match self.as_mut().line_up(waker) {
            Poll::Ready(()) => Step::Ended(Ok(())),
            Poll::Pending => self.as_mut().look(Instant::now()),
        };
        if let Step::Ended(_) = step {
            *self.project().stage = Stage::Ended;
        }
        step
    }

    /// Takes it, or stands in line afterwards.
    fn line_up(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        let mut this = self.project();
        let mut cx = Context::from_waker(waker);
        loop {
            match this.wait.as_mut().as_pin_mut() {
                None => match this.target.take_or_mark() {
                    Ok(()) => return Poll::Ready(()),
                    Err(taken) => this.wait.set(Some(wait_async(this.target.at(), taken))),
                },
                Some(wait) => match wait.poll(&mut cx) {
                    // Called; or the word is not what the attempt left, so that somebody else has got on meanwhile.
                    Poll::Ready(_) => this.wait.set(None),
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    /// In line: looks for itself if it is time to, and gives up if the time is up.
    fn look(self: Pin<&mut Self>, now: Instant) -> Step {
        let mut this = self.project();
        let time_is_up = this.deadline.is_some_and(|deadline| deadline <= now);
        if time_is_up {
            // Left before the last attempt, not after it: a call that came before is answered by the attempt, and one
            // that comes later goes to the next in line.
            this.wait.set(None);
        }
        if time_is_up || this.patience.is_over(now) {
            if this.target.take_or_mark().is_ok() {
                // A call that came meanwhile has been answered too.
                this.wait.set(None);
                return Step::Ended(Ok(()));
            }
            if time_is_up {
                return Step::Ended(Err(TimedOut));
            }
            this.patience.renew(now);
        }
        let look = this.patience.next_look(now);
        Step::Wait(this.deadline.map_or(look, |deadline| deadline.min(look)))
    }
}
