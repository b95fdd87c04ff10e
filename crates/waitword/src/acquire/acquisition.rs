//! The acquisition loop: its state between two steps, and its steps.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::observe::{Caller, Origin};
use waitword_core::{Cancelled, Location, Parker, WaitAsync, spin_in_poll, wait_async_from};

use crate::acquire::held::held_by_task;
use crate::acquire::out_of_line::OutOfLine;
use crate::acquire::{Acquire, Acquired, Attempt, Behind, Closed, Left, NotTaken, OnUnwind, take_reserved};
use crate::drive::{Step, Steps};
use crate::error::{LockError, timed_out};
use crate::handle::{Ask, Handle};
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
type Ended<H> = Result<Taken, Closed<H>>;

const ENDED: &str = "an acquisition was polled after it had ended";

pin_project! {
    /// The acquisition loop, between two of its steps.
    pub(crate) struct Acquisition<H: Handle<Raw: Acquire>> {
        // `Some` until the end, which returns the handle.
        handle: Option<H>,
        ask: Ask<H>,
        // Set once a task has acquired it.
        hold: HoldId,
        #[pin]
        wait: Wait<H::At>,
    }

    impl<H: Handle<Raw: Acquire>> PinnedDrop for Acquisition<H> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            if this.wait.is_begun() {
                this.leave();
            }
        }
    }
}

