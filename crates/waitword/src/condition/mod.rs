//! The one loop of those who wait for something to be so, and take nothing away from each other: is it so? Else wait
//! while the word says that it is not.
//!
//! ```text
//!   waiter                                   whoever makes it so
//!   ───────────────────────────────          ───────────────────────────────
//!   check: the word says no
//!                                            word = yes; notify
//!   wait while the word says no: it
//!   does not any more → check: yes
//! ```
//! The second look at the word and the entry into the line are one step against every notify; that is the queue's
//! doing. What is left to each condition is to change the word whenever it changes the answer, and to notify after it
//! or in the same step.
//!
//! A thread drives the loop with [`block`], a task with [`WaitFor`], and a task with a deadline with
//! [`WaitUntil`](timed::WaitUntil); a thread that begins before it blocks, with [`WaitFor::block_until`]. Nobody who waits here needs patience (as those do who wait for a lock): what has come
//! to be so is so for all who wait, and a task that is not polled keeps it from nobody. Only an event's `notify_one`
//! is for one waiter alone, as a message would be; if that one goes away, it is passed on ([`Condition::give_up`]).

#[allow(unsafe_code)]
mod handle;
mod named;
mod timed;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::{
    Cancelled, Location, Outcome, Parker, WaitAsync, Word, may_block, wait, wait_async, wait_until,
};

use crate::coop::Unit;

pub(crate) use handle::{Handle, HasRaw, OwnedAt, Waited};
pub(crate) use {named::named_future, timed::WaitUntil};

/// What one waiter waits for, and what that waiter remembers meanwhile.
pub(crate) trait Condition {
    /// Where one waits for it.
    type At: Location;

    /// What the waiter gets.
    type Output;

    /// See [`Condition::At`].
    fn at(&self) -> Self::At;

    /// Whether it is so; if not, the value of the word to wait on.
    fn check(&mut self) -> Result<Self::Output, Value<Self>>;

    /// The same, asked by a waiter that has just been notified.
    fn called(&mut self) -> Result<Self::Output, Value<Self>> {
        self.check()
    }

    /// The notify was one of the last in the queue, which matters to whoever forwards it ([`give_up`](Self::give_up)).
    fn notified_last(&mut self) {}

    /// Called once if the waiter goes away without an output: its time is up, or it is dropped. It has left the line;
    /// `called` says that a notify had counted it before, or that it was so, and nobody has been told. The output is for
    /// one whose time is up, if it comes out that it was in time after all.
    fn give_up(&mut self, called: bool) -> Option<Self::Output> {
        let _ = called;
        None
    }
}

pub(crate) type Value<C> = <<<C as Condition>::At as Location>::Word as Word>::Value;

/// Why a blocking wait with a deadline has no output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotSo {
    /// The time was up.
    TimedOut,
    /// It would have had to wait, and this thread must not.
    Forbidden,
}

/// Blocks this thread until it is so. `instead` is what to call where one must not block.
#[track_caller]
pub(crate) fn block<C: Condition>(condition: &mut C, instead: &str) -> C::Output {
    match block_until(condition, None) {
        Ok(output) => output,
        Err(_) => must_not_block(instead),
    }
}

/// See [`block`].
#[track_caller]
pub(crate) fn must_not_block(instead: &str) -> ! {
    panic!("this thread must not block (`forbid_blocking`): use `{instead}` here")
}

/// Blocks this thread until it is so, until `deadline` at the latest.
pub(crate) fn block_until<C: Condition>(
    condition: &mut C,
    deadline: Option<Instant>,
) -> Result<C::Output, NotSo> {
    let mut checked = condition.check();
    loop {
        let value = match checked {
            Ok(output) => return Ok(output),
            Err(value) => value,
        };
        let is_past = || deadline.is_some_and(|deadline| deadline <= Instant::now());
        if !may_block() && !is_past() {
            return condition.give_up(false).ok_or(NotSo::Forbidden);
        }
        let outcome = match deadline {
            None => wait(condition.at(), value),
            Some(deadline) => wait_until(condition.at(), value, deadline),
        };
        checked = match outcome {
            Outcome::Notified => condition.called(),
            Outcome::NotEqual => condition.check(),
            Outcome::TimedOut => return last_look(condition).ok_or(NotSo::TimedOut),
        };
    }
}

/// The time is up, and the line has been left: what is so now is so in time.
fn last_look<C: Condition>(condition: &mut C) -> Option<C::Output> {
    condition.check().ok().or_else(|| condition.give_up(false))
}

