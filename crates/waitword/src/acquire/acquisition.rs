//! The acquisition loop, between two of its steps.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::{Cancelled, WaitAsync, wait_async};

use crate::acquire::attempt::take_reserved;
use crate::acquire::drive::{Step, Steps};
use crate::acquire::handle::{Ask, End, Handle};
use crate::acquire::raw::{Acquire, Attempt, Ended, GivesBack};
use crate::error::LockError;
use crate::stall_timeout::Rechecks;
use crate::sync::mutant;

/// When a queued waiter took the word. That decides whether the acquisition used up a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// While signalled. The waiter is not signalled again before it has left the queue.
    OnSignal,
    /// On a recheck, when the next signal could find the waiter. Such a signal belongs to a later release.
    OnRecheck,
}

pub(super) const NO_DEADLINE: &str = "without a deadline it only ends with the lock";

const ENDED: &str = "an acquisition was polled after it had ended";

pin_project! {
    /// The acquisition loop, between two of its steps.
    pub(crate) struct Acquisition<H: Handle> {
        // `Some` until the end, which returns the handle.
        handle: Option<H>,
        ask: Ask<H>,
        // Whether the first attempt has been made.
        begun: bool,
        rechecks: <H::Raw as Acquire>::Rechecks,
        // `Some` while queued; then there is a handle, too.
        #[pin]
        wait: Option<WaitAsync<H::At>>,
    }

    impl<H: Handle> PinnedDrop for Acquisition<H> {
        fn drop(this: Pin<&mut Self>) {
            this.leave();
        }
    }
}

impl<H: Handle> Acquisition<H> {
    pub(crate) fn new(handle: H, ask: Ask<H>) -> Self {
        Self { handle: Some(handle), ask, begun: false, rechecks: Default::default(), wait: None }
    }

    /// Whether the acquirer is queued.
    pub(crate) fn is_waiting(&self) -> bool {
        self.handle.is_some() && self.wait.is_some()
    }

    /// The first attempt, before any costly work. Later calls of this method do nothing.
    #[inline]
    pub(crate) fn take_at_once(self: Pin<&mut Self>) -> Option<H> {
        let this = self.project();
        if *this.begun {
            return None;
        }
        *this.begun = true;
        this.handle.take_if(|handle| handle.raw().take(*this.ask))
    }

    /// For a task that must take nothing now: whether it may yield, because it is queued, or because it would not have to wait.
    pub(crate) fn can_yield(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        let raw = this.handle.as_ref().expect(ENDED).raw();
        if this.wait.is_some() {
            return true;
        }
        // Only an attempt finds out whether the word is free. What the attempt takes is given back: a holder that is not polled
        // would block other acquirers.
        let is_free = raw.take(*this.ask);
        match is_free {
            true => raw.give_back(*this.ask),
            false => *this.begun = true,
        }
        is_free
    }