pin_project! {
    /// The waiter of an acquisition. It knows its caller, which is therefore not stored beside it.
    #[project = WaitProjection]
    enum Wait<A: Location> {
        // Until the first attempt has failed, and once the wait has ended.
        None { caller: Caller },
        // While queued; then there is a handle, too.
        Begun { #[pin] wait: OutOfLine<WaitAsync<A>> },
    }
}

impl<A: Location> Wait<A> {
    fn begun(&self) -> Option<&WaitAsync<A>> {
        if let Self::Begun { wait } = self { Some(&**wait) } else { None }
    }

    fn is_begun(&self) -> bool {
        self.begun().is_some()
    }

    fn as_pin_mut(self: Pin<&mut Self>) -> Option<Pin<&mut WaitAsync<A>>> {
        if let WaitProjection::Begun { wait } = self.project() { Some(wait.as_pin_mut()) } else { None }
    }

    fn caller(self: Pin<&mut Self>) -> Caller {
        match self.project() {
            WaitProjection::None { caller } => *caller,
            WaitProjection::Begun { wait } => wait.as_pin_mut().caller(),
        }
    }

    /// The wait has ended. Drops its waker, whose destructor may panic.
    fn clear(mut self: Pin<&mut Self>) {
        let caller = self.as_mut().caller();
        self.set(Self::None { caller });
    }
}

impl<H: Handle<Raw: Acquire>> Acquisition<H> {
    /// Where it was made.
    pub(crate) fn caller(self: Pin<&mut Self>) -> Caller {
        self.project().wait.caller()
    }

    /// For a wait that began at `caller`.
    #[inline]
    pub(crate) fn from_caller(caller: Caller, handle: H, ask: Ask<H>) -> Self {
        Self { handle: Some(handle), ask, hold: HoldId::NONE, wait: Wait::None { caller } }
    }

    /// Whether the acquirer is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.handle.is_some() && self.wait.is_begun()
    }

    fn is_signalled(&self) -> bool {
        self.wait.begun().is_some_and(WaitAsync::is_signalled)
    }

    /// The task that is polled with `waker` has acquired it.
    #[inline]
    pub(super) fn held(self: Pin<&mut Self>, handle: &H, waker: &Waker, gives_up: bool) {
        let this = self.project();
        *this.hold = held_by_task(handle.raw(), *this.ask, || this.wait.caller(), waker, gives_up);
    }

    #[inline]
    pub(super) fn ask(&self) -> Ask<H> {
        self.ask
    }

    /// The [`HoldId`] for the guard, once a task has acquired it.
    #[inline]
    pub(super) fn hold(&self) -> HoldId {
        self.hold
    }

    /// The first attempt, before any costly work. A queued acquirer makes none here.
    #[inline]
    pub(crate) fn take_at_once(self: Pin<&mut Self>) -> Option<H> {
        let this = self.project();
        if this.wait.is_begun() {
            return None;
        }
        // Moved out of the future before the attempt, and not read again after it: the attempt is a compiler fence.
        let handle = this.handle.take()?;
        if handle.raw().take(*this.ask) {
            return Some(handle);
        }
        *this.handle = Some(handle);
        None
    }

    /// Called when the task has no budget left: whether it may yield, because it is queued, or because it would not have to wait.
    pub(crate) fn can_yield(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        let raw = this.handle.as_ref().expect(ENDED).raw();
        if this.wait.is_begun() {
            return true;
        }
        // Only an attempt finds out whether the word is free. What the attempt takes is given back: a holder that is not polled
        // would block other acquirers.
        let is_free = raw.take(*this.ask);
        if is_free {
            raw.give_back(*this.ask);
        }
        is_free
    }

    /// Ends with the word acquired.
    fn end(self: Pin<&mut Self>, taken: Taken, is_task: bool) -> H {
        let mut this = self.project();
        let handle = this.handle.take().expect(ENDED);
        if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let left = match H::Raw::KNOWS_QUEUE {
                true => wait.cancel_acquired_and(&|| handle.raw().emptied()),
                false => wait.cancel_acquired(),
            };
            let was_signalled = has_another_signal(taken, left);
            // An acquirer that unwinds here must not keep the word.
            let unwinding = OnUnwind(|| handle.raw().give_back(*this.ask));
            handle.raw().left(*this.ask, Left { holds: signals_on_release(taken), was_signalled });
            if taken != Taken::Barging {
                handle.raw().taken_by(is_task);
            }
            this.wait.clear();
            mem::forget(unwinding);
        }
        handle
    }

    /// Ends without the word. A waiter that found it closed may be queued still.
    fn end_without(self: Pin<&mut Self>) {
        let this = self.project();
        this.handle.take();
        this.wait.clear();
    }

    /// Gives up, if it is queued.
    #[cold]
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if let (Some(handle), Some(wait)) = (this.handle, this.wait.as_mut().as_pin_mut()) {
            let was_signalled = wait.cancel() != Cancelled::BeforeNotify;
            // The waker is dropped with the rest, after the forward: its destructor may panic.
            handle.raw().left(*this.ask, Left { holds: false, was_signalled });
        }
    }

    /// Takes the word, or enqueues.
    fn enqueue(self: Pin<&mut Self>, waker: &Waker, is_timed: bool, is_blocked: bool) -> Poll<Ended<H>> {
        let mut this = self.project();
        let handle = this.handle.as_ref().expect(ENDED);
        let (raw, ask) = (handle.raw(), *this.ask);
        let mut cx = Context::from_waker(waker);
        let (is_task, mut enqueues) = (!Parker::is_woken_by(waker), false);
        loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                // A thread has spun before this.
                if is_task && spin_in_poll(|| raw.take_in_poll(ask)) {
                    return Poll::Ready(Ok(Taken::OnRecheck));
                }
                match raw.take_or_mark(ask, Attempt::Barging) {
                    Ok(()) => return Poll::Ready(Ok(Taken::OnRecheck)),
                    Err(NotTaken::Marked { value, .. }) => {
                        enqueues = true;
                        let caller = this.wait.as_mut().caller();
                        let origin = Origin::new(caller, H::Raw::waits_for(ask)).timed(is_timed);
                        let wait = wait_async_from(origin, handle.at(ask), value);
                        this.wait.set(Wait::Begun { wait: OutOfLine::new(wait) });
                    }
                    Err(NotTaken::Closed(closed)) => return Poll::Ready(Err(closed)),
                }
                continue;
            };
            // Signalled: an attempt before the shard's lock is taken to acknowledge the signal, ...
            if wait.is_signalled() && (raw.take_signalled(ask) || is_task && spin_on_signal(raw, ask)) {
                return Poll::Ready(Ok(Taken::OnSignal));
            }
            match wait.as_mut().poll_signalled(&mut cx) {
                // Notified; or the word has changed since the attempt, so another acquirer has made progress.
                Poll::Ready(Some(_)) => {
                    // Clear the mark on unwinding: an upgrading acquirer keeps readers out by it.
                    let unwinding = OnUnwind(|| raw.left(ask, Left { holds: false, was_signalled: false }));
                    this.wait.as_mut().clear();
                    mem::forget(unwinding);
                }
                // ... and one when the next signal will find this waiter.
                Poll::Ready(None) => {
                    mutant!("acquire-recheck" => return Poll::Pending);
                    let mut has_signal = true;
                    loop {
                        match raw.take_or_mark(ask, Attempt::Queued) {
                            Ok(()) => return Poll::Ready(Ok(Taken::OnRecheck)),
                            Err(NotTaken::Marked { behind: Behind::Pass { is_new }, .. })
                                if is_new || has_signal =>
                            {
                                mutant!("acquire-pass" => return Poll::Pending);
                                wait.as_mut().let_pass();
                                raw.signal_past();
                                has_signal = false;
                            }
                            // Perhaps no release signals this waiter again, and the waiters behind it must not depend on a task that is
                            // not polled. A blocked thread goes on as soon as it can, and would be woken for nothing.
                            Err(NotTaken::Marked { behind: Behind::HeldUp, .. }) if !is_blocked => {
                                wait.request_signal();
                                return Poll::Pending;
                            }
                            Err(NotTaken::Marked { .. }) => return Poll::Pending,
                            Err(NotTaken::Closed(closed)) => return Poll::Ready(Err(closed)),
                        }
                    }
                }
                Poll::Pending if enqueues && is_task && raw.take_after_all(ask) => {
                    return Poll::Ready(Ok(Taken::Barging));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// For a queued waiter: rechecks without a signal if that is due, and gives up if the time is up.
    fn recheck(mut self: Pin<&mut Self>, deadline: Option<Instant>) -> Step<Result<Ended<H>, LockError>> {
        let this = self.as_mut().project();
        let handle = this.handle.as_mut().expect(ENDED);
        if handle.rechecks().is_none() && deadline.is_none() {
            return Step::Wait(None);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            let (at, waits_for) = (handle.raw().held_at(), H::Raw::waits_for(*this.ask));
            let late = || timed_out(at, waits_for);
            return Step::Ended(self.last_attempt().ok_or_else(late));
        }
        if handle.rechecks().is_some_and(|rechecks| rechecks.is_due(now)) {
            if let Some(ended) = attempt::<H>(handle.raw(), *this.ask, Attempt::Queued) {
                return Step::Ended(Ok(ended));
            }
            handle.rechecks().expect("one was due").renew(now);
        }
        let next = handle.rechecks().and_then(|rechecks| rechecks.next(now));
        Step::Wait(deadline.map_or(next, |deadline| Some(next.map_or(deadline, |next| deadline.min(next)))))
    }

    /// Leaves the queue before the last attempt, not after it. So the attempt uses up an earlier signal, and a later one goes
    /// to the next waiter. Without a signal, the attempt is that of a barging acquirer.
    fn last_attempt(self: Pin<&mut Self>) -> Option<Ended<H>> {
        let mut this = self.project();
        let raw = this.handle.as_ref().expect(ENDED).raw();
        // The waker is dropped at the end, as in `leave`.
        let left = this.wait.as_mut().as_pin_mut().map(WaitAsync::cancel);
        let was_signalled = left.is_some_and(was_signalled);
        let ended =
            attempt::<H>(raw, *this.ask, if was_signalled { Attempt::Queued } else { Attempt::Barging });
        if ended.is_some() {
            return ended;
        }
        raw.left(*this.ask, Left { holds: false, was_signalled });
        take_reserved(raw, *this.ask).then_some(Ok(Taken::OnRecheck))
    }
}

impl<H: Handle<Raw: Acquire>> Acquisition<H> {
    /// A step. A queued waiter keeps its position until it is notified or has ended.
    fn advance(
        mut self: Pin<&mut Self>,
        waker: &Waker,
        deadline: Option<Instant>,
        is_blocked: bool,
    ) -> Step<Result<Acquired<H>, LockError>> {
        let ended = match self.as_mut().enqueue(waker, deadline.is_some(), is_blocked) {
            Poll::Ready(ended) => Ok(ended),
            Poll::Pending => match self.as_mut().recheck(deadline) {
                Step::Ended(ended) => ended,
                Step::Wait(until) => return Step::Wait(until),
            },
        };
        Step::Ended(match ended {
            Ok(Ok(taken)) => Ok(Ok(self.end(taken, !Parker::is_woken_by(waker)))),
            Ok(Err(closed)) => {
                self.end_without();
                Ok(Err(closed))
            }
            Err(error) => {
                self.end_without();
                Err(error)
            }
        })
    }
}

impl<H: Handle<Raw: Acquire>> Steps for Acquisition<H> {
    type Output = Result<Acquired<H>, LockError>;

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
        let barges = |handle: &H| handle.raw().take_before_park(self.ask, || self.is_signalled());
        let is_taken = self.wait.is_begun() && self.handle.as_ref().is_some_and(barges);
        is_taken.then(|| Ok(Ok(self.end(Taken::Barging, false))))
    }

    fn spin(self: Pin<&mut Self>) -> Option<Self::Output> {
        let is_taken = self.is_signalled()
            && self
                .handle
                .as_ref()
                .is_some_and(|handle| handle.raw().spin(self.ask, Attempt::Queued, &mut Pauses::new()));
        is_taken.then(|| Ok(Ok(self.end(Taken::OnSignal, false))))
    }
}

