//! The acquisition loop: its state between two steps, and its steps.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::observe::{Caller, Origin};
use waitword_core::{Cancelled, Parker, WaitAsync, spin_in_poll, wait_async_from};

use crate::acquire::attempts::{
    self, NotTaken, competes, has_waiters, left, take, take_if, take_or_mark, take_reserved, take_signalled,
};
use crate::acquire::held::held_by_task;
use crate::acquire::out_of_line::OutOfLine;
use crate::acquire::{Acquire, Acquired, Ask, Attempt, Behind, Kind, Left, OnUnwind, StateWord};
use crate::drive::{Step, Steps};
use crate::error::{LockError, timed_out};
use crate::holders::HoldId;
use crate::spins::Pauses;
use crate::sync::mutant;

/// When a queued waiter took the word, and how. That decides whether the acquisition used up a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// While signalled. The waiter is not signalled again before it has left the queue.
    OnSignal,
    /// On a recheck, while the next signal could find the waiter. Such a signal belongs to a later release.
    OnRecheck,
    /// By barging: a task right after it enqueued, a thread before it slept. Its release signals only if the word says that a waiter is
    /// queued, so a signal that it has received already has to be forwarded.
    Barging,
}

/// How the loop ends, except at its deadline.
type Ended<R> = Result<Taken, <R as Acquire>::Closed>;

const ENDED: &str = "an acquisition was polled after it had ended";

pin_project! {
    /// The acquisition loop, between two of its steps.
    pub(crate) struct Acquisition<'a, R: Acquire> {
        // `Some` until the end.
        raw: Option<&'a R>,
        ask: Ask<R>,
        // Set once a task has acquired it.
        hold: HoldId,
        #[pin]
        wait: Wait<'a, R::Word>,
    }

    impl<R: Acquire> PinnedDrop for Acquisition<'_, R> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            if this.wait.is_begun() {
                this.leave();
            }
        }
    }
}

pin_project! {
    /// The waiter of an acquisition. It stores its caller, which therefore is not stored again beside it.
    #[project = WaitProjection]
    enum Wait<'a, W: StateWord> {
        // Until the first attempt has failed, and once the wait has ended.
        None { caller: Caller },
        // While queued; then there is a lock, too.
        Begun { #[pin] wait: OutOfLine<WaitAsync<&'a W>> },
    }
}

impl<'a, W: StateWord> Wait<'a, W> {
    fn begun(&self) -> Option<&WaitAsync<&'a W>> {
        if let Self::Begun { wait } = self { Some(&**wait) } else { None }
    }

    fn is_begun(&self) -> bool {
        self.begun().is_some()
    }

    fn as_pin_mut(self: Pin<&mut Self>) -> Option<Pin<&mut WaitAsync<&'a W>>> {
        if let WaitProjection::Begun { wait } = self.project() { Some(wait.as_pin_mut()) } else { None }
    }

    fn caller(self: Pin<&mut Self>) -> Caller {
        match self.project() {
            WaitProjection::None { caller } => *caller,
            WaitProjection::Begun { wait } => wait.as_pin_mut().caller(),
        }
    }

    /// Called when the wait has ended. Drops its waker, whose destructor may panic.
    fn clear(mut self: Pin<&mut Self>) {
        let caller = self.as_mut().caller();
        self.set(Self::None { caller });
    }
}

impl<'a, R: Acquire> Acquisition<'a, R> {
    /// The caller that created the acquisition.
    pub(crate) fn caller(self: Pin<&mut Self>) -> Caller {
        self.project().wait.caller()
    }

    /// For a wait that began at `caller`.
    #[inline]
    pub(crate) fn from_caller(caller: Caller, raw: &'a R, ask: Ask<R>) -> Self {
        Self { raw: Some(raw), ask, hold: HoldId::NONE, wait: Wait::None { caller } }
    }

