//! The condition variable as a word, and the one way through a wait. No data, no guards.
//!
//! The word holds the address of the mutex that those in line go back to; never anything that is followed. Who waits gets in
//! line while it still holds the mutex, so that nothing that others do under the mutex can come in between:
//!
//! ```text
//!   waiter, holding the mutex               notifier
//!   ──────────────────────────────          ──────────────────────────────
//!   the condition does not hold             takes the mutex
//!   releases the mutex                      makes the condition true
//!                                           notifies: nobody is in line
//!   gets in line; sleeps for ever
//!
//!   gets in line
//!   releases the mutex                      takes it, makes it true, notifies
//!   sleeps: in line                         → moves it to the line of the mutex
//! ```
//! A notify moves whom it notifies, asleep, to the end of the mutex's line, and sees to it that the first there is called
//! (`notify/requeue.rs` of the core). So of a hundred one wakes up, and the others one by one, each when the mutex is released.
//!
//! # A wait, from stage to stage
//! ```text
//!                 notified: moved                   called: takes the mutex
//!   in line here ─────────────────► in line there ─────────────────────────► holds it: Ok
//!      │                                                                       ▲
//!      └── the time is up ──► locks the mutex as anybody does ─────────────────┘  TimedOut
//! ```
//! Whoever is dropped after it was notified, and before it holds the mutex, passes the notify on.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::{Cancelled, Location, WaitAsync, replace_if_idle, requeue_while_equal, wait_async};

use crate::acquire::{Acquire, Acquisition, Attempt, Handle, Step};
use crate::condition::Waited;
use crate::error::LockError;
use crate::raw_mutex::RawMutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{broken, const_fn};

/// In the word as long as nobody has waited.
const NO_MUTEX: u64 = 0;

/// The word, and the line of those who wait.
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

    /// Notifies the first `count` in line. Returns how many these were.
    pub(crate) fn notify(&self, count: usize) -> usize {
        notify(&self.mutex, count)
    }
}

impl Waited for RawCondvar {
    type At = AtomicU64;

    fn at(&self) -> &AtomicU64 {
        &self.mutex
    }
}

/// See [`RawCondvar::notify`]. All that a wait has to know of its condition variable is `at`, so that is all that it keeps.
fn notify(at: &impl Location<Word = AtomicU64>, count: usize) -> usize {
    // Relaxed: whoever is in line has written it before it released the mutex, under which the condition was changed.
    let mut mutex = at.word().load(Ordering::Relaxed);
    while mutex != NO_MUTEX {
        match requeue_while_equal(at, mutex, mutex as usize, count) {
            Ok(notified) => return notified,
            Err(now) => mutex = now,
        }
    }
    0
}

/// Makes `mutex` the one that those in line go back to, unless others wait with another.
#[track_caller]
fn adopt(at: &impl Location<Word = AtomicU64>, mutex: u64) {
    let now = at.word().load(Ordering::Relaxed);
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
    pub(crate) struct Waiting<A: Location<Word = AtomicU64>, H: Handle<Raw = RawMutex>> {
        // Where it is queued: borrowed, or with a share in the condition variable.
        at: A,
        // Until it ends, or the stage has it.
        handle: Option<H>,
        // A notify counted this wait, which has not come back with it yet.
        notified: bool,
        #[pin]
        stage: Stage<A, H>,
    }

    impl<A: Location<Word = AtomicU64>, H: Handle<Raw = RawMutex>> PinnedDrop for Waiting<A, H> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let mut passes_on = PassesOn { at: &*this.at, notified: *this.notified };
            if let (StageProjection::InLine { wait }, Some(handle)) = (this.stage.as_mut().project(), &*this.handle) {
                leave(wait, handle.raw(), &mut passes_on.notified);
            }
            // Whoever is in line for the mutex itself leaves that line by itself.
            this.stage.set(Stage::Idle);
        }
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<A: Location<Word = AtomicU64>, H: Handle<Raw = RawMutex>> {
        // Not begun, or ended.
        Idle,
        // Here, or, since it was notified, in the line of the mutex.
        InLine {
            #[pin]
            wait: WaitAsync<A>,
        },
        // The time was up: for the mutex, without a place in line that it would have kept.
        Locking {
            #[pin]
            acquisition: Acquisition<H>,
        },
    }
}

const ENDED: &str = "a wait was polled after it had ended";

impl<A: Location<Word = AtomicU64> + Clone, H: Handle<Raw = RawMutex>> Waiting<A, H> {
    pub(crate) fn new(at: A, handle: H) -> Self {
        Self { at, handle: Some(handle), notified: false, stage: Stage::Idle }
    }

    /// Whether it stands in line, here or for the mutex.
    pub(crate) fn is_waiting(&self) -> bool {
        match &self.stage {
            Stage::Idle => false,
            Stage::InLine { .. } => self.handle.is_some(),
            Stage::Locking { acquisition } => acquisition.is_waiting(),
        }
    }

    /// Whether it was called, which makes the next step worth it.
    pub(crate) fn is_signalled(&self) -> bool {
        match &self.stage {
            Stage::InLine { wait } => wait.is_signalled(),
            Stage::Idle | Stage::Locking { .. } => false,
        }
    }

