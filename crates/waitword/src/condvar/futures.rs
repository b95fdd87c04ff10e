//! The waits of tasks, once and while a condition holds, and their public names. Each is written once, generic over the location `A`
//! (borrowed, or with a share in the condition variable) and the deadline `D`.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use waitword_core::Location;
use waitword_core::observe::Caller;

use crate::acquire::held::held_by_task;
use crate::condvar::Condvar;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::Waiting;
use crate::coop::Unit;
use crate::deadline::{Deadline, NoDeadline, Output, with_and_without_deadline};
use crate::drive::Step;
use crate::error::LockError;
use crate::handle::{Handle as _, OwnedAt};
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

    /// One poll. The deadline's alarm is set if it is pending, and cleared at the end.
    fn poll<D: Deadline>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut deadline: Pin<&mut D>,
    ) -> Poll<(G, Result<(), D::Error>)> {
        let mut this = self.project();
        let until = deadline.at();
        if this.guard.is_some() {
            mutant!("condvar-enqueue-first" => *this.guard = None);
            this.waiting.as_mut().enqueue(cx.waker(), until.is_some());
            // Enqueued first: this releases the mutex.
            *this.guard = None;
            this.waiting.released();
        }
        // After the release: a task that yields must not hold the mutex.
        let Poll::Ready(unit) = Unit::poll(cx) else { return Poll::Pending };
        match this.waiting.step_and(cx.waker(), until, || deadline.as_mut().clear()) {
            Step::Ended((handle, result)) => {
                unit.consume();
                let hold = held_by_task(handle.raw(), (), || *this.caller, cx.waker(), false);
                // SAFETY: the wait ends once, with the mutex acquired; handle and rest are of the guard that it was made with.
                Poll::Ready((unsafe { G::relocked(handle, *this.rest, hold) }, result.map_err(D::error)))
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
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct WaitOnce<A: Location<Word = AtomicU64>, G: CondvarGuard, D> {
        #[pin]
        wait: Wait<A, G>,
        #[pin]
        deadline: D,
    }
}

impl<A: At, G: CondvarGuard, D> WaitOnce<A, G, D> {
    #[track_caller]
    pub(super) fn new(at: A, guard: G, deadline: D) -> Self {
        Self { wait: Wait::from_caller(Caller::here(), at, guard), deadline }
    }

    /// Whether the wait is queued.
    fn is_waiting(&self) -> bool {
        self.wait.waiting.is_waiting()
    }
}

impl<A: At, G: CondvarGuard, D: Deadline> Future for WaitOnce<A, G, D> {
    type Output = (G, Result<(), D::Error>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.wait.poll(cx, this.deadline)
    }
}

pin_project! {
    /// Waits while the condition holds, until the deadline at the latest.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct WaitWhile<A: Location<Word = AtomicU64>, G: CondvarGuard, C, D: Deadline> {
        at: A,
        caller: Caller,
        condition: C,
        // `Some` while the mutex is held, with the result of the last wait; otherwise the wait has the guard.
        held: Option<(G, Result<(), D::Error>)>,
        #[pin]
        wait: Option<Wait<A, G>>,
        #[pin]
        deadline: D,
    }
}

impl<A: At, G: CondvarGuard, C, D: Deadline> WaitWhile<A, G, C, D> {
    #[track_caller]
    pub(super) fn new(at: A, guard: G, condition: C, deadline: D) -> Self {
        Self { at, caller: Caller::here(), condition, held: Some((guard, Ok(()))), wait: None, deadline }
    }

    /// Whether the wait is queued.
    fn is_waiting(&self) -> bool {
        self.wait.as_ref().is_some_and(|wait| wait.waiting.is_waiting())
    }
}

impl<A, G, C, D> Future for WaitWhile<A, G, C, D>
where
    A: At,
    G: CondvarGuard,
    C: FnMut(&mut G::Target) -> bool,
    D: Deadline,
{
    type Output = (G, Result<(), D::Error>);

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
                this.wait.set(Some(Wait::from_caller(*this.caller, this.at.clone(), guard)));
            }
            let wait = this.wait.as_mut().as_pin_mut().expect(ENDED);
            *this.held = Some(ready!(wait.poll(cx, this.deadline.as_mut())));
            has_waited = true;
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

type Owned = OwnedAt<Condvar>;

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

/// Futures that wrap a wait, without a deadline and with one; with the type `C` of the condition, if the wait has one.
macro_rules! condvar_futures {
    ($(
        $(#[$doc:meta])*
        pub struct $Name:ident<$($lifetime:lifetime,)? G $(, $C:ident)?>($Wait:ident<$At:ty>);
        $(#[$until_doc:meta])*
        pub type $Until:ident;
    )*) => {$(
        pin_project! {
            $(#[$doc])*
            #[must_use = "nothing is waited for until this is awaited, and the mutex is unlocked when it is dropped: add `.await`"]
            pub struct $Name<$($lifetime,)? G $(, $C)?, D = NoDeadline>
            where
                G: CondvarGuard,
                D: Deadline,
            {
                #[pin]
                wait: $Wait<$At, G $(, $C)?, D>,
            }
        }

        impl<$($lifetime,)? G: CondvarGuard $(, $C)?, D: Deadline> $Name<$($lifetime,)? G $(, $C)?, D> {
            pub(super) fn of(wait: $Wait<$At, G $(, $C)?, D>) -> Self {
                Self { wait }
            }
        }

        impl<$($lifetime,)? G: CondvarGuard, $($C: FnMut(&mut G::Target) -> bool,)? D: Deadline> $Name<$($lifetime,)? G $(, $C)?, D> {
            fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<(G, Result<(), D::Error>)> {
                self.project().wait.poll(cx)
            }
        }

        with_and_without_deadline! {
            [$($lifetime,)? G: CondvarGuard, $($C: FnMut(&mut G::Target) -> bool,)?] $Name[$($lifetime,)? G $(, $C)?];
            $(#[$until_doc])*
            $Until[$($lifetime,)? G $(, $C)?];
            G, (G, Result<(), LockError>); waits by wait
        }
    )*};
}

condvar_futures! {
    /// The future of [`Condvar::wait_async`].
    pub struct CondvarWait<'a, G>(WaitOnce<&'a AtomicU64>);
    /// The future of [`Condvar::wait_async_for`] and [`Condvar::wait_async_until`].
    pub type CondvarWaitUntil;

    /// The future of [`Condvar::wait_while_async`].
    pub struct CondvarWaitWhile<'a, G, C>(WaitWhile<&'a AtomicU64>);
    /// The future of [`Condvar::wait_while_async_for`] and [`Condvar::wait_while_async_until`].
    pub type CondvarWaitWhileUntil;

    /// The future of [`Condvar::wait_owned_async`].
    pub struct CondvarWaitOwned<G>(WaitOnce<Owned>);
    /// The future of [`Condvar::wait_owned_async_for`] and [`Condvar::wait_owned_async_until`].
    pub type CondvarWaitOwnedUntil;

    /// The future of [`Condvar::wait_while_owned_async`].
    pub struct CondvarWaitWhileOwned<G, C>(WaitWhile<Owned>);
    /// The future of [`Condvar::wait_while_owned_async_for`] and [`Condvar::wait_while_owned_async_until`].
    pub type CondvarWaitWhileOwnedUntil;
}
