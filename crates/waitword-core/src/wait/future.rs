//! The wait as a future: the same steps, with a waker instead of a parked thread.
//!
//! The node is part of the pinned future. It is enqueued at the first poll, and leaves the queue when the future is dropped
//! at the latest.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::observe::{self, Begins, Caller, End, Origin, WAITS, WaiterKind, WaitsFor, asks};
use crate::sync::mutant;
use crate::table::enqueue::{enqueue_while_equal, release};
use crate::table::enqueue::{leave, tell_end};
use crate::table::{Location, address};
use crate::thread::{earn, is_of_thread, is_spin_due, spin_and_learn};
use crate::waiter::node::{
    DONE, IDLE, LOST, NOTIFIED, PASSED, QUEUED, SIGNAL_REQUESTED, Waiter, is_queued, is_signalled,
};
use crate::waiter::wake::Wake;
use crate::waiter::{Cancelled, Outcome};
use crate::word::{Word, bits, load_bits};

/// Waits for a notify without blocking the thread, if the word holds `expected`; otherwise is ready with
/// [`NotEqual`](Outcome::NotEqual) at its first poll.
///
/// The word is compared and the waiter enqueued at the first poll, not at the call. Works with any executor, and the
/// future may move between threads.
///
/// # Cancellation
/// Not cancel-safe: dropping the future leaves the queue, and if a notify had counted it already, that wakeup is lost. To
/// keep it, [`cancel`](WaitAsync::cancel) instead and forward it.
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
#[inline]
#[track_caller]
pub fn wait_async<L: Location>(at: L, expected: <L::Word as Word>::Value) -> WaitAsync<L> {
    wait_async_from(Origin::here(WaitsFor::Word), at, expected)
}

/// As [`wait_async`], for building locks: snapshots show the wait as one of `origin`.
#[inline]
pub fn wait_async_from<L: Location>(
    origin: Origin,
    at: L,
    expected: <L::Word as Word>::Value,
) -> WaitAsync<L> {
    WaitAsync { node: Waiter::expecting(bits::<L::Word>(expected), Some(origin)), at }
}

/// The future of [`wait_async`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitAsync<L: Location> {
    node: Waiter,
    at: L,
}

impl<L: Location> WaitAsync<L> {
    /// The caller that this wait comes from, for a lock that waits anew on its behalf. Unknown while the wait is queued.
    pub fn caller(self: Pin<&mut Self>) -> Caller {
        let is_queued = is_queued(self.node.state());
        Caller::at(if is_queued { None } else { self.as_ref().node().site() })
    }

    /// Gives the wait up, and returns whether a notify had counted it already.
    ///
    /// After this the future must not be polled any more.
    pub fn cancel(self: Pin<&mut Self>) -> Cancelled {
        self.end(End::GaveUp)
    }

    /// As [`cancel`](Self::cancel), for building locks: the wait is given up because what it was for has been acquired. Reports count it as
    /// acquired.
    pub fn cancel_acquired(self: Pin<&mut Self>) -> Cancelled {
        self.end(End::Acquired)
    }

    fn end(self: Pin<&mut Self>, end: End) -> Cancelled {
        let this = self.as_ref();
        let cancelled = if !self.is_waiting() {
            Cancelled::BeforeNotify
        } else {
            match leave(this.at.table(), this.node(), end) {
                Cancelled::BeforeNotify if self.is_elsewhere() => Cancelled::AfterRequeue,
                cancelled => cancelled,
            }
        };
        this.node.set_done();
        cancelled
    }

    /// Whether it is queued: polled once, and neither ready nor cancelled since. (A notify may have counted it meanwhile.)
    #[inline]
    pub fn is_waiting(&self) -> bool {
        let state = self.node.state();
        is_queued(state) || state == NOTIFIED
    }

    /// Whether it was signalled ([`signal_one`](crate::signal_one)) and has not been polled since. Takes no lock.
    #[inline]
    pub fn is_signalled(&self) -> bool {
        is_signalled(self.node.state())
    }

    /// Whether a notify has counted it, and it has not been polled since: the next poll is ready. Takes no lock.
    #[inline]
    pub fn is_notified(&self) -> bool {
        self.node.state() == NOTIFIED
    }

    /// Whether the notify that counted it was a [`notify_last`](crate::notify_last). If the wait was cancelled
    /// ([`AfterNotify`](Cancelled::AfterNotify)), its wakeup is then forwarded in the same order. `false` if no notify has counted it.
    pub fn was_notified_last(self: Pin<&mut Self>) -> bool {
        self.node.was_notified_last()
    }

    /// Whether the notify that counted it was for this wait alone ([`notify_one`](crate::notify_one), [`notify_last`](crate::notify_last),
    /// and their forms that may replace the word's value). If the wait was cancelled ([`AfterNotify`](Cancelled::AfterNotify)), its wakeup
    /// then has to be forwarded; of a notify of several, each waiter has a wakeup of its own. `false` if no notify has counted it.
    pub fn was_notified_alone(self: Pin<&mut Self>) -> bool {
        self.node.was_notified_alone()
    }

