//! The loop of an acquirer: try; wait while the word is `CONTENDED`; try again when notified, and at the stall timeout. A thread drives it
//! in steps (`drive.rs`), a task by the future [`LockAsync`].
//!
//! # A notify is an offer
//! A release dequeues the head waiter, and leaves the word free for any acquirer. The waiters behind depend on the notified one: if it
//! takes the lock or marks the word, a release notifies the next. If it does neither, they would sleep for ever.
//!
//! **The notified waiter is dropped.** It forwards the notify ([`states::forward`]).
//!
//! **Its time is up.** It leaves the queue *before* its last attempt, so the attempt uses up a notify that has counted it: it takes the
//! lock, or marks it. After the attempt, a notify could still reach the waiter, and be lost.
//!
//! **It is a task that is not polled.** Scripts share the word, and their waiters cannot be signalled, so the core's watchdog does not help:
//! each waiter **rechecks** on its own, in its position, at the [`STALL_TIMEOUT`](crate::STALL_TIMEOUT), and then less and less often.
//!
//! ```text
//!   A (notified, not polled)      B                        C (barging)
//!   ───────────────────────       ──────────────────       ───────────────────────
//!                                 queued                   FREE → LOCKED
//!                                                          LOCKED → FREE: no notify due
//!                                 sleeps for ever
//!
//!                                 recheck, queued:         FREE → LOCKED
//!                                 LOCKED → CONTENDED
//!                                                          CONTENDED → FREE; notify B
//! ```
//! A recheck that takes the lock may coincide with a notify, and uses that up: the release of a word that was taken as `CONTENDED`
//! notifies the next waiter.

use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use waitword_core::observe::{Caller, Origin, WaitsFor};
use waitword_core::time::Instant;
use waitword_core::{Cancelled, Location, WaitAsync, wait_async_from};

use crate::async_lock::AsyncLock;
use crate::async_lock::states::{self, CONTENDED};
use crate::coop::Unit;
use crate::deadline::{Deadline, NoDeadline, Until, gives_up, polls_either};
use crate::drive::{Step, Steps};
use crate::error::LockError;
use crate::stall_timeout::StallTimeout;
use crate::sync::atomic::AtomicI32;
use crate::sync::mutant;

const ENDED: &str = "a future was polled after it had ended";

pin_project! {
    /// The loop, between two of its steps.
    pub(super) struct Locking<'a, L: Location<Word = AtomicI32>> {
        // `None` once the loop has ended.
        lock: Option<&'a AsyncLock<L>>,
        caller: Caller,
        rechecks: StallTimeout,
        // While queued.
        #[pin]
        wait: Option<WaitAsync<&'a L>>,
    }

    impl<L: Location<Word = AtomicI32>> PinnedDrop for Locking<'_, L> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let (Some(lock), Some(wait)) = (this.lock, this.wait.as_pin_mut())
                && wait.cancel() != Cancelled::BeforeNotify
            {
                mutant!("script-lock-dropped" => return);
                lock.forward();
            }
        }
    }
}

impl<'a, L: Location<Word = AtomicI32>> Locking<'a, L> {
    pub(super) fn new(lock: &'a AsyncLock<L>, caller: Caller) -> Self {
        Self { lock: Some(lock), caller, rechecks: StallTimeout::new(), wait: None }
    }

    /// Ends, with the lock if there is no error. The waker goes here, and if its destructor panics, the lock must not stay taken.
    fn end(self: Pin<&mut Self>, result: Result<(), LockError>) -> Step<Result<(), LockError>> {
        let mut this = self.project();
        let lock = this.lock.take();
        let unwinding = lock.filter(|_| result.is_ok()).map(AsyncLock::unlocks_on_unwind);
        this.wait.set(None);
        mem::forget(unwinding);
        Step::Ended(result)
    }
}