    /// Whether the acquirer is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.raw.is_some() && self.wait.is_begun()
    }

    fn is_signalled(&self) -> bool {
        self.wait.begun().is_some_and(WaitAsync::is_signalled)
    }

    /// The task that is polled with `waker` has acquired the word.
    #[inline]
    pub(super) fn held(self: Pin<&mut Self>, raw: &R, waker: &Waker, gives_up: bool) {
        let this = self.project();
        *this.hold = held_by_task(raw, *this.ask, || this.wait.caller(), waker, gives_up);
    }

    #[inline]
    pub(super) fn ask(&self) -> Ask<R> {
        self.ask
    }

    /// The [`HoldId`] for the guard, once a task has acquired it.
    #[inline]
    pub(super) fn hold(&self) -> HoldId {
        self.hold
    }

    /// What is acquired, until the end.
    #[inline]
    pub(crate) fn raw(&self) -> Option<&'a R> {
        self.raw
    }

    /// The first attempt, before any costly work. A queued acquirer makes none here.
    #[inline]
    pub(crate) fn take_at_once(self: Pin<&mut Self>) -> Option<&'a R> {
        let this = self.project();
        if this.wait.is_begun() {
            return None;
        }
        // Moved out of the future before the attempt, and not read again after it, because the attempt is a compiler fence.
        let raw = this.raw.take()?;
        if take(raw, *this.ask) {
            return Some(raw);
        }
        *this.raw = Some(raw);
        None
    }

    /// Called when the task has no budget left: whether it may yield, because it is queued, or because it would not have to wait.
    pub(crate) fn can_yield(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        if this.wait.is_begun() {
            return true;
        }
        // Only an attempt finds out whether the word is free. What the attempt takes is released again, because a holder that is not polled
        // would block other acquirers.
        let raw = this.raw.expect(ENDED);
        let is_free = take(raw, *this.ask);
        if is_free {
            raw.give_back(*this.ask);
        }
        is_free
    }

    /// Ends with the word acquired.
    fn end(self: Pin<&mut Self>, taken: Taken) -> Acquired<R> {
        let mut this = self.project();
        let (raw, ask) = (this.raw.take().expect(ENDED), *this.ask);
        attempts::between();
        if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let (left, is_last) = attempts::leave_with_it(raw, ask, wait);
            let was_signalled = has_another_signal(taken, left);
            // An acquirer that unwinds here must not keep the word.
            let unwinding = OnUnwind(|| raw.give_back(ask));
            let holds = signals_on_release(taken);
            attempts::left(raw, ask, Left { holds, was_signalled, is_last });
            this.wait.clear();
            mem::forget(unwinding);
        }
        Ok(())
    }

    /// Ends without the word. A waiter that found it closed may be queued still.
    fn end_without(self: Pin<&mut Self>) {
        let this = self.project();
        this.raw.take();
        this.wait.clear();
    }

    /// Gives up, if it is queued.
    #[cold]
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if let (Some(raw), Some(wait)) = (this.raw, this.wait.as_mut().as_pin_mut()) {
            let was_signalled = wait.cancel() != Cancelled::BeforeNotify;
            // The waker is dropped with the rest, after the signal was forwarded, because its destructor may panic.
            left(*raw, *this.ask, Left { holds: false, was_signalled, is_last: false });
        }
    }

    /// Takes the word, or enqueues.
    fn enqueue(self: Pin<&mut Self>, waker: &Waker, is_timed: bool, is_blocked: bool) -> Poll<Ended<R>> {
        let mut this = self.project();
        let (raw, ask) = (this.raw.expect(ENDED), *this.ask);
        let mut cx = Context::from_waker(waker);
        let kind = if Parker::is_woken_by(waker) { Kind::Thread } else { Kind::Task };
        let mut enqueues = false;
        loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                // A thread has spun before this.
                if kind == Kind::Task
                    && spin_in_poll(|| (!has_waiters(raw)).then(|| take_if(raw, ask, Attempt::Barging)))
                {
                    return Poll::Ready(Ok(Taken::OnRecheck));
                }
                match take_or_mark(raw, ask, Attempt::Barging) {
                    Ok(()) => return Poll::Ready(Ok(Taken::OnRecheck)),
                    Err(NotTaken::Marked { state, .. }) => {
                        enqueues = true;
                        let caller = this.wait.as_mut().caller();
                        let origin = Origin::new(caller, R::report(ask).waits_for).timed(is_timed);
                        let wait = wait_async_from(origin, raw.at(ask), R::awaited(state, ask));
                        this.wait.set(Wait::Begun { wait: OutOfLine::new(wait) });
                    }
                    Err(NotTaken::Closed(closed)) => return Poll::Ready(Err(closed)),
                }
                continue;
            };
            // Signalled: an attempt before the shard's lock is taken to acknowledge the signal, ...
            if wait.is_signalled()
                && (take_signalled(raw, ask, kind) || kind == Kind::Task && spin_on_signal(raw, ask))
            {
                return Poll::Ready(Ok(Taken::OnSignal));
            }
            match wait.as_mut().poll_signalled(&mut cx) {
                // Notified; or the word has changed since the attempt, so another acquirer has made progress.
                Poll::Ready(Some(_)) => {
                    // Clear the mark on unwinding: an upgrading acquirer keeps readers out by it.
                    let gives_up = Left { holds: false, was_signalled: false, is_last: false };
                    let unwinding = OnUnwind(|| left(raw, ask, gives_up));
                    this.wait.as_mut().clear();
                    mem::forget(unwinding);
                }
                // ... and one when the next signal will find this waiter.
                Poll::Ready(None) => {
                    mutant!("acquire-recheck" => return Poll::Pending);
                    let mut has_signal = true;
                    loop {
                        match take_or_mark(raw, ask, Attempt::Queued(kind)) {
                            Ok(()) => return Poll::Ready(Ok(Taken::OnRecheck)),
                            Err(NotTaken::Marked { behind: Behind::Pass { is_new }, .. })
                                if is_new || has_signal =>
                            {
                                mutant!("acquire-pass" => return Poll::Pending);
                                wait.as_mut().let_pass();
                                attempts::signal_past(raw);
                                has_signal = false;
                            }
                            // Perhaps no release signals this waiter again, and the waiters behind it must not depend on a task that is not
                            // polled. A blocked thread continues as soon as it can, and would be woken for nothing.
                            Err(NotTaken::Marked { behind: Behind::HeldUp, .. }) if !is_blocked => {
                                wait.request_signal();
                                return Poll::Pending;
                            }
                            Err(NotTaken::Marked { .. }) => return Poll::Pending,
                            Err(NotTaken::Closed(closed)) => return Poll::Ready(Err(closed)),
                        }
                    }
                }
                // A task that has enqueued makes one more attempt, by barging: a short critical section has ended by then.
                Poll::Pending
                    if enqueues
                        && kind == Kind::Task
                        && competes(raw, ask)
                        && take_if(raw, ask, Attempt::Barging) =>
                {
                    return Poll::Ready(Ok(Taken::Barging));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// At the deadline: leaves the queue before the last attempt, not after it. So the attempt uses up an earlier signal, and a later
    /// signal goes to the next waiter. Without a signal, the attempt is that of a barging acquirer.
    #[cold]
    fn last_attempt(self: Pin<&mut Self>, kind: Kind) -> Result<Ended<R>, LockError> {
        let mut this = self.project();
        let (raw, ask) = (this.raw.expect(ENDED), *this.ask);
        // The waker is dropped at the end, as in `leave`.
        let cancelled = this.wait.as_mut().as_pin_mut().map(WaitAsync::cancel);
        let was_signalled = cancelled.is_some_and(was_signalled);
        let by = if was_signalled { Attempt::Queued(kind) } else { Attempt::Barging };
        match take_or_mark(raw, ask, by) {
            Ok(()) => return Ok(Ok(Taken::OnRecheck)),
            Err(NotTaken::Closed(closed)) => return Ok(Err(closed)),
            Err(NotTaken::Marked { .. }) => {}
        }
        left(raw, ask, Left { holds: false, was_signalled, is_last: false });
        match take_reserved(raw, ask) {
            true => Ok(Ok(Taken::OnRecheck)),
            false => Err(timed_out(raw.held_at(), R::report(ask).waits_for)),
        }
    }

    /// Makes a step. A queued waiter keeps its position until it is notified or its acquisition has ended.
    fn advance(
        mut self: Pin<&mut Self>,
        waker: &Waker,
        deadline: Option<Instant>,
        is_blocked: bool,
    ) -> Step<Result<Acquired<R>, LockError>> {
        let ended = match self.as_mut().enqueue(waker, deadline.is_some(), is_blocked) {
            Poll::Ready(ended) => Ok(ended),
            Poll::Pending if deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                let kind = if Parker::is_woken_by(waker) { Kind::Thread } else { Kind::Task };
                self.as_mut().last_attempt(kind)
            }
            Poll::Pending => return Step::Wait(deadline),
        };
        let acquired = match ended {
            Ok(Ok(taken)) => return Step::Ended(Ok(self.end(taken))),
            Ok(Err(closed)) => Ok(Err(closed)),
            Err(error) => Err(error),
        };
        self.end_without();
        Step::Ended(acquired)
    }
}

