//! The condition variable as a word, and the stages of a wait. No data, no guards.
//!
//! The word holds the address of the mutex that the waiters go back to, as a number that is never dereferenced. A waiter
//! enqueues while it still holds the mutex, so that no other holder's change can come in between:
//!
//! ```text
//!   waiter, holding the mutex               notifier
//!   ──────────────────────────────          ──────────────────────────────
//!   the condition does not hold             takes the mutex
//!   releases the mutex                      makes the condition true
//!                                           notifies: the queue is empty
//!   enqueues; sleeps for ever
//!
//!   enqueues
//!   releases the mutex                      takes it, makes it true, notifies
//!   sleeps: queued                          → wakes it, or moves it to the queue of the mutex
//! ```
//! A notify of one wakes that waiter, which locks the mutex like any acquirer. A notify of all does so with threads. Tasks it moves to the tail
//! of the mutex's queue, and makes sure that the head waiter there is signalled (wait morphing; `requeue.rs` of the core): of a
//! hundred tasks at most one is polled at once, and each of the others at a release of the mutex.
//!
//! # A wait, from stage to stage
//! ```text
//!        by a notify of all: moved                signalled: takes the mutex
//!   queued here ─────────────────► queued there ────────────────────────────► holds it: Ok
//!      │           (tasks)                                                     ▲
//!      └── notified; the time is up ──► locks the mutex like any acquirer ─────┘  Ok; TimedOut
//! ```
//! A waiter that is dropped after a notify of one, and before it holds the mutex, forwards the notify. Of a notify of all, each waiter that
//! was there has its own, and a wait that began later must not end by it.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use waitword_core::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::observe::{Caller, Origin, WaitsFor};
use waitword_core::{
    Cancelled, Parker, WaitAsync, notify_one, replace_if_idle, requeue_while_equal, wait_async_from,
};

use crate::acquire::acquisition::Acquisition;
use crate::acquire::attempts::{self, take_or_mark, take_signalled};
use crate::acquire::{Acquire as _, Attempt, Kind, Left, OnUnwind, block};
use crate::drive::{Step, Steps};
use crate::error::{LockError, timed_out_alone};
use crate::raw_mutex::RawMutex;
use crate::spins;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{const_fn, mutant};

/// The word before the first wait.
const NO_MUTEX: u64 = 0;

/// The word, and the wait queue on it.
#[derive(Debug)]
pub(crate) struct RawCondvar {
    mutex: AtomicU64,
}

impl RawCondvar {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { mutex: AtomicU64::new(NO_MUTEX) }
        }
    }

    /// The word, on which waiters are queued.
    #[inline]
    pub(crate) fn word(&self) -> &AtomicU64 {
        &self.mutex
    }

    /// Notifies the first `count` waiters. Returns how many it notified.
    #[inline]
    pub(crate) fn notify(&self, count: usize) -> usize {
        notify(&self.mutex, count)
    }

    /// The address of the word, which reports know it by.
    #[inline]
    pub(crate) fn word_at(&self) -> usize {
        std::ptr::from_ref(&self.mutex).addr()
    }
}

/// See [`RawCondvar::notify`]. A wait has only `at` of its condition variable.
#[inline]
fn notify(at: &AtomicU64, count: usize) -> usize {
    // Relaxed: a queued waiter wrote the word before it released the mutex, and the condition was changed under the mutex.
    match at.load(Ordering::Relaxed) {
        NO_MUTEX => 0,
        mutex => notify_waiters(at, mutex, count),
    }
}

/// Out of line, so that a notify before the first wait is a load and a comparison.
#[inline(never)]
fn notify_waiters(at: &AtomicU64, mut mutex: u64, count: usize) -> usize {
    // To move one waiter takes two locks, and saves no wake-up.
    if count == 1 {
        return notify_one(at);
    }
    while mutex != NO_MUTEX {
        match requeue_while_equal(at, mutex, mutex as usize, count) {
            Ok(notified) => return notified,
            Err(now) => mutex = now,
        }
    }
    0
}

/// Makes `mutex` the one that the waiters go back to. Panics if other waiters use another mutex.
#[track_caller]
fn adopt(at: &AtomicU64, mutex: u64) {
    let now = at.load(Ordering::Relaxed);
    if now != mutex
        && let Err(then) = replace_if_idle(at, now, mutex)
    {
        assert!(
            then != now,
            "this condition variable has waiters with another mutex: use one `Condvar` for each mutex"
        );
    }
}

