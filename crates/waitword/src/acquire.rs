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
use waitword_core::{Alarm, Cancelled, Location, Parker, WaitAsync, Word, may_block, wait_async};

use crate::error::LockError;
use crate::patience::Looks;

/// What can be acquired: how it is tried, and where one waits for it.
pub(crate) trait Acquire {
    /// Where those who wait stand in line.
    type At: Location;

    /// When those who wait look for themselves.
    type Looks: Looks;

    /// See [`Acquire::At`].
    fn at(&self) -> &Self::At;

    /// The attempt of one who has not waited: takes it if it is free for all, and leaves no trace otherwise.
    fn take(&self) -> bool;

    /// The attempt of one who waits or is about to: takes it if it is free, so that its release calls the next in
    /// line; otherwise sees to it that the release of who holds it does. The error is the value to wait on.
    fn take_or_mark(&self, place: Place) -> Result<(), Value<Self>>;

    /// The attempt of one who was called: takes it if it is free, so that its release calls the next in line, and leaves no
    /// trace otherwise.
    fn take_called(&self) -> bool;

    /// A thread tries for a while before it sleeps, if that is worth it. Returns whether it has taken it.
    fn spin(&self, place: Place) -> bool;

    /// One who may have been called leaves without having taken it: somebody else has to be called, now or by the next
    /// release.
    fn pass_on(&self);
}

/// Where one stands who tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not in line.
    New,
    /// In line, or just off it; and called, as far as one knows.
    Line,
}

pub(crate) type Value<R> = <<<R as Acquire>::At as Location>::Word as Word>::Value;

/// Acquires what could not be taken at once, blocking this thread. `instead` is for the one that must not.
#[cold]
#[track_caller]
pub(crate) fn block<R: Acquire>(target: &R, instead: &str) {
    assert!(may_block(), "this thread must not block (`forbid_blocking`): use `{instead}` here");
    // Without a deadline it only ends with the lock.
    let _ = drive(target, None);
}

/// As [`block`], until `deadline` at the latest.
#[cold]
pub(crate) fn block_until<R: Acquire>(target: &R, deadline: Option<Instant>) -> Result<(), LockError> {
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return Err(LockError::TimedOut);
    }
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    drive(target, deadline)
}

fn drive<R: Acquire>(target: &R, deadline: Option<Instant>) -> Result<(), LockError> {
    if target.spin(Place::New) {
        return Ok(());
    }
    let parker = Parker::current();
    let mut acquisition = pin!(Acquisition::new(target));
    loop {
        match acquisition.as_mut().step(parker.waker(), deadline) {
            Step::Ended(result) => return result,
            Step::Wait(Some(until)) => parker.park_until(until),
            Step::Wait(None) => parker.park(),
        }
        // Whoever was called is awake now, and if it came too late for one release it is in time for the next.
        if acquisition.as_mut().spin() {
            return Ok(());
        }
    }
}

pin_project! {
    /// Acquires as a future.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsync<'a, R: Acquire> {
        #[pin]
        acquisition: Acquisition<'a, R>,
    }
}

impl<'a, R: Acquire<Looks = ()>> AcquireAsync<'a, R> {
    pub(crate) fn new(target: &'a R) -> Self {
        Self { acquisition: Acquisition::new(target) }
    }

    pub(crate) fn target(&self) -> &'a R {
        self.acquisition.target
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.wait.is_some()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project().acquisition.step(cx.waker(), None) {
            // Without a deadline it only ends with the lock.
            Step::Ended(_) => Poll::Ready(()),
            Step::Wait(_) => Poll::Pending,
        }
    }
}

impl<R: Acquire<Looks = ()>> Future for AcquireAsync<'_, R> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.as_mut().project().acquisition.take_at_once() {
            return Poll::Ready(());
        }
        self.poll_slow(cx)
    }
}

pin_project! {
    /// Acquires as a future that has to be woken at certain times: until a deadline at the latest, or to look for itself.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct AcquireAsyncUntil<'a, R: Acquire> {
        #[pin]
        acquisition: Acquisition<'a, R>,
        deadline: Option<Instant>,
        // Wakes the task when it is time to look, or to give up.
        #[pin]
        alarm: Alarm,
    }
}