impl<R: Acquire> Steps for Acquisition<'_, R> {
    type Output = Result<Acquired<R>, LockError>;

    fn step(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        self.advance(waker, deadline, false)
    }

    fn step_blocked(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        self.advance(waker, deadline, true)
    }

    fn can_go_on(&self) -> bool {
        self.wait.begun().is_none_or(|wait| wait.is_signalled() || wait.is_notified())
    }

    fn is_next(&self) -> bool {
        self.wait.begun().is_some_and(WaitAsync::was_first)
    }

    fn before_park(self: Pin<&mut Self>) -> Option<Self::Output> {
        let raw = self.raw.filter(|_| self.wait.is_begun())?;
        attempts::take_before_park(raw, self.ask, || self.is_signalled())
            .then(|| Ok(self.end(Taken::Barging)))
    }

    fn spin(self: Pin<&mut Self>) -> Option<Self::Output> {
        let raw = self.raw.filter(|_| self.is_signalled())?;
        let is_taken = attempts::spin(raw, self.ask, Attempt::Signalled(Kind::Thread), &mut Pauses::new());
        is_taken.then(|| Ok(self.end(Taken::OnSignal)))
    }
}

/// Makes further attempts of a signalled task, for a moment. A thread makes them when it wakes up.
fn spin_on_signal<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    let mut begins = true;
    spin_in_poll(|| {
        // If others are queued behind it, fetching the word's cache line costs more than it gains, so the line is left to the holder.
        if mem::take(&mut begins) && attempts::waiters(raw, ask) > 1 {
            return None;
        }
        Some(take_if(raw, ask, Attempt::Signalled(Kind::Task)))
    })
}

/// Whether the release signals the next waiter even if the word says that there is none.
fn signals_on_release(taken: Taken) -> bool {
    mutant!("acquire-barging" => return true);
    taken != Taken::Barging
}

/// Whether a waiter that has acquired the word leaves the queue with a signal that it has not used up.
fn has_another_signal(taken: Taken, left: Cancelled) -> bool {
    mutant!("acquire-on-recheck" => return left != Cancelled::BeforeNotify && taken == Taken::Barging);
    left != Cancelled::BeforeNotify && taken != Taken::OnSignal
}

/// Whether a waiter that has timed out leaves the queue with a signal.
fn was_signalled(left: Cancelled) -> bool {
    mutant!("acquire-timed-out" => return false);
    left != Cancelled::BeforeNotify
}
