//! The wait as a future: the same four steps, with a waker instead of a parked thread.
//!
//! The node is part of the pinned future. It enters the queue at the first poll, and leaves it at the latest when the
//! future is dropped.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use crate::cancel::{self, Cancelled};
use crate::outcome::Outcome;
use crate::table::enqueue_while_equal;
use crate::waiter::{
    ASKING, DONE, IDLE, NOTIFIED, NOTIFIED_LAST, QUEUED, Waiter, is_called, is_queued, with,
};
use crate::wake::Wake;
use crate::word::{Location, Word, bits, key};

/// Waits for a notify without blocking the thread, if the word holds `expected`; otherwise is ready with
/// [`NotEqual`](Outcome::NotEqual) at its first poll.
///
/// The check, and the place in the line, are had at the first poll, not at the call. Works with any executor, and the
/// future may move between threads.
///
/// # Cancellation
/// Dropping the future leaves the queue. If a notify had counted it already, that wakeup is lost; whoever cannot
/// afford this calls [`WaitAsync::cancel`] and passes it on.
///
/// # Panics
/// When polled again after it was ready.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::{Outcome, notify_one, wait_async};
///
/// # smol::block_on(async {
/// let word = AtomicI32::new(0);
/// let waiting = wait_async(&word, 0);
/// let notifying = async { assert_eq!(notify_one(&word), 1) };
/// let (outcome, ()) = smol::future::zip(waiting, notifying).await;
/// assert_eq!(outcome, Outcome::Notified);
/// # });
/// ```
pub fn wait_async<L: Location>(at: L, expected: <L::Word as Word>::Value) -> WaitAsync<L> {
    WaitAsync { node: Waiter::expecting(bits::<L>(expected)), at }
}

/// The future of [`wait_async`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitAsync<L: Location> {
    node: Waiter,
    at: L,
}

impl<L: Location> WaitAsync<L> {
    /// Gives the wait up, and says whether a notify had counted it without being told so far.
    ///
    /// After it the future must not be polled any more.
    pub fn cancel(self: Pin<&mut Self>) -> Cancelled {
        let this = self.as_ref();
        let cancelled = if !self.is_waiting() {
            Cancelled::BeforeNotify
        } else {
            match cancel::leave(this.at.table(), this.node()) {
                Cancelled::BeforeNotify if self.is_elsewhere() => Cancelled::AfterMove,
                cancelled => cancelled,
            }
        };
        this.node.set_state(DONE);
        cancelled
    }

    /// Whether it stands in the line: polled once, and neither ready nor cancelled since. (A notify may have counted
    /// it meanwhile.)
    pub fn is_waiting(&self) -> bool {
        let state = self.node.state();
        is_queued(state) || state == NOTIFIED
    }

    /// Whether it was called ([`call_one`](crate::call_one)) and has not been polled since. Asks without a lock.
    #[inline]
    pub fn is_called(&self) -> bool {
        is_called(self.node.state())
    }

    /// Whether the notify that counted it was one of the last in the queue ([`notify_last`](crate::notify_last)). For those who
    /// forward the wakeup of a wait that was cancelled ([`AfterNotify`](Cancelled::AfterNotify)), and would do so in the same
    /// order. `false` if no notify has counted it.
    pub fn was_notified_last(self: Pin<&mut Self>) -> bool {
        let node = NonNull::from(&self.node);
        // SAFETY: with the outcome the links are the owner's again (I3, I5), which is borrowed mutably.
        matches!(self.node.state(), NOTIFIED | DONE)
            && unsafe { with(node, |links| links.len) } == NOTIFIED_LAST
    }

    /// Whether it was moved to another word's line ([`requeue_while_equal`](crate::requeue_while_equal)). Once moved, it stays so.
    #[inline]
    pub fn is_moved(&self) -> bool {
        self.is_waiting() && self.is_elsewhere()
    }

    /// As [`is_moved`](Self::is_moved), of one that has entered.
    fn is_elsewhere(&self) -> bool {
        self.node.address() != key(&self.at)
    }