pin_project! {
    /// Waits as a future.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct WaitFor<C: Condition> {
        condition: C,
        // Its place in line, if it has one.
        #[pin]
        wait: Option<WaitAsync<C::At>>,
        ended: bool,
        // What it ended with, until somebody has it.
        kept: Option<C::Output>,
    }

    impl<C: Condition> PinnedDrop for WaitFor<C> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if !*this.ended || this.kept.is_some() {
                let called = leave(this.wait, this.condition) || this.kept.is_some();
                this.condition.give_up(called);
            }
        }
    }
}

impl<C: Condition> WaitFor<C> {
    pub(crate) fn new(condition: C) -> Self {
        Self { condition, wait: None, ended: false, kept: None }
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.wait.is_some()
    }

    /// Whether it has ended, and its output was taken.
    pub(crate) fn is_over(&self) -> bool {
        self.ended && self.kept.is_none()
    }

    /// Goes on until it is so, or it stands in line and `cx` will be woken. If it is so the next poll says it; until
    /// then the output is one that nobody has had.
    ///
    /// # Panics
    /// If it is over.
    pub(crate) fn advance(self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        let mut this = self.project();
        if this.kept.is_some() {
            return true;
        }
        assert!(!*this.ended, "a wait was polled after it had ended");
        loop {
            let checked = match this.wait.as_mut().as_pin_mut() {
                None => this.condition.check(),
                Some(mut wait) => {
                    let Poll::Ready(outcome) = wait.as_mut().poll(cx) else { return false };
                    if wait.was_notified_last() {
                        this.condition.notified_last();
                    }
                    this.wait.set(None);
                    match outcome {
                        Outcome::Notified => this.condition.called(),
                        _ => this.condition.check(),
                    }
                }
            };
            match checked {
                Ok(output) => {
                    *this.ended = true;
                    *this.kept = Some(output);
                    return true;
                }
                Err(value) => this.wait.set(Some(wait_async(this.condition.at(), value))),
            }
        }
    }

    /// As a poll of a thread, which has no budget to consume: only a task that is polled again gets a new one.
    pub(crate) fn try_finish(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Option<C::Output> {
        self.as_mut().advance(cx);
        self.project().kept.take()
    }

    /// As [`advance`](Self::advance), without anybody to wake, and `true` if it is over: there is nothing to wait for.
    pub(crate) fn enable(self: Pin<&mut Self>) -> bool {
        self.is_over() || self.advance(&mut Context::from_waker(Waker::noop()))
    }

    /// Goes on as a thread, which it blocks until it is so, until `deadline` at the latest. If that comes first it keeps its
    /// place, and whoever blocks or polls next goes on from there.
    pub(crate) fn block_until(
        mut self: Pin<&mut Self>,
        deadline: Option<Instant>,
    ) -> Result<C::Output, NotSo> {
        let parker = Parker::current();
        let mut cx = Context::from_waker(parker.waker());
        loop {
            if let Some(output) = self.as_mut().try_finish(&mut cx) {
                return Ok(output);
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(NotSo::TimedOut);
            }
            if !may_block() {
                return Err(NotSo::Forbidden);
            }
            match deadline {
                None => parker.park(),
                Some(deadline) => parker.park_until(deadline),
            }
        }
    }

    /// The time is up.
    fn end(self: Pin<&mut Self>) -> Option<C::Output> {
        let this = self.project();
        let called = leave(this.wait, this.condition);
        let output = if called { this.condition.called().ok() } else { None };
        *this.ended = true;
        output.or_else(|| last_look(this.condition))
    }
}

impl<C: Condition> Future for WaitFor<C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        if !self.as_mut().advance(cx) {
            return Poll::Pending;
        }
        // Only now: the position in the queue does not depend on the budget, and what has been got is kept.
        ready!(Unit::poll(cx)).consume();
        self.project().kept.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// Leaves the line, if it is in one. Returns whether it had been called, and had not been told so.
fn leave<C: Condition>(mut queued: Pin<&mut Option<WaitAsync<C::At>>>, condition: &mut C) -> bool {
    let Some(mut wait) = queued.as_mut().as_pin_mut() else { return false };
    let called = wait.as_mut().cancel() == Cancelled::AfterNotify;
    if called && wait.was_notified_last() {
        condition.notified_last();
    }
    queued.set(None);
    called
}
