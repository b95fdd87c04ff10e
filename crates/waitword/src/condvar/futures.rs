//! What the `_async` methods return.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::Alarm;

use crate::acquire::Step;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::{RawCondvar, Waiting};
use crate::coop::Unit;
use crate::error::LockError;
use crate::sync::broken;

pin_project! {
    /// A wait that can have a deadline, whoever sees to it that it is polled when that comes.
    struct Wait<'a, G: CondvarGuard> {
        // Until the first poll, which releases the mutex.
        guard: Option<G>,
        rest: G::Rest,
        #[pin]
        waiting: Waiting<'a, G::Handle>,
    }
}

impl<'a, G: CondvarGuard> Wait<'a, G> {
    fn new(condvar: &'a RawCondvar, guard: G) -> Self {
        Self { rest: guard.rest(), waiting: Waiting::new(condvar, guard.handle()), guard: Some(guard) }
    }

    /// As a poll. The error is when to be polled next at the latest.
    fn step(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        deadline: Option<Instant>,
    ) -> Result<(G, Result<(), LockError>), Option<Instant>> {
        let mut this = self.project();
        if this.guard.is_some() {
            if broken!("condvar-enter") {
                *this.guard = None;
            }
            this.waiting.as_mut().enter(cx.waker());
            // Only now.
            *this.guard = None;
        }
        // Only now: others need the mutex.
        let Poll::Ready(unit) = Unit::poll(cx) else { return Err(None) };
        match this.waiting.step(cx.waker(), deadline) {
            Step::Ended(Ok((handle, result))) => {
                unit.consume();
                // SAFETY: it ends once, having acquired the mutex, whose handle and rest come from the guard it was made with.
                Ok((unsafe { G::relocked(handle, *this.rest) }, result))
            }
            Step::Ended(Err(_)) => unreachable!("whether in time or not, it ends with the mutex"),
            Step::Wait(until) => Err(until),
        }
    }
}

pin_project! {
    /// The future of [`Condvar::wait_async`](crate::Condvar::wait_async).
    #[must_use = "nothing is waited for until this is awaited, and the mutex is unlocked when it is dropped: add `.await`"]
    pub struct CondvarWait<'a, G: CondvarGuard> {
        #[pin]
        wait: Wait<'a, G>,
    }
}

impl<'a, G: CondvarGuard> CondvarWait<'a, G> {
    pub(super) fn new(condvar: &'a RawCondvar, guard: G) -> Self {
        Self { wait: Wait::new(condvar, guard) }
    }
}

impl<G: CondvarGuard> Future for CondvarWait<'_, G> {
    type Output = G;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<G> {
        match self.project().wait.step(cx, None) {
            // Without a deadline it only ends notified.
            Ok((guard, _)) => Poll::Ready(guard),
            Err(_) => Poll::Pending,
        }
    }
}

pin_project! {
    /// The future of [`Condvar::wait_async_for`](crate::Condvar::wait_async_for) and
    /// [`Condvar::wait_async_until`](crate::Condvar::wait_async_until).
    #[must_use = "nothing is waited for until this is awaited, and the mutex is unlocked when it is dropped: add `.await`"]
    pub struct CondvarWaitUntil<'a, G: CondvarGuard> {
        #[pin]
        wait: Wait<'a, G>,
        deadline: Option<Instant>,
        #[pin]
        alarm: Alarm,
    }
}

impl<'a, G: CondvarGuard> CondvarWaitUntil<'a, G> {
    pub(super) fn new(condvar: &'a RawCondvar, guard: G, deadline: Option<Instant>) -> Self {
        Self { wait: Wait::new(condvar, guard), deadline, alarm: Alarm::new() }
    }
}