    /// For building locks: what the waiter held when it was enqueued is released ([`Origin::before_release`]).
    #[inline]
    pub fn released(&self) {
        if self.node.releases() {
            // SAFETY: such a node is queued, so it was pinned; it is not moved here.
            let this = unsafe { Pin::new_unchecked(self) };
            let (_, locked) = this.at.table().lock_of(this.node());
            // A notify may have counted it meanwhile.
            if this.node.releases() {
                this.node.set_released();
            }
            release(locked);
        }
    }

    /// Whether it was moved to another word's queue (`requeue_while_equal`). Once true, it stays true.
    #[inline]
    pub fn is_requeued(&self) -> bool {
        self.is_waiting() && self.is_elsewhere()
    }

    /// Whether it is queued, and no other waiter was on the word when it was enqueued: for a lock, whether the next signal is for it.
    #[inline]
    pub fn was_first(&self) -> bool {
        self.node.was_first()
    }

    /// As [`is_requeued`](Self::is_requeued), for a wait that was enqueued.
    fn is_elsewhere(&self) -> bool {
        self.node.address() != address(&self.at)
    }

    /// As the poll of the future, for building locks: ready with `None` when it was signalled since the last poll. It is
    /// queued as before, and the next signal finds it with this waker. So on `None`, recheck now whether what it waits for is
    /// there: no second signal comes for that.
    pub fn poll_signalled(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        let polled = self.as_ref().poll_outcome(cx);
        if let Poll::Ready(Some(_)) = polled {
            self.as_ref().finish();
        }
        polled
    }

    /// Requests a signal from the watchdog's next pass, as long as a waiter is queued behind this one. For
    /// building locks that reserve something for the head waiter until there is enough of it: a head that found too little has
    /// to show that it still responds, or the waiters behind it cannot have what is there.
    ///
    /// What follows is as after any other signal ([`signal_one`](crate::signal_one)).
    pub fn request_signal(self: Pin<&mut Self>) {
        let this = self.as_ref();
        if this.node.state() == QUEUED {
            let (key, mut locked) = this.at.table().lock_of(this.node());
            locked.request_signal(key, this.node());
            mutant!("watch-request" => return);
            release(locked);
        }
    }

    /// Lets signals pass until the next one of its own: [`signal_past`](crate::signal_past) and the watchdog signal the waiters behind this
    /// one, which keeps its position. For building locks whose waiters do not all wait for the same: a head that cannot have what the
    /// waiters behind it can must not keep it from them.
    pub fn let_pass(self: Pin<&mut Self>) {
        let this = self.as_ref();
        if this.node.state() == QUEUED {
            let (key, mut locked) = this.at.table().lock_of(this.node());
            locked.let_pass(key, this.node());
            release(locked);
        }
    }

    /// The poll without its end: the outcome may be read again until [`finish`](Self::finish), which is called when it has reached the
    /// caller. In between a waker's destructor may panic.
    #[inline]
    pub(crate) fn poll_outcome(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        match self.node.state() {
            // Cloned here because no lock may be held while foreign code runs.
            IDLE => {
                observe::polled(cx.waker());
                self.enqueue(Wake::Task(cx.waker().clone()))
            }
            NOTIFIED => Poll::Ready(Some(Outcome::Notified)),
            state => self.poll_again(state, cx.waker()),
        }
    }

    /// A task that is about to enqueue spins for a moment, if that has paid and no waiter is queued: its partner may be about to change the
    /// word. An acquirer of a lock has spun before it comes here.
    #[inline]
    pub(crate) fn spin(self: Pin<&Self>, waker: &Waker) {
        if is_spin_due() {
            self.spin_while_equal(waker);
        }
    }

    #[cold]
    fn spin_while_equal(self: Pin<&Self>, waker: &Waker) {
        if self.node.state() != IDLE || is_of_thread(waker) {
            return;
        }
        let (word, expected, table) = (self.at.word(), self.node().expects(), self.at.table());
        if load_bits(word) != expected {
            return;
        }
        spin_and_learn(|| match load_bits(word) == expected {
            true => {
                let key = table.key_of(address(&self.at));
                table.shard(key).is_idle(key.hash).then_some(false)
            }
            false => Some(true),
        });
    }

    /// Polled before, and not notified since.
    #[inline(never)]
    fn poll_again(self: Pin<&Self>, state: u64, waker: &Waker) -> Poll<Option<Outcome>> {
        match state {
            DONE => panic!("a wait was polled after it had ended"),
            QUEUED | SIGNAL_REQUESTED | PASSED => self.poll_queued(waker),
            // What it expected was overwritten when it was enqueued. The caller has to recheck, as after any change of the word.
            LOST => Poll::Ready(Some(Outcome::NotEqual)),
            _ => self.replace_waker(waker),
        }
    }

    /// The outcome has reached the caller.
    #[inline]
    pub(crate) fn finish(self: Pin<&Self>) {
        if asks(WAITS) && self.node.state() == NOTIFIED {
            tell_end(End::Notified, self.node(), None);
        }
        self.node.set_done();
    }