impl<L: Location<Word = AtomicI32>> Steps for Locking<'_, L> {
    type Output = Result<(), LockError>;

    fn step(mut self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        let mut this = self.as_mut().project();
        let lock = this.lock.expect(ENDED);
        let (wait, is_signalled) = loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                if states::take_or_mark(lock.word()) {
                    return self.end(Ok(()));
                }
                let origin = Origin::new(*this.caller, WaitsFor::AsyncLock).timed(deadline.is_some());
                this.wait.set(Some(wait_async_from(origin, &lock.at, CONTENDED)));
                continue;
            };
            match wait.as_mut().poll_signalled(&mut Context::from_waker(waker)) {
                Poll::Pending => break (wait, false),
                // By a `signal_one` of another user of the word.
                Poll::Ready(None) => break (wait, true),
                // Notified; or the word has changed since the attempt.
                Poll::Ready(Some(_)) => this.wait.set(None),
            }
        };
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            let is_taken = last_attempt(wait, lock.word());
            return self.end(if is_taken { Ok(()) } else { Err(lock.timed_out()) });
        }
        let is_due = this.rechecks.is_due(now);
        if (is_due || is_signalled) && states::take_or_mark(lock.word()) {
            // A notify that has counted it meanwhile is used up: the lock is `CONTENDED`.
            let _ = wait.cancel_acquired();
            return self.end(Ok(()));
        }
        if is_due {
            this.rechecks.renew(now);
        }
        Step::Wait(this.rechecks.next(now).into_iter().chain(deadline).min())
    }

    fn can_go_on(&self) -> bool {
        self.wait.as_ref().is_none_or(|wait| wait.is_signalled() || wait.is_notified())
    }

    fn is_next(&self) -> bool {
        self.wait.as_ref().is_some_and(WaitAsync::was_first)
    }
}

/// Leaves the queue, and tries once more: in this order, as the header says.
fn last_attempt<L: Location>(wait: Pin<&mut WaitAsync<L>>, word: &AtomicI32) -> bool {
    mutant!("script-lock-timed-out" => {
        let is_taken = states::take_or_mark(word);
        let _ = wait.cancel();
        return is_taken;
    });
    let _ = wait.cancel();
    states::take_or_mark(word)
}

pin_project! {
    /// The future of [`AsyncLock::lock_async`].
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct LockAsync<'a, L: Location<Word = AtomicI32>, D = NoDeadline> {
        #[pin]
        locking: Locking<'a, L>,
        // Always with an alarm, for the rechecks.
        #[pin]
        until: Until,
        // Whether there is a deadline.
        _deadline: PhantomData<D>,
    }
}

impl<'a, L: Location<Word = AtomicI32>> LockAsync<'a, L> {
    pub(super) fn new(lock: &'a AsyncLock<L>, caller: Caller) -> Self {
        Self { locking: Locking::new(lock, caller), until: Until::never(), _deadline: PhantomData }
    }

    fn until(self, until: Until) -> LockAsync<'a, L, Until> {
        LockAsync { locking: self.locking, until, _deadline: PhantomData }
    }
}

impl<L: Location<Word = AtomicI32>, D> LockAsync<'_, L, D> {
    fn is_waiting(&self) -> bool {
        self.locking.wait.is_some()
    }
}

impl<L: Location<Word = AtomicI32>, D: Deadline> LockAsync<'_, L, D> {
    fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), D::Error>> {
        let is_waiting = self.is_waiting();
        let mut this = self.project();
        let (lock, deadline) = (this.locking.lock.expect(ENDED), this.until.at());
        let unit = Unit::poll(cx);
        // A task without budget yields, and leaves a free lock to others. But a task that has to wait enqueues first: that needs no budget,
        // and the position in the queue must not depend on what the task did before. A timeout needs a unit of budget, too.
        let is_over = || deadline.is_some_and(|deadline| deadline <= Instant::now());
        if unit.is_pending() && (is_waiting || !lock.is_locked() || is_over()) {
            return Poll::Pending;
        }
        let step = match !is_waiting && states::try_lock(lock.word()) {
            true => this.locking.as_mut().end(Ok(())),
            false => this.locking.as_mut().step(cx.waker(), deadline),
        };
        let result = match step {
            Step::Ended(result) => result,
            Step::Wait(until) => {
                if let Some(until) = until {
                    this.until.wake_at(until, cx.waker());
                }
                return Poll::Pending;
            }
        };
        // The waker of the alarm goes here, as that of the wait went before: if its destructor panicked in the drop of the future, an
        // `.await` would leak the lock that this poll returns.
        let unwinding = result.is_ok().then(|| lock.unlocks_on_unwind());
        this.until.clear();
        mem::forget(unwinding);
        if result.is_ok() {
            lock.acquired_by_task(this.locking.caller, cx.waker(), deadline.is_some());
        }
        if let Poll::Ready(unit) = unit {
            unit.consume();
        }
        Poll::Ready(result.map_err(D::error))
    }
}

gives_up! {
    ['a, L: Location<Word = AtomicI32>,] LockAsync['a, L],
    "a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut),"
}
polls_either! { ['a, L: Location<Word = AtomicI32>] LockAsync['a, L]: (), Result<(), LockError> }
