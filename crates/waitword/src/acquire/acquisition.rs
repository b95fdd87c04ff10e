//! The loop, as something that is stepped: by a thread between two sleeps, by a task in each poll.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pin_project_lite::pin_project;
use waitword_core::{Cancelled, WaitAsync, wait_async};

use crate::acquire::handle::{Ask, End, Handle};
use crate::acquire::{Acquire, Attempt, GivesBack, take_passed};
use crate::error::LockError;
use crate::stall_timeout::Looks;
use crate::sync::broken;

/// What the driver of an [`Acquisition`] does next.
pub(crate) enum Step<E> {
    /// Nothing: it has been acquired, or the time was up.
    Ended(Result<E, LockError>),
    /// Step again when woken, and at this time at the latest, if there is one.
    Wait(Option<Instant>),
}

/// When one took it who stood in line: whether a call that it has got is answered by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// Called, and until it has left the line it is not called again.
    OnCall,
    /// When the next call could find it: if it has come, it was meant for what was there later.
    OnLook,
}

const ENDED: &str = "an acquisition was polled after it had ended";

pin_project! {
    /// The loop, between two of its steps.
    pub(crate) struct Acquisition<H: Handle> {
        // Gone with the end: whoever has acquired has it.
        handle: Option<H>,
        ask: Ask<H>,
        // Whether the first attempt has been made.
        begun: bool,
        looks: <H::Raw as Acquire>::Looks,
        // Its place in line, if it has one. There is a handle as long as there is a place.
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
        Self { handle: Some(handle), ask, begun: false, looks: Default::default(), wait: None }
    }

    /// Whether it stands in line.
    pub(crate) fn is_waiting(&self) -> bool {
        self.handle.is_some() && self.wait.is_some()
    }

    /// The first attempt, before anything that costs. Later calls do nothing.
    #[inline]
    pub(crate) fn take_at_once(self: Pin<&mut Self>) -> Option<H> {
        let this = self.project();
        if *this.begun {
            return None;
        }
        *this.begun = true;
        this.handle.take_if(|handle| handle.raw().take(*this.ask))
    }

    /// For one that must take nothing now: whether it may be left unpolled for a moment, because it is queued, or because it
    /// would not have to wait.
    pub(crate) fn can_yield(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        let raw = this.handle.as_ref().expect(ENDED).raw();
        if this.wait.is_some() {
            return true;
        }
        // Nothing but the attempt says whether it is free for us. It is not kept: an owner that is not polled would keep
        // everybody out.
        let is_free = raw.take(*this.ask);
        match is_free {
            true => raw.give_back(*this.ask),
            false => *this.begun = true,
        }
        is_free
    }

    /// Goes on until it has ended or has to wait. Whoever is in line stays there until it is notified or has ended.
    pub(crate) fn step(
        mut self: Pin<&mut Self>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Step<(H, End<H>)> {
        let (end, taken) = match self.as_mut().line_up(waker) {
            Poll::Ready(ended) => ended,
            Poll::Pending => match self.as_mut().look(deadline) {
                Step::Ended(Ok(end)) => (end, Taken::OnLook),
                Step::Ended(Err(error)) => {
                    self.project().handle.take();
                    return Step::Ended(Err(error));
                }
                Step::Wait(until) => return Step::Wait(until),
            },
        };
        Step::Ended(Ok((self.end(taken), end)))
    }

    /// A thread that was called tries for a while. Returns whether it has taken it.
    pub(crate) fn spin(self: Pin<&mut Self>) -> bool {
        let is_signalled = self.wait.as_ref().is_some_and(WaitAsync::is_signalled);
        let taken = is_signalled
            && self.handle.as_ref().is_some_and(|handle| handle.raw().spin(self.ask, Attempt::Queued));
        if taken {
            self.end(Taken::OnCall);
        }
        taken
    }

    /// It has been acquired.
    fn end(self: Pin<&mut Self>, taken: Taken) -> H {
        let mut this = self.project();
        let handle = this.handle.take().expect(ENDED);
        if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let was_signalled = wait.cancel() != Cancelled::BeforeNotify && taken == Taken::OnLook;
            // (If what was taken is that the lock is closed, there is nothing to give back, and nobody who would miss it.)
            let unwinding = GivesBack { raw: handle.raw(), ask: *this.ask };
            handle.raw().dequeued(*this.ask, was_signalled);
            // With its waker, whose destructor may panic; and with its share in the lock.
            this.wait.set(None);
            mem::forget(unwinding);
        }
        handle
    }

    /// It is given up.
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if let (Some(handle), Some(wait)) = (this.handle, this.wait.as_mut().as_pin_mut()) {
            let was_signalled = wait.cancel() != Cancelled::BeforeNotify;
            // Its waker goes with the rest, afterwards: the destructor may panic.
            handle.raw().forward(*this.ask, was_signalled);
        }
    }

    /// Takes it, or stands in line afterwards.
    fn line_up(self: Pin<&mut Self>, waker: &Waker) -> Poll<(End<H>, Taken)> {
        let mut this = self.project();
        let handle = this.handle.as_ref().expect(ENDED);
        let (raw, ask) = (handle.raw(), *this.ask);
        let mut cx = Context::from_waker(waker);
        loop {
            let Some(mut wait) = this.wait.as_mut().as_pin_mut() else {
                match raw.take_or_mark(ask, Attempt::Barging) {
                    Ok(end) => return Poll::Ready((end, Taken::OnLook)),
                    Err(taken) => this.wait.set(Some(wait_async(handle.at(ask), taken))),
                }
                continue;
            };
            // Called: one look before it costs anything, ...
            if wait.is_signalled() && raw.take_signalled(ask) {
                return Poll::Ready((H::Raw::TAKEN, Taken::OnCall));
            }
            match wait.as_mut().poll_signalled(&mut cx) {
                // Notified; or the word is not what the attempt left, so that somebody else has got on meanwhile.
                Poll::Ready(Some(_)) => this.wait.set(None),
                // ... and one when the next call will find us.
                Poll::Ready(None) if broken!("acquire-look") => return Poll::Pending,
                Poll::Ready(None) => {
                    if let Ok(end) = raw.take_or_mark(ask, Attempt::Queued) {
                        return Poll::Ready((end, Taken::OnLook));
                    }
                    if raw.holds_up_others(ask) {
                        // Nobody may come to call us again, and those behind us must not depend on that.
                        wait.request_signal();
                    }
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// In line: looks for itself if it is time to, and gives up if the time is up.
    fn look(mut self: Pin<&mut Self>, deadline: Option<Instant>) -> Step<End<H>> {
        if !<H::Raw as Acquire>::Looks::LOOK && deadline.is_none() {
            return Step::Wait(None);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Step::Ended(self.look_for_the_last_time().ok_or(LockError::TimedOut));
        }
        let this = self.as_mut().project();
        if this.looks.is_due(now) {
            let raw = this.handle.as_ref().expect(ENDED).raw();
            if let Ok(end) = raw.take_or_mark(*this.ask, Attempt::Queued) {
                return Step::Ended(Ok(end));
            }
            this.looks.renew(now);
        }
        let look = this.looks.next(now);
        Step::Wait(deadline.map_or(look, |deadline| Some(look.map_or(deadline, |look| deadline.min(look)))))
    }

    /// Leaves the line before the last attempt, not after it: a call that came before is answered by the attempt, and one
    /// that comes later goes to the next in line. Whoever was not called has no more right to it than a newcomer.
    fn look_for_the_last_time(self: Pin<&mut Self>) -> Option<End<H>> {
        let mut this = self.project();
        let raw = this.handle.as_ref().expect(ENDED).raw();
        // Its waker goes with the rest, as in `leave`.
        let left = this.wait.as_mut().as_pin_mut().map(WaitAsync::cancel);
        let was_signalled =
            left.is_some_and(|left| left != Cancelled::BeforeNotify) && !broken!("acquire-late");
        let end =
            raw.take_or_mark(*this.ask, if was_signalled { Attempt::Queued } else { Attempt::Barging }).ok();
        if end.is_some() {
            return end;
        }
        raw.forward(*this.ask, was_signalled);
        take_passed(raw, *this.ask).then_some(H::Raw::TAKEN)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;
    use crate::acquire::Value;
    use crate::raw_mutex::RawMutex;
    use crate::raw_semaphore::RawSemaphore;

    /// A lock to which somebody does something right after an attempt, once it is armed.
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
        type Looks = R::Looks;

        const TAKEN: R::End = R::TAKEN;

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
    fn a_release_after_the_last_attempt_calls_the_next_in_line() {
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
        assert!(woken.0.load(Ordering::SeqCst), "else the call went to the one that left");
        assert!(matches!(next.as_mut().step(&waker, None), Step::Ended(Ok(_))));
    }

    /// The second in line is called while the first, which has its permit, leaves the line.
    #[test]
    fn whoever_leaves_the_line_takes_nobody_elses_call_along() {
        let semaphore = AfterAttempt::new(RawSemaphore::new(0), |raw| assert!(raw.add(1)));
        let mut first = pin!(Acquisition::new(&semaphore, 1));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        let mut second = pin!(Acquisition::new(&semaphore.raw, 1));
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        assert!(semaphore.raw.add(1));
        semaphore.armed.store(true, Ordering::SeqCst);
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

        // It is overtaken until its time has come.
        let start = Instant::now();
        while semaphore.take(1) {
            assert!(semaphore.raw.add(1));
            assert!(start.elapsed() < Duration::from_secs(60), "nobody keeps it for the one that was called");
        }
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));
    }

    /// One in line has its permits and has not left yet; more are kept for another, who gives up.
    #[test]
    fn nothing_is_kept_for_those_who_have_what_they_want() {
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

        assert!(semaphore.take(2), "nobody is in line any more");
    }
}
