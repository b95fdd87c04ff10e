//! The waits of tasks, once and while a condition holds, and their public names. Each is written once, generic over the deadline `D`.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use waitword_core::observe::Caller;

use crate::acquire::held::held_by_task;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::{RawCondvar, Waiting};
use crate::coop::Unit;
use crate::deadline::{Deadline, NoDeadline, Output, Until, gives_up, polls_either};
use crate::drive::Step;
use crate::error::LockError;
use crate::handle::HasRaw;
use crate::kept::{Keeper, Kept};
use crate::sync::atomic::AtomicU64;
use crate::sync::mutant;

pin_project! {
    /// A wait with or without a deadline. Its owner arranges the poll at the deadline.
    struct Wait<'a, G: CondvarGuard> {
        // `Some` until the first poll, which releases the mutex.
        guard: Option<G>,
        // For snapshots.
        caller: Caller,
        #[pin]
        kept: Kept<G::Mutex, Waiting<'a>>,
    }
}

impl<'a, G: CondvarGuard> Wait<'a, G> {
    fn from_caller(caller: Caller, at: &'a AtomicU64, guard: G) -> Self {
        let kept = Kept::new(guard.mutex_of(), |mutex| Waiting::from_caller(caller, at, mutex));
        Self { guard: Some(guard), caller, kept }
    }

    /// Whether the wait is queued.
    fn is_waiting(&self) -> bool {
        self.kept.get().is_waiting()
    }

    /// One poll. The deadline's alarm is set if it is pending, and cleared at the end.
    fn poll<D: Deadline>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut deadline: Pin<&mut D>,
    ) -> Poll<(G, Result<(), D::Error>)> {
        let this = self.project();
        let (mut waiting, mutex) = this.kept.split();
        let until = deadline.at();
        if this.guard.is_some() {
            mutant!("condvar-enqueue-first" => *this.guard = None);
            waiting.as_mut().enqueue(cx.waker(), until.is_some());
            // Enqueued first: this releases the mutex.
            *this.guard = None;
            waiting.released();
        }
        // After the release: a task that yields must not hold the mutex.
        let Poll::Ready(unit) = Unit::poll(cx) else { return Poll::Pending };
        match waiting.step_and(cx.waker(), until, || deadline.as_mut().clear()) {
            Step::Ended(result) => {
                unit.consume();
                // The wait has ended, and uses the borrow no more (K2 of `kept.rs`).
                let mutex = mutex.take().expect("it ends once");
                let hold = held_by_task(mutex.target().raw(), (), || *this.caller, cx.waker(), false);
                // SAFETY: the wait ends once, with the mutex acquired.
                Poll::Ready((unsafe { G::relocked(mutex, hold) }, result.map_err(D::error)))
            }
            Step::Wait(until) => {
                if let Some(until) = until {
                    deadline.wake_at(until, cx.waker());
                }
                Poll::Pending
            }
        }
    }
}

pin_project! {
    /// Waits until notified, until the deadline at the latest.
    struct WaitOnce<'a, G: CondvarGuard, D> {
        #[pin]
        wait: Wait<'a, G>,
        #[pin]
        deadline: D,
    }
}

impl<'a, G: CondvarGuard> WaitOnce<'a, G, NoDeadline> {
    fn new(caller: Caller, at: &'a AtomicU64, guard: G) -> Self {
        Self { wait: Wait::from_caller(caller, at, guard), deadline: NoDeadline }
    }

    fn until(self, deadline: Until) -> WaitOnce<'a, G, Until> {
        WaitOnce { wait: self.wait, deadline }
    }
}

impl<G: CondvarGuard, D> WaitOnce<'_, G, D> {
    fn is_waiting(&self) -> bool {
        self.wait.is_waiting()
    }
}

impl<G: CondvarGuard, D: Deadline> Future for WaitOnce<'_, G, D> {
    type Output = (G, Result<(), D::Error>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.wait.poll(cx, this.deadline)
    }
}

pin_project! {
    /// Waits while the condition holds, until the deadline at the latest.
    struct WaitWhile<'a, G: CondvarGuard, C, D> {
        at: &'a AtomicU64,
        caller: Caller,
        condition: C,
        // `Some` while the mutex is held; otherwise the wait has the guard.
        held: Option<G>,
        #[pin]
        wait: Option<Wait<'a, G>>,
        #[pin]
        deadline: D,
    }
}

impl<'a, G: CondvarGuard, C> WaitWhile<'a, G, C, NoDeadline> {
    fn new(caller: Caller, at: &'a AtomicU64, guard: G, condition: C) -> Self {
        Self { at, caller, condition, held: Some(guard), wait: None, deadline: NoDeadline }
    }

    fn until(self, deadline: Until) -> WaitWhile<'a, G, C, Until> {
        let Self { at, caller, condition, held, wait, deadline: NoDeadline } = self;
        WaitWhile { at, caller, condition, held, wait, deadline }
    }
}

impl<G: CondvarGuard, C, D> WaitWhile<'_, G, C, D> {
    fn is_waiting(&self) -> bool {
        self.wait.as_ref().is_some_and(Wait::is_waiting)
    }
}