    /// Gets in line. The caller holds the mutex, and releases it afterwards.
    ///
    /// # Panics
    /// If others wait with another mutex.
    #[track_caller]
    pub(crate) fn enter(self: Pin<&mut Self>, waker: &Waker) {
        let mut this = self.project();
        let word = this.handle.as_ref().expect(ENDED).raw().at(()).word();
        let mutex = std::ptr::from_ref(word).addr() as u64;
        loop {
            adopt(this.at, mutex);
            this.stage.set(Stage::InLine { wait: wait_async(this.at.clone(), mutex) });
            if let StageProjection::InLine { wait } = this.stage.as_mut().project()
                && wait.poll_signalled(&mut Context::from_waker(waker)).is_pending()
            {
                return;
            }
        }
    }

    /// Goes on until it has ended, with the mutex held and the result of the wait, or has to wait.
    pub(crate) fn step(
        mut self: Pin<&mut Self>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Step<(H, Result<(), LockError>)> {
        if let Some(until) = self.as_mut().look(waker, deadline) {
            return Step::Wait(until);
        }
        let mut this = self.project();
        let handle = match this.stage.as_mut().project() {
            // Off the line, with the mutex.
            StageProjection::Idle | StageProjection::InLine { .. } => this.handle.take().expect(ENDED),
            StageProjection::Locking { acquisition } => match acquisition.step(waker, None) {
                Step::Ended(result) => result.unwrap_or_else(|_| unreachable!("it has no deadline")).0,
                Step::Wait(until) => return Step::Wait(until),
            },
        };
        // What is left of the stage goes with the rest: a waker's destructor may panic, and nobody would have the mutex.
        let was_notified = std::mem::take(this.notified);
        Step::Ended(Ok((handle, if was_notified { Ok(()) } else { Err(LockError::TimedOut) })))
    }

    /// A thread that was called tries for a while. Returns the handle if it has taken the mutex.
    pub(crate) fn spin(self: Pin<&mut Self>) -> Option<H> {
        let mut this = self.project();
        let taken = match this.stage.as_mut().project() {
            StageProjection::InLine { wait } => {
                wait.is_signalled() && this.handle.as_ref().expect(ENDED).raw().spin((), Attempt::Queued)
            }
            StageProjection::Idle | StageProjection::Locking { .. } => false,
        };
        if !taken {
            return None;
        }
        this.stage.set(Stage::Idle);
        *this.notified = false;
        this.handle.take()
    }

    /// In line: whether it is its turn, or the time is up. Returns until when to wait, if it still has to.
    fn look(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Option<Option<Instant>> {
        let mut this = self.project();
        let StageProjection::InLine { mut wait } = this.stage.as_mut().project() else { return None };
        let raw = this.handle.as_ref().expect(ENDED).raw();
        // As in `Acquisition::line_up`: called, so it was moved before.
        let mut taken = wait.is_signalled() && raw.take_signalled(());
        if !taken {
            match wait.as_mut().poll_signalled(&mut Context::from_waker(waker)) {
                Poll::Ready(None) => {
                    taken = !broken!("condvar-look") && raw.take_or_mark((), Attempt::Queued).is_ok()
                }
                // Taken out of limbo, on its way from line to line: it was notified, and is in neither.
                Poll::Ready(Some(_)) => *this.notified = !broken!("condvar-limbo"),
                Poll::Pending => {}
            }
        }
        if taken {
            *this.notified = true;
            // A call that it got has been answered by the success.
            let _ = wait.cancel();
            return None;
        }
        if !*this.notified && !wait.is_requeued() {
            if deadline.is_none_or(|deadline| Instant::now() < deadline) {
                return Some(deadline);
            }
            leave(wait, raw, this.notified);
        } else if !*this.notified {
            return Some(None);
        }
        let acquisition = Acquisition::new(this.handle.take().expect(ENDED), ());
        this.stage.set(Stage::Locking { acquisition });
        None
    }
}

/// Gives the place in line up, wherever that is, and notes whether a notify had counted it: before whoever is called in its
/// place can panic.
fn leave<A: Location>(wait: Pin<&mut WaitAsync<A>>, mutex: &RawMutex, notified: &mut bool) {
    let left = wait.cancel();
    *notified |= match left {
        Cancelled::BeforeNotify => false,
        // Nobody was notified by it but this one, wherever it stood.
        Cancelled::AfterRequeue => !broken!("condvar-moved"),
        Cancelled::AfterSignal | Cancelled::AfterNotify => true,
    };
    if left == Cancelled::AfterSignal && !broken!("condvar-pass-call") {
        mutex.forward((), true);
    }
}

/// Passes the notify of one on who is dropped, also if a waker panics on the way.
struct PassesOn<'a, A: Location<Word = AtomicU64>> {
    at: &'a A,
    notified: bool,
}

impl<A: Location<Word = AtomicU64>> Drop for PassesOn<'_, A> {
    fn drop(&mut self) {
        if self.notified && !broken!("condvar-pass-on") {
            notify(self.at, 1);
        }
    }
}