/// Further attempts of a signalled task, for a moment. A thread makes them when it wakes up.
fn spin_on_signal<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    let mut begins = true;
    spin_in_poll(|| {
        if mem::take(&mut begins) {
            // With others queued behind it, fetching the word's cache line costs more than it gains: leave the line to the holder.
            if raw.waiters(ask) > 1 {
                return None;
            }
            raw.reserve_for_signalled(ask);
        }
        Some(raw.take_signalled(ask))
    })
}

/// An attempt that acknowledges no signal. `None`: the word is taken, and marked.
fn attempt<H: Handle<Raw: Acquire>>(raw: &H::Raw, ask: Ask<H>, attempt: Attempt) -> Option<Ended<H>> {
    match raw.take_or_mark(ask, attempt) {
        Ok(()) => Some(Ok(Taken::OnRecheck)),
        Err(NotTaken::Marked { .. }) => None,
        Err(NotTaken::Closed(closed)) => Some(Err(closed)),
    }
}

/// Whether the release signals the next waiter even if the word says that there is none.
fn signals_on_release(taken: Taken) -> bool {
    mutant!("acquire-barging" => return true);
    taken != Taken::Barging
}

/// Whether a waiter that has acquired it leaves the queue with a signal that it has not used up.
fn has_another_signal(taken: Taken, left: Cancelled) -> bool {
    mutant!("acquire-on-recheck" => return left != Cancelled::BeforeNotify && taken == Taken::Barging);
    left != Cancelled::BeforeNotify && taken != Taken::OnSignal
}

/// Whether a waiter whose time is up leaves the queue with a signal.
fn was_signalled(left: Cancelled) -> bool {
    mutant!("acquire-timed-out" => return false);
    left != Cancelled::BeforeNotify
}