impl<G, C, D> Future for WaitWhile<'_, G, C, D>
where
    G: CondvarGuard,
    C: FnMut(&mut G::Target) -> bool,
    D: Deadline,
{
    type Output = (G, Result<(), D::Error>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let (mut has_waited, mut last) = (false, Ok(()));
        loop {
            if let Some(mut guard) = this.held.take() {
                // Also after the deadline: other holders may have changed the value before this acquisition.
                if !(this.condition)(&mut guard) {
                    consume_unless(has_waited, cx);
                    return Poll::Ready((guard, Ok(())));
                }
                if last.is_err() {
                    return Poll::Ready((guard, last));
                }
                this.wait.set(Some(Wait::from_caller(*this.caller, this.at, guard)));
            }
            let wait = this.wait.as_mut().as_pin_mut().expect(ENDED);
            let (guard, result) = ready!(wait.poll(cx, this.deadline.as_mut()));
            (*this.held, last, has_waited) = (Some(guard), result, true);
            this.wait.set(None);
        }
    }
}

/// For a task that has the mutex: consumes a unit of budget, if there is one. Without one the task goes on all the same: a task that yields
/// must not hold the mutex, or a task that blocks for it keeps the worker from coming back. A wait that `has_waited` has consumed its unit.
fn consume_unless(has_waited: bool, cx: &mut Context<'_>) {
    if !has_waited && let Poll::Ready(unit) = Unit::poll(cx) {
        unit.consume();
    }
}

const ENDED: &str = "a wait was polled after it had ended";

impl<G> Output<(G, Result<(), Infallible>)> for G {
    fn of((guard, Ok(())): (G, Result<(), Infallible>)) -> G {
        guard
    }
}

impl<G> Output<(G, Result<(), LockError>)> for (G, Result<(), LockError>) {
    fn of(ended: Self) -> Self {
        ended
    }
}

/// A future that wraps a wait; with the type `C` of the condition, if the wait has one.
macro_rules! condvar_future {
    (
        $(#[$doc:meta])*
        $Name:ident<P, G $(, $C:ident: $condition:ident)?>($Wait:ident), $while:literal
    ) => {
        pin_project! {
            $(#[$doc])*
            ///
            /// `P` is a `&Condvar` or an `Arc<Condvar>`.
            #[must_use = "nothing is waited for until this is awaited, and dropping it releases the mutex: add `.await`"]
            pub struct $Name<P, G $(, $C)?, D = NoDeadline>
            where
                G: CondvarGuard,
            {
                #[pin]
                kept: Kept<P, $Wait<'static, G $(, $C)?, D>>,
            }
        }

        impl<P, G: CondvarGuard $(, $C)?> $Name<P, G $(, $C)?> {
            #[track_caller]
            pub(super) fn new(condvar: P, guard: G $(, $condition: $C)?) -> Self
            where
                P: Keeper<Target: HasRaw<Raw = RawCondvar>>,
            {
                let caller = Caller::here();
                let wait = |raw: &'static RawCondvar| $Wait::new(caller, raw.word(), guard $(, $condition)?);
                Self { kept: Kept::new(condvar, wait) }
            }
        }

        impl<P, G: CondvarGuard $(, $C)?> $Name<P, G $(, $C)?> {
            fn until(self, deadline: Until) -> $Name<P, G $(, $C)?, Until> {
                $Name { kept: self.kept.map(|wait| wait.until(deadline)) }
            }
        }

        impl<P, G: CondvarGuard $(, $C)?, D> $Name<P, G $(, $C)?, D> {
            fn is_waiting(&self) -> bool {
                self.kept.get().is_waiting()
            }
        }

        impl<P, G: CondvarGuard, $($C: FnMut(&mut G::Target) -> bool,)? D: Deadline> $Name<P, G $(, $C)?, D> {
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<(G, Result<(), D::Error>)> {
                self.project().kept.wait().poll(cx)
            }
        }

        gives_up! {
            [P, G: CondvarGuard, $($C,)?] $Name[P, G $(, $C)?],
            concat!("the guard and a `Result`, with [`LockError::TimedOut`](crate::LockError::TimedOut) if ", $while, ",")
        }
        polls_either! {
            [P, G: CondvarGuard $(, $C: FnMut(&mut G::Target) -> bool)?] $Name[P, G $(, $C)?]: G, (G, Result<(), LockError>)
        }
    };
}

condvar_future! {
    /// The future returned by [`Condvar::wait_async`](crate::Condvar::wait_async) and
    /// [`Condvar::wait_owned_async`](crate::Condvar::wait_owned_async).
    CondvarWait<P, G>(WaitOnce), "no notify has counted this wait"
}

condvar_future! {
    /// The future returned by [`Condvar::wait_while_async`](crate::Condvar::wait_while_async) and
    /// [`Condvar::wait_while_owned_async`](crate::Condvar::wait_while_owned_async).
    CondvarWaitWhile<P, G, C: condition>(WaitWhile), "the condition still returned `true` after the deadline"
}