    /// Ends with the word acquired.
    fn end(self: Pin<&mut Self>, taken: Taken) -> H {
        let mut this = self.project();
        let handle = this.handle.take().expect(ENDED);
        if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let was_signalled = wait.cancel() != Cancelled::BeforeNotify && taken == Taken::OnRecheck;
            // (If it is closed, nothing was taken, and giving back does no harm.)
            let unwinding = GivesBack { raw: handle.raw(), ask: *this.ask };
            handle.raw().dequeued(*this.ask, was_signalled);
            // Drops the waker, whose destructor may panic, and the share in the lock.
            this.wait.set(None);
            mem::forget(unwinding);
        }
        handle
    }

    /// Gives up.
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if let (Some(handle), Some(wait)) = (this.handle, this.wait.as_mut().as_pin_mut()) {
            let was_signalled = wait.cancel() != Cancelled::BeforeNotify;
            // The waker is dropped with the rest, after the forward: its destructor may panic.
            handle.raw().forward(*this.ask, was_signalled);
        }
    }

    /// Takes the word, or enqueues.
    fn enqueue(self: Pin<&mut Self>, waker: &Waker) -> Poll<(End<H>, Taken)> {
        let mut this = self.project();
        let handle = this.handle.as_ref().expect(ENDED);
        let (raw, ask) = (handle.raw(), *this.ask);
        let mut cx = Context::from_waker(waker);
        loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                match raw.take_or_mark(ask, Attempt::Barging) {
                    Ok(end) => return Poll::Ready((end, Taken::OnRecheck)),
                    Err(taken) => this.wait.set(Some(wait_async(handle.at(ask), taken))),
                }
                continue;
            };
            // Signalled: one attempt before the shard's lock is taken to acknowledge the signal, ...
            if wait.is_signalled() && raw.take_signalled(ask) {
                return Poll::Ready((End::<H>::TAKEN, Taken::OnSignal));
            }
            match wait.as_mut().poll_signalled(&mut cx) {
                // Notified; or the word has changed since the attempt, so another acquirer has made progress.
                Poll::Ready(Some(_)) => this.wait.set(None),
                // ... and one when the next signal will find this waiter.
                Poll::Ready(None) => {
                    mutant!("acquire-recheck" => return Poll::Pending);
                    if let Ok(end) = raw.take_or_mark(ask, Attempt::Queued) {
                        return Poll::Ready((end, Taken::OnRecheck));
                    }
                    if raw.holds_up_others(ask) {
                        // Perhaps no release signals this waiter again, and the waiters behind it must not depend on one.
                        wait.request_signal();
                    }
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// For a queued waiter: rechecks without a signal if that is due, and gives up if the time is up.
    fn recheck(mut self: Pin<&mut Self>, deadline: Option<Instant>) -> Step<Result<End<H>, LockError>> {
        if !<H::Raw as Acquire>::Rechecks::ANY && deadline.is_none() {
            return Step::Wait(None);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Step::Ended(self.last_attempt().ok_or(LockError::TimedOut));
        }
        let this = self.as_mut().project();
        if this.rechecks.is_due(now) {
            let raw = this.handle.as_ref().expect(ENDED).raw();
            if let Ok(end) = raw.take_or_mark(*this.ask, Attempt::Queued) {
                return Step::Ended(Ok(end));
            }
            this.rechecks.renew(now);
        }
        let next = this.rechecks.next(now);
        Step::Wait(deadline.map_or(next, |deadline| Some(next.map_or(deadline, |next| deadline.min(next)))))
    }

    /// Leaves the queue before the last attempt, not after it. So the attempt uses up an earlier signal, and a later one goes
    /// to the next waiter. Without a signal, the attempt is that of a barging acquirer.
    fn last_attempt(self: Pin<&mut Self>) -> Option<End<H>> {
        let mut this = self.project();
        let raw = this.handle.as_ref().expect(ENDED).raw();
        // The waker is dropped with the rest, as in `leave`.
        let left = this.wait.as_mut().as_pin_mut().map(WaitAsync::cancel);
        let was_signalled = left.is_some_and(was_signalled);
        let attempt = if was_signalled { Attempt::Queued } else { Attempt::Barging };
        let end = raw.take_or_mark(*this.ask, attempt).ok();
        if end.is_some() {
            return end;
        }
        raw.forward(*this.ask, was_signalled);
        take_reserved(raw, *this.ask).then_some(End::<H>::TAKEN)
    }
}

impl<H: Handle> Steps for Acquisition<H> {
    type Output = Result<(H, End<H>), LockError>;

    /// A queued waiter keeps its position until it is notified or has ended.
    fn step(mut self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        let (end, taken) = match self.as_mut().enqueue(waker) {
            Poll::Ready(ended) => ended,
            Poll::Pending => match self.as_mut().recheck(deadline) {
                Step::Ended(Ok(end)) => (end, Taken::OnRecheck),
                Step::Ended(Err(error)) => {
                    self.project().handle.take();
                    return Step::Ended(Err(error));
                }
                Step::Wait(until) => return Step::Wait(until),
            },
        };
        Step::Ended(Ok((self.end(taken), end)))
    }

    fn spin(self: Pin<&mut Self>) -> Option<Self::Output> {
        let is_signalled = self.wait.as_ref().is_some_and(WaitAsync::is_signalled);
        let is_taken = is_signalled
            && self.handle.as_ref().is_some_and(|handle| handle.raw().spin(self.ask, Attempt::Queued));
        is_taken.then(|| Ok((self.end(Taken::OnSignal), End::<H>::TAKEN)))
    }
}

/// Whether a waiter whose time is up leaves the queue with a signal.
fn was_signalled(left: Cancelled) -> bool {
    mutant!("acquire-timed-out" => return false);
    left != Cancelled::BeforeNotify
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;
    use crate::acquire::raw::Value;
    use crate::raw_mutex::RawMutex;
    use crate::raw_semaphore::RawSemaphore;

    /// A lock that runs a function right after the next attempt, once it is armed.
    struct AfterAttempt<R> {
        raw: R,
        somebody: fn(&R),
        armed: AtomicBool,
    }

    impl<R> AfterAttempt<R> {
        fn new(raw: R, somebody: fn(&R)) -> Self {
            Self { raw, somebody, armed: AtomicBool::new(false) }
        }

        fn after<T>(&self, attempt: T) -> T {
            if self.armed.swap(false, Ordering::SeqCst) {
                (self.somebody)(&self.raw);
            }
            attempt
        }
    }

    impl<R: Acquire> Acquire for AfterAttempt<R> {
        type At = R::At;
        type Ask = R::Ask;
        type End = R::End;
        type Rechecks = R::Rechecks;

        fn at(&self, ask: R::Ask) -> &R::At {
            self.raw.at(ask)
        }

        fn take(&self, ask: R::Ask) -> bool {
            self.raw.take(ask)
        }

        fn take_signalled(&self, ask: R::Ask) -> bool {
            self.after(self.raw.take_signalled(ask))
        }

        fn take_or_mark(&self, ask: R::Ask, attempt: Attempt) -> Result<R::End, Value<Self>> {
            self.after(self.raw.take_or_mark(ask, attempt))
        }

        fn spin(&self, ask: R::Ask, attempt: Attempt) -> bool {
            self.raw.spin(ask, attempt)
        }

        fn dequeued(&self, ask: R::Ask, was_signalled: bool) {
            self.raw.dequeued(ask, was_signalled);
        }

        fn give_back(&self, ask: R::Ask) {
            self.raw.give_back(ask);
        }

        fn forward(&self, ask: R::Ask, was_signalled: bool) {
            self.raw.forward(ask, was_signalled);
        }
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_release_after_the_last_attempt_signals_the_next_waiter() {
        let mutex = AfterAttempt::new(RawMutex::new(), RawMutex::release);
        assert!(mutex.take(()));
        let mut late = pin!(Acquisition::new(&mutex, ()));
        assert!(matches!(late.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        let mut next = pin!(Acquisition::new(&mutex.raw, ()));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        assert!(matches!(next.as_mut().step(&waker, None), Step::Wait(None)));

        mutex.armed.store(true, Ordering::SeqCst);
        let too_late = late.as_mut().step(Waker::noop(), Some(Instant::now()));
        assert!(matches!(too_late, Step::Ended(Err(LockError::TimedOut))));
        assert!(woken.0.load(Ordering::SeqCst), "else the signal went to the waiter that left");
        assert!(matches!(next.as_mut().step(&waker, None), Step::Ended(Ok(_))));
    }

    /// The second waiter is signalled while the first, which has its permit, leaves the queue.
    #[test]
    fn a_waiter_that_leaves_the_queue_keeps_no_signal_of_another() {
        let semaphore = AfterAttempt::new(RawSemaphore::new(0), |raw| assert!(raw.add(1)));
        let mut first = pin!(Acquisition::new(&semaphore, 1));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        let mut second = pin!(Acquisition::new(&semaphore.raw, 1));
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        assert!(semaphore.raw.add(1));
        semaphore.armed.store(true, Ordering::SeqCst);
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

        // Barging acquirers succeed until the barging window closes.
        let start = Instant::now();
        while semaphore.take(1) {
            assert!(semaphore.raw.add(1));
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "nothing is reserved for the signalled waiter"
            );
        }
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));
    }

    /// A waiter has its permits and has not left the queue yet. More are reserved for a second waiter, which gives up.
    #[test]
    fn nothing_is_reserved_for_a_waiter_that_has_its_permits() {
        let semaphore = AfterAttempt::new(RawSemaphore::new(0), |raw| {
            assert!(raw.take_or_mark(3, Attempt::Queued).is_err());
            assert!(raw.add(2));
            raw.forward(3, false);
        });
        let mut first = pin!(Acquisition::new(&semaphore, 1));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        semaphore.armed.store(true, Ordering::SeqCst);
        assert!(semaphore.raw.add(1));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

        assert!(semaphore.take(2), "nobody is queued any more");
    }
}
