//! The release, and the loop of an acquirer: try; wait while the word is `CONTENDED`; try again when notified, and at the stall timeout.
//! The future [`LockAsync`] is the loop between two of its steps; a thread drives the same steps (`drive.rs`).
//!
//! # A notify is an offer
//! A release dequeues the head waiter, and leaves the word free for any acquirer. The waiters behind depend on the notified one: if it
//! takes the lock or marks the word, a release notifies the next. If it does neither, they would sleep for ever.
//!
//! **The notified waiter is dropped.** It forwards the notify ([`states::forward`]).
//!
//! **It times out.** It leaves the queue *before* its last attempt, so the attempt uses up a notify that has counted it: it takes the lock,
//! or marks it. If it left after the attempt, a notify could still reach the waiter, and be lost.
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
use waitword_core::{Cancelled, Location, WaitAsync, charge_release, notify_one, wait_async_from};

use crate::acquire::OnUnwind;
use crate::async_lock::states::{self, CONTENDED, FREE};
use crate::coop::{self, Unit};
use crate::deadline::{Deadline, NoDeadline, Until, gives_up, polls_either};
use crate::drive::{Step, Steps};
use crate::error::{LockError, NotLocked, timed_out};
use crate::holders::{Hold, acquired_by_task, not_kept, released};
use crate::stall_timeout::StallTimeout;
use crate::sync::atomic::AtomicI32;
use crate::sync::mutant;

const ENDED: &str = "a future was polled after it had ended";

pin_project! {
    /// The future returned by [`AsyncLock::lock_async`](crate::word::AsyncLock::lock_async).
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct LockAsync<'a, L: Location<Word = AtomicI32>, D = NoDeadline> {
        // The word; `None` once the loop has ended.
        at: Option<&'a L>,
        caller: Caller,
        rechecks: StallTimeout,
        // While queued.
        #[pin]
        wait: Option<WaitAsync<&'a L>>,
        // Always with an alarm, for the rechecks.
        #[pin]
        until: Until,
        // Whether there is a deadline.
        _deadline: PhantomData<D>,
    }

    impl<L: Location<Word = AtomicI32>, D> PinnedDrop for LockAsync<'_, L, D> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let (Some(at), Some(wait)) = (this.at, this.wait.as_pin_mut())
                && wait.cancel() != Cancelled::BeforeNotify
            {
                mutant!("script-lock-dropped" => return);
                if states::forward(at.word()) {
                    notify_one(*at);
                }
            }
        }
    }
}

impl<'a, L: Location<Word = AtomicI32>, D> LockAsync<'a, L, D> {
    pub(super) fn new(at: Option<&'a L>, caller: Caller, until: Until) -> Self {
        Self { at, caller, rechecks: StallTimeout::new(), wait: None, until, _deadline: PhantomData }
    }

    fn is_waiting(&self) -> bool {
        self.wait.is_some()
    }

    /// Ends the loop, with the lock or at the deadline.
    fn end(
        self: Pin<&mut Self>,
        is_taken: bool,
        waker: &Waker,
        is_timed: bool,
    ) -> Step<Result<(), LockError>> {
        let mut this = self.project();
        let at = this.at.take().expect(ENDED);
        // The wakers are dropped here. If the destructor of one panics, the lock must not stay taken. None must panic in the drop of the
        // future, because then an `.await` would leak the lock that the poll has returned.
        let unwinding = is_taken.then(|| OnUnwind(|| _ = unlock(at)));
        this.wait.set(None);
        this.until.clear();
        mem::forget(unwinding);
        if !is_taken {
            return Step::Ended(Err(timed_out(address(at), WaitsFor::AsyncLock)));
        }
        acquired_by_task(address(at), Hold::AsyncLock, 1, *this.caller, waker, coop::is_alone, is_timed);
        Step::Ended(Ok(()))
    }
}