pin_project! {
    /// One wait, between two of its steps.
    pub(crate) struct Waiting<'a> {
        // The word with the queue.
        at: &'a AtomicU64,
        // `Some` until the wait ends, or the stage takes it.
        mutex: Option<&'a RawMutex>,
        // For snapshots.
        caller: Caller,
        // Whether a notify counted this wait, which has not ended yet.
        notified: Notified,
        #[pin]
        stage: Stage<'a>,
    }

    impl<'a> PinnedDrop for Waiting<'a> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let mut forwards = Forwards { at: this.at, notified: *this.notified };
            if let (StageProjection::Queued { wait }, Some(mutex)) = (this.stage.as_mut().project(), *this.mutex) {
                forwards.notified = leave(wait, mutex);
            }
            // The drop of an acquisition leaves the mutex's queue.
            this.stage.set(Stage::Idle);
        }
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<'a> {
        // Not begun, or ended.
        Idle,
        // Queued here, or, once moved by a notify of all, in the queue of the mutex.
        Queued {
            #[pin]
            wait: WaitAsync<&'a AtomicU64>,
        },
        // Notified by itself, or timed out: acquires the mutex as a new acquirer.
        Locking {
            #[pin]
            acquisition: Acquisition<'a, RawMutex>,
        },
    }
}

/// Whether a notify counted a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notified {
    Not,
    /// A notify of one: if the waiter is dropped, it is for the next.
    Alone,
    /// A notify of all.
    WithOthers,
}

impl Notified {
    /// By the notify that has dequeued or moved this wait.
    fn of(wait: Pin<&mut WaitAsync<&AtomicU64>>) -> Self {
        if wait.was_notified_alone() { Self::Alone } else { Self::WithOthers }
    }
}

const ENDED: &str = "a wait was polled after it had ended";

impl<'a> Waiting<'a> {
    #[track_caller]
    pub(crate) fn new(at: &'a AtomicU64, mutex: &'a RawMutex) -> Self {
        Self::from_caller(Caller::here(), at, mutex)
    }

    /// As [`new`](Self::new), for a wait that began at `caller`.
    pub(crate) fn from_caller(caller: Caller, at: &'a AtomicU64, mutex: &'a RawMutex) -> Self {
        Self { at, mutex: Some(mutex), caller, notified: Notified::Not, stage: Stage::Idle }
    }

    /// Whether the waiter is queued, here or for the mutex.
    pub(crate) fn is_waiting(&self) -> bool {
        match &self.stage {
            Stage::Idle => false,
            Stage::Queued { .. } => self.mutex.is_some(),
            Stage::Locking { acquisition } => acquisition.is_waiting(),
        }
    }

    /// Enqueues. The caller holds the mutex, and calls [`released`](Self::released) when it has released it: a notify may move the waiter to
    /// the queue of this mutex before, and a snapshot must not say that it waits for itself.
    ///
    /// # Panics
    /// If other waiters use another mutex.
    #[track_caller]
    pub(crate) fn enqueue(self: Pin<&mut Self>, waker: &Waker, is_timed: bool) {
        let mut this = self.project();
        let word = this.mutex.expect(ENDED).word();
        let mutex = std::ptr::from_ref(word).addr() as u64;
        loop {
            adopt(this.at, mutex);
            let origin = Origin::new(*this.caller, WaitsFor::Condvar).timed(is_timed).before_release();
            this.stage.set(Stage::Queued { wait: wait_async_from(origin, *this.at, mutex) });
            if let StageProjection::Queued { wait } = this.stage.as_mut().project()
                && wait.poll_signalled(&mut Context::from_waker(waker)).is_pending()
            {
                return;
            }
        }
    }

    /// The mutex is released.
    pub(crate) fn released(&self) {
        if let Stage::Queued { wait } = &self.stage {
            wait.released();
        }
    }