    /// As the poll of the future, for those who build locks: ready with `None` when it was called since the last poll. It
    /// stands in line as before, and the next call finds it with this waker; so whoever gets `None` looks now whether what it
    /// waits for is there, or misses it.
    pub fn poll_called(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        let looked = self.as_ref().look(cx);
        if let Poll::Ready(Some(_)) = looked {
            self.as_ref().finish();
        }
        looked
    }

    /// Asks to be called again soon, though nobody may have a reason to, as long as somebody stands behind it in line. For
    /// those who build locks in which something is kept for the first in line until there is enough of it: whoever looked
    /// and found too little should be known to look again, or those behind it wait in vain for something that is there.
    ///
    /// The call comes from the table's next sweep, and what follows is as after any other ([`call_one`](crate::call_one)).
    pub fn ask_for_call(self: Pin<&mut Self>) {
        let this = self.as_ref();
        if this.node.state() == QUEUED {
            let (key, mut locked) = this.at.table().lock_of(this.node());
            locked.ask(key, this.node());
            locked.release();
        }
    }

    /// The poll, but for its end: until [`finish`](Self::finish) says that the outcome has reached the caller, it may be
    /// asked for again. For somewhere between the two a waker's destructor may panic.
    pub(crate) fn look(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        match self.node.state() {
            NOTIFIED => Poll::Ready(Some(Outcome::Notified)),
            DONE => panic!("a wait was polled after it had ended"),
            // Cloned here because no lock may be held while foreign code runs.
            IDLE => self.enter(Wake::Task(cx.waker().clone())),
            QUEUED | ASKING => self.look_again(cx.waker()),
            _ => self.replace_waker(cx.waker()),
        }
    }

    /// The outcome is had.
    pub(crate) fn finish(self: Pin<&Self>) {
        self.node.set_state(DONE);
    }

    /// Check and enqueue.
    fn enter(self: Pin<&Self>, wake: Wake) -> Poll<Option<Outcome>> {
        self.node().set_wake(wake);
        if enqueue_while_equal(&self.at, self.node().expects(), self.node()) {
            return Poll::Pending;
        }
        Poll::Ready(Some(Outcome::NotEqual))
    }

    /// Verdict, or another waker.
    fn look_again(self: Pin<&Self>, waker: &Waker) -> Poll<Option<Outcome>> {
        // Most are polled again with the waker that they have.
        let will_wake = {
            let (key, mut locked) = self.at.table().lock_of(self.node());
            locked.with_wake(key, self.node(), |wake| wake.will_wake(waker))
        };
        match will_wake {
            None => self.counted(),
            Some(true) => Poll::Pending,
            Some(false) => self.replace_waker(waker),
        }
    }

    /// Another waker, for one that the task has left or that a call took along.
    fn replace_waker(self: Pin<&Self>, waker: &Waker) -> Poll<Option<Outcome>> {
        // Foreign code, so it is cloned before the lock, and the one that is not needed goes after it.
        let mut new = Wake::Task(waker.clone());
        let was_called = {
            let (key, mut locked) = self.at.table().lock_of(self.node());
            locked.exchange_wake(key, self.node(), &mut new)
        };
        // Before the waker goes, which was not needed or has been replaced.
        let looked = match was_called {
            None => self.counted(),
            Some(true) => Poll::Ready(None),
            Some(false) => Poll::Pending,
        };
        drop(new);
        looked
    }

    /// Taken out of limbo: told by nobody, and yet counted.
    fn counted(self: Pin<&Self>) -> Poll<Option<Outcome>> {
        self.node.set_state(NOTIFIED);
        Poll::Ready(Some(Outcome::Notified))
    }

    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl<L: Location> Future for WaitAsync<L> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        // A call ends no wait of this kind.
        match self.poll_called(cx) {
            Poll::Ready(Some(outcome)) => Poll::Ready(outcome),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<L: Location> Drop for WaitAsync<L> {
    fn drop(&mut self) {
        if is_queued(self.node.state()) {
            // SAFETY: queued, so it was pinned; it is not moved from here on.
            let this = unsafe { Pin::new_unchecked(&*self) };
            // Told to nobody: the docs say so, and `cancel` is for those who want to know.
            let _ = cancel::leave(this.at.table(), this.node());
        }
    }
}

impl<L: Location> fmt::Debug for WaitAsync<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitAsync").field("is_waiting", &self.is_waiting()).finish_non_exhaustive()
    }
}