impl<L: Location<Word = AtomicI32>, D> Steps for LockAsync<'_, L, D> {
    type Output = Result<(), LockError>;

    fn step(mut self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        let (mut this, is_timed) = (self.as_mut().project(), deadline.is_some());
        let at = this.at.expect(ENDED);
        let (wait, is_signalled) = loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                if states::take_or_mark(at.word()) {
                    return self.end(true, waker, is_timed);
                }
                let origin = Origin::new(*this.caller, WaitsFor::AsyncLock).timed(is_timed);
                this.wait.set(Some(wait_async_from(origin, at, CONTENDED)));
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
            let is_taken = last_attempt(wait, at.word());
            return self.end(is_taken, waker, is_timed);
        }
        let is_due = this.rechecks.is_due(now);
        if (is_due || is_signalled) && states::take_or_mark(at.word()) {
            // A notify that has counted it meanwhile is used up: the lock is `CONTENDED`.
            let _ = wait.cancel_acquired();
            return self.end(true, waker, is_timed);
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

/// Leaves the queue, and makes one more attempt, in this order, as the header says.
fn last_attempt<L: Location>(wait: Pin<&mut WaitAsync<L>>, word: &AtomicI32) -> bool {
    mutant!("script-lock-timed-out" => {
        let is_taken = states::take_or_mark(word);
        let _ = wait.cancel();
        return is_taken;
    });
    let _ = wait.cancel();
    states::take_or_mark(word)
}

impl<'a, L: Location<Word = AtomicI32>> LockAsync<'a, L> {
    /// The same with this deadline, before its first poll.
    fn until(self, until: Until) -> LockAsync<'a, L, Until> {
        LockAsync::new(self.at, self.caller, until)
    }
}

impl<L: Location<Word = AtomicI32>, D: Deadline> LockAsync<'_, L, D> {
    fn poll_either(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), D::Error>> {
        let (word, is_waiting, deadline) = (self.at.expect(ENDED).word(), self.is_waiting(), self.until.at());
        let unit = Unit::poll(cx);
        // A task without budget yields, and leaves a free lock to others. But a task that has to wait enqueues at once: that needs no
        // budget, and the position in the queue must not depend on what the task did before. A timeout needs a unit of budget, too.
        let is_over = || deadline.is_some_and(|deadline| deadline <= Instant::now());
        if unit.is_pending() && (states::state(word) == FREE || is_over()) {
            return Poll::Pending;
        }
        let step = match !is_waiting && states::try_lock(word) {
            true => self.as_mut().end(true, cx.waker(), deadline.is_some()),
            false => self.as_mut().step(cx.waker(), deadline),
        };
        match step {
            Step::Wait(until) => {
                if let Some(until) = until {
                    self.project().until.wake_at(until, cx.waker());
                }
                Poll::Pending
            }
            Step::Ended(result) => {
                if let Poll::Ready(unit) = unit {
                    unit.consume();
                }
                Poll::Ready(result.map_err(D::error))
            }
        }
    }
}

gives_up! {
    ['a, L: Location<Word = AtomicI32>,] LockAsync['a, L],
    "a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut),"
}
polls_either! { ['a, L: Location<Word = AtomicI32>] LockAsync['a, L]: (), Result<(), LockError> }

/// Releases the lock on this word.
#[inline]
pub(super) fn unlock<L: Location<Word = AtomicI32>>(at: &L) -> Result<(), NotLocked> {
    released(address(at), Hold::AsyncLock, not_kept());
    if states::unlock(at.word())? {
        notify(at);
    }
    Ok(())
}

/// Wakes the head waiter, after a release. The lock stays free until an acquirer takes it.
#[cold]
fn notify<L: Location<Word = AtomicI32>>(at: &L) {
    charge_release(at, address(at));
    notify_one(at);
}

/// The address under which the holder is recorded. Scripts release the lock, too, and erase no record, so reports say "acquired by". The next
/// acquisition by Rust erases a stale record.
pub(super) fn address<L: Location<Word = AtomicI32>>(at: &L) -> usize {
    std::ptr::from_ref(at.word()).addr()
}
