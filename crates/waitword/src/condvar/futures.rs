//! The waits of tasks, once and while a condition holds, without a deadline and with one. Each is written once, generic over
//! the location `A`: borrowed, or with a share in the condition variable. Their public names are in `named.rs`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::observe::Caller;
use waitword_core::{Alarm, Location};

use crate::acquire::{Handle as _, held_by_task};
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::Waiting;
use crate::coop::Unit;
use crate::drive::{Step, Steps};
use crate::error::LockError;
use crate::sync::atomic::AtomicU64;
use crate::sync::mutant;

/// The location where a wait is queued, once or repeatedly.
pub(super) trait At: Location<Word = AtomicU64> + Clone {}

impl<A: Location<Word = AtomicU64> + Clone> At for A {}

pin_project! {
    /// A wait with or without a deadline. Its owner arranges the poll at the deadline.
    struct Wait<A: Location<Word = AtomicU64>, G: CondvarGuard> {
        // `Some` until the first poll, which releases the mutex.
        guard: Option<G>,
        rest: G::Rest,
        // For snapshots.
        caller: Caller,
        #[pin]
        waiting: Waiting<A, G::Handle>,
    }
}

impl<A: At, G: CondvarGuard> Wait<A, G> {
    fn from_caller(caller: Caller, at: A, guard: G) -> Self {
        Self {
            rest: guard.rest(),
            caller,
            waiting: Waiting::from_caller(caller, at, guard.handle()),
            guard: Some(guard),
        }
    }

    /// One poll. The error is the time of the next poll at the latest.
    fn step(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        deadline: Option<Instant>,
    ) -> Result<(G, Result<(), LockError>), Option<Instant>> {
        let mut this = self.project();
        if this.guard.is_some() {
            mutant!("condvar-enqueue-first" => *this.guard = None);
            this.waiting.as_mut().enqueue(cx.waker(), deadline.is_some());
            // Enqueued first: this releases the mutex.
            *this.guard = None;
            this.waiting.released();
        }
        // After the release: a task that yields must not hold the mutex.
        let Poll::Ready(unit) = Unit::poll(cx) else { return Err(None) };
        match this.waiting.step(cx.waker(), deadline) {
            Step::Ended((handle, result)) => {
                unit.consume();
                let hold = held_by_task(handle.raw(), (), || *this.caller, cx.waker(), false);
                // SAFETY: the wait ends once, with the mutex acquired; handle and rest are of the guard that it was made with.
                Ok((unsafe { G::relocked(handle, *this.rest, hold) }, result))
            }
            Step::Wait(until) => Err(until),
        }
    }
}

pin_project! {
    /// Waits until notified.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct WaitOnce<A: Location<Word = AtomicU64>, G: CondvarGuard> {
        #[pin]
        wait: Wait<A, G>,
    }
}

impl<A: At, G: CondvarGuard> WaitOnce<A, G> {
    #[track_caller]
    pub(super) fn new(at: A, guard: G) -> Self {
        Self::from_caller(Caller::here(), at, guard)
    }

    fn from_caller(caller: Caller, at: A, guard: G) -> Self {
        Self { wait: Wait::from_caller(caller, at, guard) }
    }

    /// Whether the wait is queued.
    pub(super) fn is_waiting(&self) -> bool {
        self.wait.waiting.is_waiting()
    }
}

impl<A: At, G: CondvarGuard> Future for WaitOnce<A, G> {
    type Output = G;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<G> {
        match self.project().wait.step(cx, None) {
            // Without a deadline the wait ends only by a notify.
            Ok((guard, _)) => Poll::Ready(guard),
            Err(_) => Poll::Pending,
        }
    }
}

pin_project! {
    /// Waits until notified, until the deadline at the latest.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct WaitOnceUntil<A: Location<Word = AtomicU64>, G: CondvarGuard> {
        #[pin]
        wait: Wait<A, G>,
        deadline: Option<Instant>,
        #[pin]
        alarm: Alarm,
    }
}

impl<A: At, G: CondvarGuard> WaitOnceUntil<A, G> {
    #[track_caller]
    pub(super) fn new(at: A, guard: G, deadline: Option<Instant>) -> Self {
        Self::from_caller(Caller::here(), at, guard, deadline)
    }

    fn from_caller(caller: Caller, at: A, guard: G, deadline: Option<Instant>) -> Self {
        Self { wait: Wait::from_caller(caller, at, guard), deadline, alarm: Alarm::new() }
    }

    /// Whether the wait is queued.
    pub(super) fn is_waiting(&self) -> bool {
        self.wait.waiting.is_waiting()
    }
}

