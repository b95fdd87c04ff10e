//! Conditions, and the loop that waits for one: a thread's, and the future [`WaitFor`].

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::observe::{Caller, Origin, WaitsFor};
use waitword_core::{
    Cancelled, Location, Outcome, Parker, WaitAsync, Word, may_block, wait_async_from, wait_from,
};

use crate::coop::Unit;
use crate::deadline::{Deadline, NoDeadline, Until};
use crate::drive::{Step, Steps, drive};
use crate::error::{LockError, timed_out, timed_out_alone, would_block};
use crate::holders::{LockType, awaited, note_lock_type};

/// A condition, with the state of one waiter.
pub(crate) trait Condition {
    /// The word to wait on.
    type At: Location;

    /// The result of the wait.
    type Output;

    /// What snapshots call a waiter.
    const WAITS_FOR: WaitsFor;

    /// What reports call the object, if its type tells more than [`WAITS_FOR`](Self::WAITS_FOR).
    fn lock_type(&self) -> Option<&'static LockType> {
        None
    }

    /// See [`Condition::At`].
    fn at(&self) -> Self::At;

    /// The output if the condition holds; else the value of the word to wait on.
    fn check(&mut self) -> Result<Self::Output, Value<Self>>;

    /// The same, after a notify.
    fn notified(&mut self) -> Result<Self::Output, Value<Self>> {
        self.check()
    }

    /// The notify was for this waiter alone, from the tail if `is_last`; needed to forward it ([`give_up`](Self::give_up)).
    fn notified_alone(&mut self, is_last: bool) {
        let _ = is_last;
    }

    /// Whether an output that is not taken blocks all others. A task without budget takes such an output nevertheless, instead of waiting
    /// for its next poll.
    fn excludes_others(output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Called once if the waiter is dropped or times out, after it was dequeued. `was_notified`: a notify counted it, or the condition
    /// held, and the output was not taken. Returns an output if a waiter that timed out turns out to have been in time.
    fn give_up(&mut self, was_notified: bool) -> Option<Self::Output> {
        let _ = was_notified;
        None
    }
}

pub(crate) type Value<C> = <<<C as Condition>::At as Location>::Word as Word>::Value;

/// Blocks this thread until the condition holds. `instead` names the method for threads that must not block.
#[track_caller]
pub(crate) fn block<C: Condition>(condition: &mut C, instead: &str) -> C::Output {
    match block_until(condition, None) {
        Ok(output) => output,
        Err(_) => would_block(instead),
    }
}

/// Blocks this thread until the condition holds or `deadline` passes.
#[track_caller]
pub(crate) fn block_until<C: Condition>(
    condition: &mut C,
    deadline: Option<Instant>,
) -> Result<C::Output, LockError> {
    let mut checked = condition.check();
    loop {
        let value = match checked {
            Ok(output) => return Ok(output),
            Err(value) => value,
        };
        let is_past = || deadline.is_some_and(|deadline| deadline <= Instant::now());
        if !may_block() && !is_past() {
            return condition.give_up(false).ok_or(LockError::BlockingForbidden);
        }
        will_wait(condition, Caller::here(), deadline.is_some(), None);
        checked = match wait_from(Origin::here(C::WAITS_FOR), condition.at(), value, deadline) {
            Outcome::Notified => condition.notified(),
            Outcome::NotEqual => condition.check(),
            Outcome::TimedOut => {
                return final_check(condition).ok_or_else(|| late(condition));
            }
        };
    }
}

/// The waiter is about to enqueue: a thread, or the task with this waker.
fn will_wait<C: Condition>(condition: &C, caller: Caller, is_timed: bool, task: Option<&Waker>) {
    if let Some(lock_type) = condition.lock_type() {
        note_lock_type(address(&condition.at()), lock_type);
    }
    // An initialiser holds its cell. Other conditions have no holder.
    if C::WAITS_FOR == WaitsFor::OnceLock && !is_timed {
        awaited(address(&condition.at()), C::WAITS_FOR, caller, task);
    }
}

fn address(at: &impl Location) -> usize {
    std::ptr::from_ref(at.word()).addr()
}

/// The error of a wait that timed out. Only a cell has a holder, its initialiser.
fn late<C: Condition>(condition: &C) -> LockError {
    match C::WAITS_FOR {
        WaitsFor::OnceLock => timed_out(address(&condition.at()), C::WAITS_FOR),
        _ => timed_out_alone(),
    }
}

/// The check after a timeout, when dequeued: a condition that holds now was in time.
fn final_check<C: Condition>(condition: &mut C) -> Option<C::Output> {
    condition.check().ok().or_else(|| condition.give_up(false))
}