impl<G: CondvarGuard> Future for CondvarWaitUntil<'_, G> {
    type Output = (G, Result<(), LockError>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.wait.step(cx, *this.deadline) {
            Ok(ended) => {
                this.alarm.clear();
                Poll::Ready(ended)
            }
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
    /// The future of [`Condvar::wait_while_async`](crate::Condvar::wait_while_async).
    #[must_use = "nothing is waited for until this is awaited, and the mutex is unlocked when it is dropped: add `.await`"]
    pub struct CondvarWaitWhile<'a, G: CondvarGuard, C> {
        condvar: &'a RawCondvar,
        condition: C,
        // With the mutex held, it is here, or else in the wait.
        guard: Option<G>,
        #[pin]
        wait: Option<CondvarWait<'a, G>>,
    }
}

impl<'a, G: CondvarGuard, C> CondvarWaitWhile<'a, G, C> {
    pub(super) fn new(condvar: &'a RawCondvar, guard: G, condition: C) -> Self {
        Self { condvar, condition, guard: Some(guard), wait: None }
    }
}

impl<G, C> Future for CondvarWaitWhile<'_, G, C>
where
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
                    // A wait has consumed its unit already.
                    if !has_waited {
                        let Poll::Ready(unit) = Unit::poll(cx) else {
                            *this.guard = Some(guard);
                            return Poll::Pending;
                        };
                        unit.consume();
                    }
                    return Poll::Ready(guard);
                }
                this.wait.set(Some(CondvarWait::new(this.condvar, guard)));
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
    /// The future of [`Condvar::wait_while_async_for`](crate::Condvar::wait_while_async_for) and
    /// [`Condvar::wait_while_async_until`](crate::Condvar::wait_while_async_until).
    #[must_use = "nothing is waited for until this is awaited, and the mutex is unlocked when it is dropped: add `.await`"]
    pub struct CondvarWaitWhileUntil<'a, G: CondvarGuard, C> {
        condvar: &'a RawCondvar,
        deadline: Option<Instant>,
        condition: C,
        // With the mutex held, it is here, with what the last wait said; or else in the wait.
        held: Option<(G, Result<(), LockError>)>,
        #[pin]
        wait: Option<CondvarWaitUntil<'a, G>>,
    }
}

impl<'a, G: CondvarGuard, C> CondvarWaitWhileUntil<'a, G, C> {
    pub(super) fn new(condvar: &'a RawCondvar, guard: G, deadline: Option<Instant>, condition: C) -> Self {
        Self { condvar, deadline, condition, held: Some((guard, Ok(()))), wait: None }
    }
}

impl<G, C> Future for CondvarWaitWhileUntil<'_, G, C>
where
    G: CondvarGuard,
    C: FnMut(&mut G::Target) -> bool,
{
    type Output = (G, Result<(), LockError>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let mut has_waited = false;
        loop {
            if let Some((mut guard, last)) = this.held.take() {
                // Also after the deadline: others may have had the mutex before us.
                if !(this.condition)(&mut guard) {
                    if !has_waited {
                        let Poll::Ready(unit) = Unit::poll(cx) else {
                            *this.held = Some((guard, last));
                            return Poll::Pending;
                        };
                        unit.consume();
                    }
                    return Poll::Ready((guard, Ok(())));
                }
                if last.is_err() {
                    return Poll::Ready((guard, last));
                }
                this.wait.set(Some(CondvarWaitUntil::new(this.condvar, guard, *this.deadline)));
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

const ENDED: &str = "a wait was polled after it had ended";

/// Shows whether it stands in line.
macro_rules! shows_whether_it_waits {
    ($($future:ident $(<$condition:ident>)?: $wait:ident => $is_waiting:expr;)*) => {$(
        impl<G: CondvarGuard $(, $condition)?> fmt::Debug for $future<'_, G $(, $condition)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $wait = &self.wait;
                f.debug_struct(stringify!($future)).field("waiting", &$is_waiting).finish_non_exhaustive()
            }
        }
    )*};
}

shows_whether_it_waits! {
    CondvarWait: wait => wait.waiting.is_waiting();
    CondvarWaitUntil: wait => wait.waiting.is_waiting();
    CondvarWaitWhile<C>: wait => wait.as_ref().is_some_and(|wait| wait.wait.waiting.is_waiting());
    CondvarWaitWhileUntil<C>: wait => wait.as_ref().is_some_and(|wait| wait.wait.waiting.is_waiting());
}