    /// For a queued waiter: tries to take the mutex if it was signalled, and leaves the queue if the time is up. Returns until
    /// when to wait, if it still has to.
    fn recheck(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Option<Option<Instant>> {
        let mut this = self.project();
        let StageProjection::Queued { mut wait } = this.stage.as_mut().project() else { return None };
        let raw = this.mutex.expect(ENDED);
        let kind = if Parker::is_woken_by(waker) { Kind::Thread } else { Kind::Task };
        // As in `Acquisition::enqueue`. A signalled waiter is in the queue of the mutex.
        let mut taken = wait.is_signalled() && take_signalled(raw, (), kind);
        if !taken {
            match wait.as_mut().poll_signalled(&mut Context::from_waker(waker)) {
                Poll::Ready(None) => {
                    mutant!("condvar-recheck" => return Some(None));
                    taken = take_or_mark(raw, (), Attempt::Queued(kind)).is_ok();
                }
                // Notified, and in neither queue: by a notify of one, or dequeued while detached, between the two queues.
                Poll::Ready(Some(_)) => {
                    mutant!("condvar-detached" => return Some(deadline));
                    *this.notified = Notified::of(wait.as_mut());
                }
                Poll::Pending => {}
            }
        }
        if taken {
            *this.notified = Notified::WithOthers;
            // The acquisition uses up the signal, if there is one.
            let _ = attempts::leave_with_it(raw, (), wait);
            return None;
        }
        if *this.notified == Notified::Not {
            if wait.is_requeued() {
                return Some(None);
            }
            if deadline.is_none_or(|deadline| Instant::now() < deadline) {
                return Some(deadline);
            }
            *this.notified = leave(wait, raw);
        }
        // Like any thread that finds the mutex held, it spins before it is queued.
        if kind == Kind::Thread && spins::is_due() && block::spin(raw, ()) {
            return None;
        }
        let mutex = this.mutex.take().expect(ENDED);
        let acquisition = Acquisition::from_caller(*this.caller, mutex, ());
        this.stage.set(Stage::Locking { acquisition });
        None
    }
}

impl<'a> Waiting<'a> {
    /// As a [`step`](Steps::step), which calls `ends` before it ends: foreign code, which may unwind. Then the mutex is released, and a notify
    /// forwarded when the wait is dropped.
    pub(crate) fn step_and(
        mut self: Pin<&mut Self>,
        waker: &Waker,
        deadline: Option<Instant>,
        ends: impl FnOnce(),
    ) -> Step<Result<(), LockError>> {
        if let Some(until) = self.as_mut().recheck(waker, deadline) {
            return Step::Wait(until);
        }
        let mut this = self.project();
        let mutex = match this.stage.as_mut().project() {
            // Dequeued, and holds the mutex.
            StageProjection::Idle | StageProjection::Queued { .. } => this.mutex.take(),
            StageProjection::Locking { acquisition } => {
                let mutex = acquisition.raw();
                match acquisition.step(waker, None) {
                    Step::Ended(Ok(Ok(()))) => mutex,
                    Step::Ended(Err(_)) => unreachable!("it has no deadline"),
                    Step::Wait(until) => return Step::Wait(until),
                }
            }
        };
        let mutex = mutex.expect(ENDED);
        // Here, and not with the wait: if a waker's destructor panicked in the drop of a future, an `.await` would leak what it returns.
        let unwinding = OnUnwind(|| mutex.give_back(()));
        ends();
        this.stage.set(Stage::Idle);
        mem::forget(unwinding);
        Step::Ended(match mem::replace(this.notified, Notified::Not) {
            Notified::Not => Err(timed_out_alone()),
            Notified::Alone | Notified::WithOthers => Ok(()),
        })
    }
}

impl Steps for Waiting<'_> {
    type Output = Result<(), LockError>;

    /// Ends with the mutex held, and with the result of the wait.
    fn step(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        self.step_and(waker, deadline, || ())
    }

    fn can_go_on(&self) -> bool {
        match &self.stage {
            Stage::Queued { wait } => wait.is_notified() || wait.is_signalled(),
            Stage::Locking { acquisition } => acquisition.can_go_on(),
            Stage::Idle => true,
        }
    }

    fn is_next(&self) -> bool {
        matches!(&self.stage, Stage::Queued { wait } if wait.was_first())
    }
}

/// Leaves the queue, here or of the mutex, and forwards the signal, if there is one. Returns whether a notify had counted the wait.
fn leave(mut wait: Pin<&mut WaitAsync<&AtomicU64>>, mutex: &RawMutex) -> Notified {
    match wait.as_mut().cancel_requeueable() {
        Cancelled::BeforeNotify => return Notified::Not,
        Cancelled::AfterSignal => {
            mutant!("condvar-forward-signal" => return Notified::WithOthers);
            attempts::left(mutex, (), Left { holds: false, was_signalled: true, is_last: false });
        }
        Cancelled::AfterNotify | Cancelled::AfterRequeue => {}
    }
    Notified::of(wait)
}

/// Forwards the notify of a waiter that is dropped, also if its waker's destructor panics.
struct Forwards<'a> {
    at: &'a AtomicU64,
    notified: Notified,
}

impl Drop for Forwards<'_> {
    fn drop(&mut self) {
        mutant!("condvar-forward" => return);
        mutant!("condvar-forward-all" => if self.notified != Notified::Not { notify(self.at, 1); return });
        if self.notified == Notified::Alone {
            notify(self.at, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    /// The driver spins for a wait that is next (`drive.rs`).
    #[test]
    fn the_first_waiter_is_next() {
        let (raw, mutex) = (RawCondvar::new(), RawMutex::new());
        let mut waits = [(); 2].map(|()| Box::pin(Waiting::new(raw.word(), &mutex)));
        assert_eq!(waits.each_ref().map(|wait| wait.is_next()), [false; 2]);
        waits.iter_mut().for_each(|wait| wait.as_mut().enqueue(Waker::noop(), false));
        assert_eq!(waits.each_ref().map(|wait| wait.is_next()), [true, false]);
    }

    #[test]
    fn a_notified_waiter_goes_on() {
        let (raw, mutex) = (RawCondvar::new(), RawMutex::new());
        let mut wait = pin!(Waiting::new(raw.word(), &mutex));
        wait.as_mut().enqueue(Waker::noop(), false);
        assert!(!wait.can_go_on());
        raw.notify(1);
        assert!(wait.can_go_on());
    }
}