pin_project! {
    /// Waits as a future, until the deadline at the latest.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct WaitFor<C: Condition, D = NoDeadline> {
        #[pin]
        waiter: Waiter<C>,
        #[pin]
        deadline: D,
    }
}

pin_project! {
    /// The wait without its deadline.
    struct Waiter<C: Condition> {
        condition: C,
        // For snapshots.
        caller: Caller,
        // The queued wait, if there is one.
        #[pin]
        wait: Option<WaitAsync<C::At>>,
        ended: bool,
        // The output, until it is taken.
        output: Option<C::Output>,
    }

    impl<C: Condition> PinnedDrop for Waiter<C> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if !*this.ended || this.output.is_some() {
                let was_notified = leave(this.wait, this.condition) || this.output.is_some();
                this.condition.give_up(was_notified);
            }
        }
    }
}

impl<C: Condition> Waiter<C> {
    /// Continues until the condition holds, or the wait is queued and wakes `cx`. See [`WaitFor::advance`].
    fn advance(self: Pin<&mut Self>, cx: &mut Context<'_>, is_timed: bool) -> bool {
        let mut this = self.project();
        if this.output.is_some() {
            return true;
        }
        assert!(!*this.ended, "a wait was polled after it had ended");
        loop {
            let checked = match this.wait.as_mut().as_pin_mut() {
                None => this.condition.check(),
                Some(mut wait) => {
                    let Poll::Ready(outcome) = wait.as_mut().poll(cx) else { return false };
                    tell_how(wait, this.condition);
                    this.wait.set(None);
                    match outcome {
                        Outcome::Notified => this.condition.notified(),
                        _ => this.condition.check(),
                    }
                }
            };
            match checked {
                Ok(output) => {
                    *this.ended = true;
                    *this.output = Some(output);
                    return true;
                }
                Err(value) => {
                    will_wait(this.condition, *this.caller, is_timed, Some(cx.waker()));
                    let origin = Origin::new(*this.caller, C::WAITS_FOR).timed(is_timed);
                    this.wait.set(Some(wait_async_from(origin, this.condition.at(), value)));
                }
            }
        }
    }

    /// Ends the wait at its deadline.
    fn end(self: Pin<&mut Self>) -> Result<C::Output, LockError> {
        let mut this = self.project();
        let was_notified = leave(this.wait.as_mut(), this.condition);
        *this.output = if was_notified { this.condition.notified().ok() } else { None };
        *this.output = this.output.take().or_else(|| final_check(this.condition));
        *this.ended = true;
        // While the future still holds the output, because a waker is dropped here, whose destructor may panic.
        this.wait.set(None);
        this.output.take().ok_or_else(|| late(this.condition))
    }
}

impl<C: Condition> WaitFor<C> {
    #[track_caller]
    pub(crate) fn new(condition: C) -> Self {
        Self::from_caller(Caller::here(), condition)
    }

    /// As [`new`](Self::new), for an async function, which is not its own caller.
    pub(crate) fn from_caller(caller: Caller, condition: C) -> Self {
        let waiter = Waiter { condition, caller, wait: None, ended: false, output: None };
        Self { waiter, deadline: NoDeadline }
    }

    /// The same with this deadline, before its first poll.
    pub(crate) fn until(self, deadline: Until) -> WaitFor<C, Until> {
        WaitFor { waiter: self.waiter, deadline }
    }
}

impl<C: Condition, D> WaitFor<C, D> {
    /// The caller that created it.
    pub(crate) fn caller(&self) -> Caller {
        self.waiter.caller
    }

    /// Whether it is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiter.wait.is_some() && !self.waiter.ended
    }
}

impl<C: Condition, D: Deadline> WaitFor<C, D> {
    /// Continues until the condition holds (the next poll returns the output), or the wait is queued and wakes `cx`.
    ///
    /// # Panics
    /// If the wait is over.
    pub(crate) fn advance(self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        let this = self.project();
        let is_timed = this.deadline.at().is_some();
        this.waiter.advance(cx, is_timed)
    }