impl<'a, R: Acquire> AcquireAsyncUntil<'a, R> {
    pub(crate) fn new(target: &'a R, deadline: Option<Instant>) -> Self {
        Self { acquisition: Acquisition::new(target), deadline, alarm: Alarm::new() }
    }

    pub(crate) fn target(&self) -> &'a R {
        self.acquisition.target
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.acquisition.wait.is_some()
    }

    #[cold]
    fn poll_slow(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LockError>> {
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

impl<R: Acquire> Future for AcquireAsyncUntil<'_, R> {
    type Output = Result<(), LockError>;

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
    Ended(Result<(), LockError>),
    /// Step again when woken, and at this time at the latest, if there is one.
    Wait(Option<Instant>),
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
        stage: Stage,
        looks: R::Looks,
        // Its place in line, if it has one.
        #[pin]
        wait: Option<WaitAsync<&'a R::At>>,
    }

    impl<R: Acquire> PinnedDrop for Acquisition<'_, R> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(wait) = this.wait.as_pin_mut()
                && wait.cancel() != Cancelled::BeforeNotify
            {
                this.target.pass_on();
            }
        }
    }
}

impl<'a, R: Acquire> Acquisition<'a, R> {
    fn new(target: &'a R) -> Self {
        Self { target, stage: Stage::New, looks: R::Looks::default(), wait: None }
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

    /// Goes on until it has ended or has to wait. Whoever is in line stays there until it is notified or has ended.
    fn step(mut self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step {
        assert!(self.stage != Stage::Ended, "an acquisition was polled after it had ended");
        let step = match self.as_mut().line_up(waker) {
            Poll::Ready(()) => Step::Ended(Ok(())),
            Poll::Pending => self.as_mut().look(deadline),
        };
        if let Step::Ended(_) = step {
            self.end();
        }
        step
    }

    /// A thread that was called tries for a while. Returns whether it has taken it.
    fn spin(self: Pin<&mut Self>) -> bool {
        let is_called = self.wait.as_ref().is_some_and(WaitAsync::is_called);
        let taken = is_called && self.target.spin(Place::Line);
        if taken {
            self.end();
        }
        taken
    }

    /// It is over. A call that it got has been answered, by the success or by the last attempt.
    fn end(self: Pin<&mut Self>) {
        let mut this = self.project();
        this.wait.set(None);
        *this.stage = Stage::Ended;
    }

    /// Takes it, or stands in line afterwards.
    fn line_up(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        let mut this = self.project();
        let mut cx = Context::from_waker(waker);
        loop {
            let Some(wait) = this.wait.as_mut().as_pin_mut() else {
                match this.target.take_or_mark(Place::New) {
                    Ok(()) => return Poll::Ready(()),
                    Err(taken) => this.wait.set(Some(wait_async(this.target.at(), taken))),
                }
                continue;
            };
            // Called: one look before it costs anything, ...
            if wait.is_called() && this.target.take_called() {
                return Poll::Ready(());
            }
            match wait.poll_called(&mut cx) {
                // Notified; or the word is not what the attempt left, so that somebody else has got on meanwhile.
                Poll::Ready(Some(_)) => this.wait.set(None),
                // ... and one when the next call will find us.
                Poll::Ready(None) if this.target.take_or_mark(Place::Line).is_ok() => return Poll::Ready(()),
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// In line: looks for itself if it is time to, and gives up if the time is up.
    fn look(self: Pin<&mut Self>, deadline: Option<Instant>) -> Step {
        let mut this = self.project();
        if !R::Looks::LOOK && deadline.is_none() {
            return Step::Wait(None);
        }
        let now = Instant::now();
        let time_is_up = deadline.is_some_and(|deadline| deadline <= now);
        if time_is_up {
            // Left before the last attempt, not after it: a call that came before is answered by the attempt, and one
            // that comes later goes to the next in line.
            this.wait.set(None);
        }
        if time_is_up || this.looks.is_due(now) {
            if this.target.take_or_mark(Place::Line).is_ok() {
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