impl<A: At, G: CondvarGuard> Future for WaitOnceUntil<A, G> {
    type Output = (G, Result<(), LockError>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.wait.step(cx, *this.deadline) {
            // The alarm is dropped with the future, not here: its waker's destructor may panic, and the notify would be lost.
            Ok(ended) => Poll::Ready(ended),
            Err(until) => {
                if let Some(until) = until {
                    this.alarm.set(until, cx.waker());
                }
                Poll::Pending
            }
        }
    }
}

pin_project! {
    /// Waits while the condition holds.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct WaitWhile<A: Location<Word = AtomicU64>, G: CondvarGuard, C> {
        at: A,
        caller: Caller,
        condition: C,
        // `Some` while the mutex is held; otherwise the wait has it.
        guard: Option<G>,
        #[pin]
        wait: Option<WaitOnce<A, G>>,
    }
}

impl<A: At, G: CondvarGuard, C> WaitWhile<A, G, C> {
    #[track_caller]
    pub(super) fn new(at: A, guard: G, condition: C) -> Self {
        Self { at, caller: Caller::here(), condition, guard: Some(guard), wait: None }
    }

    /// Whether the wait is queued.
    pub(super) fn is_waiting(&self) -> bool {
        self.wait.as_ref().is_some_and(WaitOnce::is_waiting)
    }
}

impl<A, G, C> Future for WaitWhile<A, G, C>
where
    A: At,
    G: CondvarGuard,
    C: FnMut(&mut G::Target) -> bool,
{
    type Output = G;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<G> {
        let mut this = self.project();
        let mut has_waited = false;
        loop {
            if let Some(mut guard) = this.guard.take() {
                if !(this.condition)(&mut guard) {
                    consume_unless(has_waited, cx);
                    return Poll::Ready(guard);
                }
                this.wait.set(Some(WaitOnce::from_caller(*this.caller, this.at.clone(), guard)));
            }
            match this.wait.as_mut().as_pin_mut().expect(ENDED).poll(cx) {
                Poll::Ready(guard) => *this.guard = Some(guard),
                Poll::Pending => return Poll::Pending,
            }
            has_waited = true;
            this.wait.set(None);
        }
    }
}

pin_project! {
    /// Waits while the condition holds, until the deadline at the latest.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct WaitWhileUntil<A: Location<Word = AtomicU64>, G: CondvarGuard, C> {
        at: A,
        caller: Caller,
        deadline: Option<Instant>,
        condition: C,
        // `Some` while the mutex is held, with the result of the last wait; otherwise the wait has the guard.
        held: Option<(G, Result<(), LockError>)>,
        #[pin]
        wait: Option<WaitOnceUntil<A, G>>,
    }
}

impl<A: At, G: CondvarGuard, C> WaitWhileUntil<A, G, C> {
    #[track_caller]
    pub(super) fn new(at: A, guard: G, deadline: Option<Instant>, condition: C) -> Self {
        Self { at, caller: Caller::here(), deadline, condition, held: Some((guard, Ok(()))), wait: None }
    }

    /// Whether the wait is queued.
    pub(super) fn is_waiting(&self) -> bool {
        self.wait.as_ref().is_some_and(WaitOnceUntil::is_waiting)
    }
}

impl<A, G, C> Future for WaitWhileUntil<A, G, C>
where
    A: At,
    G: CondvarGuard,
    C: FnMut(&mut G::Target) -> bool,
{
    type Output = (G, Result<(), LockError>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let mut has_waited = false;
        loop {
            if let Some((mut guard, last)) = this.held.take() {
                // Also after the deadline: other holders may have changed the value before this acquisition.
                if !(this.condition)(&mut guard) {
                    consume_unless(has_waited, cx);
                    return Poll::Ready((guard, Ok(())));
                }
                if last.is_err() {
                    return Poll::Ready((guard, last));
                }
                this.wait.set(Some(WaitOnceUntil::from_caller(
                    *this.caller,
                    this.at.clone(),
                    guard,
                    *this.deadline,
                )));
            }
            match this.wait.as_mut().as_pin_mut().expect(ENDED).poll(cx) {
                Poll::Ready(held) => *this.held = Some(held),
                Poll::Pending => return Poll::Pending,
            }
            has_waited = true;
            this.wait.set(None);
        }
    }
}

/// Of a task that has the mutex: consumes a unit, if there is one. Without one, it goes on all the same: a task that yields must not hold the
/// mutex, or another one that blocks for it keeps the worker from coming back. A wait that `has_waited` has consumed its unit.
fn consume_unless(has_waited: bool, cx: &mut Context<'_>) {
    if !has_waited && let Poll::Ready(unit) = Unit::poll(cx) {
        unit.consume();
    }
}

const ENDED: &str = "a wait was polled after it had ended";