    /// As a poll, for a thread, which has no budget to consume: only a task that is polled again gets a new one.
    pub(crate) fn try_finish(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Option<C::Output> {
        self.as_mut().advance(cx);
        self.project().waiter.project().output.take()
    }

    /// As [`advance`](Self::advance), without a waker; `true` also if the wait has ended and its output was taken. A queued wait keeps its
    /// waker. A deadline takes effect with the first poll.
    pub(crate) fn enable(self: Pin<&mut Self>) -> bool {
        let waiter = &self.waiter;
        let is_queued = waiter.wait.as_ref().is_some_and(|wait| wait.is_waiting() && !wait.is_notified());
        let is_over = waiter.ended && waiter.output.is_none();
        !is_queued && (is_over || self.advance(&mut Context::from_waker(Waker::noop())))
    }
}

impl<C: Condition> WaitFor<C> {
    /// Blocks this thread until the condition holds or `deadline` passes. After the deadline the wait stays queued, and the next block or
    /// poll continues it.
    #[track_caller]
    pub(crate) fn block_until(
        self: Pin<&mut Self>,
        deadline: Option<Instant>,
    ) -> Result<C::Output, LockError> {
        drive(&Parker::current(), self, deadline)
    }
}

/// The steps of a thread, for [`WaitFor::block_until`].
impl<C: Condition> Steps for WaitFor<C> {
    type Output = Result<C::Output, LockError>;

    fn step(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        if let Some(output) = self.try_finish(&mut Context::from_waker(waker)) {
            Step::Ended(Ok(output))
        } else if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            Step::Ended(Err(timed_out_alone()))
        } else if !may_block() {
            Step::Ended(Err(LockError::BlockingForbidden))
        } else {
            Step::Wait(deadline)
        }
    }

    fn can_go_on(&self) -> bool {
        self.waiter.wait.as_ref().is_none_or(WaitAsync::is_notified)
    }
}

impl<C: Condition, D: Deadline> Future for WaitFor<C, D> {
    type Output = Result<C::Output, D::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let at = this.deadline.at();
        if this.waiter.as_mut().advance(cx, at.is_some()) {
            // Before the output leaves the future, because a waker is dropped here, whose destructor may panic.
            this.deadline.clear();
            // Last, so that a task without budget enqueues nevertheless, and keeps its output.
            let output = this.waiter.project().output;
            match Unit::poll(cx) {
                Poll::Ready(unit) => unit.consume(),
                Poll::Pending if output.as_ref().is_some_and(C::excludes_others) => {}
                Poll::Pending => return Poll::Pending,
            }
            return output.take().map_or(Poll::Pending, |output| Poll::Ready(Ok(output)));
        }
        let Some(deadline) = at else { return Poll::Pending };
        if Instant::now() < deadline {
            this.deadline.wake_at(deadline, cx.waker());
            return Poll::Pending;
        }
        ready!(Unit::poll(cx)).consume();
        this.deadline.clear();
        Poll::Ready(this.waiter.end().map_err(D::error))
    }
}

/// Dequeues the wait. Returns whether a notify had counted it and it had not been polled since. Its waker is dropped later, because its
/// destructor may panic, and the work of the caller has to be done.
fn leave<C: Condition>(mut queued: Pin<&mut Option<WaitAsync<C::At>>>, condition: &mut C) -> bool {
    let Some(mut wait) = queued.as_mut().as_pin_mut() else { return false };
    let was_notified = wait.as_mut().cancel() == Cancelled::AfterNotify;
    tell_how(wait, condition);
    was_notified
}

/// Tells the condition which kind of notify has ended the wait, if one has.
fn tell_how<C: Condition>(mut wait: Pin<&mut WaitAsync<C::At>>, condition: &mut C) {
    if wait.as_mut().was_notified_alone() {
        condition.notified_alone(wait.was_notified_last());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::sync::atomic::AtomicU64;

    /// Holds once it is set, whatever the word says, because its notify is still to come.
    struct Set<'a>(&'a Cell<bool>, &'a AtomicU64);

    impl<'a> Condition for Set<'a> {
        type At = &'a AtomicU64;
        type Output = ();

        const WAITS_FOR: WaitsFor = WaitsFor::Event;

        fn at(&self) -> &'a AtomicU64 {
            self.1
        }

        fn check(&mut self) -> Result<(), u64> {
            if self.0.get() { Ok(()) } else { Err(0) }
        }
    }

    #[test]
    fn a_future_checks_once_more_at_its_deadline() {
        let (is_set, word) = (Cell::new(false), AtomicU64::new(0));
        let mut cx = Context::from_waker(Waker::noop());
        let mut after = Duration::from_millis(1);
        // Once more if the time was up before the first poll.
        while !is_set.get() {
            let deadline = Instant::now() + after;
            let mut wait = pin!(WaitFor::new(Set(&is_set, &word)).until(Until::new(deadline)));
            if wait.as_mut().poll(&mut cx).is_pending() {
                is_set.set(true);
                while Instant::now() < deadline {
                    thread::yield_now();
                }
                assert_eq!(wait.poll(&mut cx), Poll::Ready(Ok(())), "it held before the deadline");
            }
            after *= 2;
        }
    }
}