    #[inline]
    fn enqueue(self: Pin<&Self>, wake: Wake) -> Poll<Option<Outcome>> {
        let kind = if wake.is_of_thread() { WaiterKind::Thread } else { WaiterKind::Task };
        let who = wake.identity();
        self.node().set_wake(wake);
        let (begins, origin) = (Begins::now(), asks(WAITS).then(|| self.node().origin()));
        if enqueue_while_equal(&self.at, self.node().expects(), self.node()) {
            begins.enqueued(address(&self.at), kind, who, origin);
            if kind == WaiterKind::Task {
                earn();
            }
            return Poll::Pending;
        }
        Poll::Ready(Some(Outcome::NotEqual))
    }

    /// Queued and not signalled: an outcome by now, the same waker, or another.
    fn poll_queued(self: Pin<&Self>, waker: &Waker) -> Poll<Option<Outcome>> {
        // Most are polled again with the waker that they have.
        let will_wake = {
            let (key, mut locked) = self.at.table().lock_of(self.node());
            locked.will_wake(key, self.node(), waker)
        };
        match will_wake {
            None => self.counted(),
            Some(true) => Poll::Pending,
            Some(false) => self.replace_waker(waker),
        }
    }

    /// Sets another waker in place of another task's, or of one that a signal has taken.
    fn replace_waker(self: Pin<&Self>, waker: &Waker) -> Poll<Option<Outcome>> {
        // Clone and drop of a waker are foreign code: cloned before the lock, and the one that is not needed dropped after it.
        let mut new = Wake::Task(waker.clone());
        let was_signalled = {
            let (key, mut locked) = self.at.table().lock_of(self.node());
            locked.exchange_wake(key, self.node(), &mut new)
        };
        // Before the waker that was replaced or not needed is dropped, which may panic.
        let polled = match was_signalled {
            None => self.counted(),
            Some(true) => Poll::Ready(None),
            Some(false) => Poll::Pending,
        };
        drop(new);
        polled
    }

    /// The node left while it was detached: counted, but not completed by the notify.
    fn counted(self: Pin<&Self>) -> Poll<Option<Outcome>> {
        self.node.set_state(NOTIFIED);
        Poll::Ready(Some(Outcome::Notified))
    }

    #[inline]
    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl<L: Location> Future for WaitAsync<L> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.as_ref().spin(cx.waker());
        // A signal ends no wait of this kind.
        match self.poll_signalled(cx) {
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
            // A wakeup is lost here, as documented; `cancel` lets the owner forward it.
            let _ = leave(this.at.table(), this.node(), End::GaveUp);
        }
    }
}

impl<L: Location> fmt::Debug for WaitAsync<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitAsync").field("is_waiting", &self.is_waiting()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::Table;
    use crate::thread::credit;

    /// A word that changes when it is read for the `after`th time from now, in a table of its own, where nobody else is queued.
    struct Changes {
        table: Table,
        word: AtomicU32,
        after: Cell<u32>,
    }

    // SAFETY: both are fields. Nothing panics.
    unsafe impl Location for &Changes {
        type Word = AtomicU32;

        fn word(&self) -> &AtomicU32 {
            self.after.set(self.after.get().wrapping_sub(1));
            if self.after.get() == 0 {
                self.word.store(1, Ordering::SeqCst);
            }
            &self.word
        }

        fn table(&self) -> &Table {
            &self.table
        }
    }

    #[test]
    fn a_task_whose_word_changes_soon_is_answered_before_it_enqueues() {
        let changes = Changes { table: Table::new(), word: AtomicU32::new(0), after: Cell::new(0) };
        let mut cx = Context::from_waker(Waker::noop());
        while !is_spin_due() {
            assert!(pin!(wait_async(&changes, 0)).poll(&mut cx).is_pending());
        }
        let before = credit();
        // Once for the spin, and once for its first check.
        changes.after.set(2);
        assert_eq!(pin!(wait_async(&changes, 0)).poll(&mut cx), Poll::Ready(Outcome::NotEqual));
        assert!(credit() > before, "it has not spun");
    }

    #[test]
    fn a_thread_and_a_task_behind_another_do_not_spin() {
        let (table, word) = (Table::new(), AtomicU32::new(0));
        let at = table.at(&word);
        let mut cx = Context::from_waker(Waker::noop());
        while !is_spin_due() {
            assert!(pin!(wait_async(at, 0)).poll(&mut cx).is_pending());
        }
        let before = credit();
        let parker = crate::Parker::current();
        assert!(pin!(wait_async(at, 0)).poll(&mut Context::from_waker(parker.waker())).is_pending());
        assert_eq!(credit(), before);

        let mut first = pin!(wait_async(at, 0));
        assert!(first.as_mut().poll_signalled(&mut cx).is_pending());
        let before = credit();
        assert!(pin!(wait_async(at, 0)).poll(&mut cx).is_pending());
        // What it costs to find the other waiter.
        assert!((1..=100).contains(&(before - credit())), "{} {}", before, credit());
    }
}
