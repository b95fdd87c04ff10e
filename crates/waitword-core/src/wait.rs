//! The wait of a thread or of a task: compare and enqueue in one step, then wait for an outcome or leave the queue.
//!
//! ```text
//!   waiter                                   notifier
//!   ──────────────────────────────           ──────────────────────────────
//!   lock the word's shard
//!   word == expected? enqueue                word = new
//!   unlock                                   notify: lock, dequeue, unlock
//!   spin, if that has paid                   store the outcome; unpark
//!   until the outcome is there: park
//! ```
//! Without the lock around compare and enqueue, the notifier's two lines could fall in between, and the waiter would
//! sleep on a value that is no longer there.
//!
//! `spin.rs` decides whether a thread spins, and for how long.
//!
//! A task's wait has the same steps, with a waker in place of the parked thread. Its node is part of the pinned future, is enqueued at the
//! first poll, and leaves the queue when the future is dropped at the latest.
//!
//! A wait that must not be enqueued (its timeout is zero, or its thread must not block) ends after the comparison. Even then the word is
//! compared under the lock, so that the wait is ordered after every earlier notify ([`protocol`](crate::protocol), sections 1 and 2).

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr::{NonNull, from_ref};
use std::task::{Context, Poll, Waker};

use self::deadline::Deadline;
use crate::location::{Location, Value, address};
use crate::may_block::may_block;
use crate::observe::{
    self, Caller, DELAYS, End, Ended, Origin, WAITS, WaitsFor, asks, began, ended, nanos_of,
};
use crate::outcome::{Cancelled, Interrupted, Outcome};
use crate::park::{Interrupt, Parker, is_of_thread};
use crate::queue::node::{GONE, IDLE, NOTIFIED, PASSED, QUEUED, REQUESTED, Waiter, is_queued, is_signalled};
use crate::queue::section::Section;
use crate::queue::table::Table;
use crate::spin::{is_spin_due, spin_and_learn};
use crate::sync::mutant;
use crate::time::{Duration, Instant};
use crate::timer::Alarm;
use crate::wake::Wake;
use crate::word::{AnyWord, Word, bits};

/// If the word holds `expected`, blocks until a notify wakes this waiter; otherwise returns [`NotEqual`](Outcome::NotEqual) at once.
///
/// # Blocking
/// Blocks the thread without a deadline: only a notify that wakes this waiter ends the wait.
///
/// # Spinning
/// A notifier on another CPU often notifies within a fraction of the time that a sleep and a wake-up take. So a thread whose earlier
/// waits ended soon spins for up to 50 µs before it sleeps, most often for 2 to 20 µs. In total, a thread spins no longer than the sum of
///
/// - the time that its successful spins have saved, because it did not sleep;
/// - 1/80 of what its sleeps have cost;
/// - a credit of 80 µs, of which each of its first 17 sleeps or so grants a part. So a thread that waits only a few times never spins.
///
/// So where notifies take long, or threads share a CPU, a wait costs what it would cost without spinning. A future spins for up to 1 µs
/// before it enqueues, if that has paid on this thread.
///
/// # Panics
/// If blocking is forbidden on this thread ([`forbid_blocking`](crate::forbid_blocking)) and the word holds `expected`. Use
/// [`wait_async`](crate::wait_async) instead.
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::{Outcome, wait};
///
/// let word = AtomicI32::new(1);
/// assert_eq!(wait(&word, 0), Outcome::NotEqual);
/// ```
#[track_caller]
#[inline]
pub fn wait<L: Location>(at: L, expected: Value<L>) -> Outcome {
    block(Origin::here(WaitsFor::Word), &at, expected, || None, None, "wait_async")
        .unwrap_or(Outcome::TimedOut)
}

/// If the word holds `expected`, blocks until a notify wakes this waiter or `timeout` expires. Otherwise as [`wait`].
///
/// A timeout of zero never blocks: the result is [`NotEqual`](Outcome::NotEqual) or [`TimedOut`](Outcome::TimedOut). A timeout that is too
/// long for [`Instant`] never expires.
///
/// # Panics
/// As [`wait`], unless the timeout is zero. (The `_for` methods of waitword's locks return an error instead.) Where blocking is forbidden,
/// use [`wait_async_for`](crate::wait_async_for).
///
/// ```
/// use std::{sync::atomic::AtomicI32, time::Duration};
/// use waitword_core::{Outcome, wait_for};
///
/// let word = AtomicI32::new(0);
/// assert_eq!(wait_for(&word, 0, Duration::from_millis(1)), Outcome::TimedOut);
/// ```
#[track_caller]
pub fn wait_for<L: Location>(at: L, expected: Value<L>, timeout: Duration) -> Outcome {
    if timeout.is_zero() {
        let is_equal = is_equal(at.table(), at.word(), bits::<L::Word>(expected));
        return if is_equal { Outcome::TimedOut } else { Outcome::NotEqual };
    }
    let deadline = || Instant::now().checked_add(timeout);
    block(Origin::here(WaitsFor::Word), &at, expected, deadline, None, "wait_async_for")
        .unwrap_or(Outcome::TimedOut)
}

/// If the word holds `expected`, blocks until a notify wakes this waiter or `deadline` passes. Otherwise as [`wait`].
///
/// Never returns [`TimedOut`](Outcome::TimedOut) before the deadline. A deadline that has already passed has the effect of a timeout of
/// zero.
///
/// # Panics
/// As [`wait`], unless the deadline has passed. Where blocking is forbidden, use
/// [`wait_async_until`](crate::wait_async_until).
#[track_caller]
pub fn wait_until<L: Location>(at: L, expected: Value<L>, deadline: Instant) -> Outcome {
    block(Origin::here(WaitsFor::Word), &at, expected, || Some(deadline), None, "wait_async_until")
        .unwrap_or(Outcome::TimedOut)
}

/// If the word holds `expected`, blocks until a notify wakes this waiter, `interrupt` is raised or `timeout` expires.
///
/// Otherwise as [`wait_for`], or as [`wait`] without a timeout. For hosts that end the wait of an agent which they terminate. When this
/// returns [`Interrupted`], the waiter has left the queue, and no notify has counted it. This thread must have created `interrupt`: an
/// interrupt of another thread does not wake this one.
///
/// # Errors
/// [`Interrupted`] if the interrupt was raised before a notify counted this waiter.
///
/// # Panics
/// As [`wait`].
///
/// ```
/// use std::sync::atomic::AtomicI32;
/// use waitword_core::{Interrupt, Interrupted, wait_interruptible};
///
/// let word = AtomicI32::new(0);
/// let interrupt = Interrupt::for_current_thread();
/// interrupt.raise();
/// assert_eq!(wait_interruptible(&word, 0, None, &interrupt), Err(Interrupted));
/// ```
#[track_caller]
pub fn wait_interruptible<L: Location>(
    at: L,
    expected: Value<L>,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> Result<Outcome, Interrupted> {
    if timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Ok(wait_for(at, expected, Duration::ZERO));
    }
    let deadline = || Instant::now().checked_add(timeout?);
    block(Origin::here(WaitsFor::Word), &at, expected, deadline, Some(interrupt), "wait_async")
}

/// Blocks as [`wait`] does, or as [`wait_until`] if there is a deadline. For building locks: snapshots show `origin` as the origin of the
/// wait.
///
/// # Panics
/// As [`wait`].
#[track_caller]
pub fn wait_from<L: Location>(
    origin: Origin,
    at: L,
    expected: Value<L>,
    deadline: Option<Instant>,
) -> Outcome {
    block(origin, &at, expected, || deadline, None, "wait_async").unwrap_or(Outcome::TimedOut)
}

/// If the word holds `expected`, waits until a notify wakes this waiter, without blocking the thread; otherwise the future is ready with
/// [`NotEqual`](Outcome::NotEqual) at its first poll.
///
/// The word is compared and the waiter enqueued at the first poll, not at the call. Works with any executor, and the
/// future may move between threads.
///
/// # Cancellation
/// Not cancel-safe. Dropping the future removes the waiter from the queue; if a notify has already counted the waiter, that wakeup is lost.
/// To keep the wakeup, call [`cancel`](WaitAsync::cancel) instead and forward it.
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
pub fn wait_async<L: Location>(at: L, expected: Value<L>) -> WaitAsync<L> {
    wait_async_from(Origin::here(WaitsFor::Word), at, expected)
}

/// Waits as [`wait_async`] does. For building locks: snapshots show `origin` as the origin of the wait.
#[inline]
pub fn wait_async_from<L: Location>(origin: Origin, at: L, expected: Value<L>) -> WaitAsync<L> {
    WaitAsync { node: Waiter::expecting(bits::<L::Word>(expected), Some(origin)), at, deadline: NoDeadline }
}

/// Waits as [`wait_async`] does, for at most `timeout`, counted from this call.
///
/// A timeout that is too long for [`Instant`] never expires. See [`wait_async_until`].
#[track_caller]
pub fn wait_async_for<L: Location>(at: L, expected: Value<L>, timeout: Duration) -> WaitAsync<L, Until> {
    until(Origin::here(WaitsFor::Word), at, expected, Instant::now().checked_add(timeout))
}

/// Waits as [`wait_async`] does, until `deadline` at the latest. Never returns [`TimedOut`](Outcome::TimedOut) before the deadline.
///
/// No executor with a timer is needed: threads of this crate, started with the first deadline, serve the deadlines of all futures of the
/// process. (For the effect of a waker that blocks, see [`Alarm`](crate::Alarm#wakers-that-block).) The outcome is decided when the future
/// is polled. A notify that comes after the deadline but before that poll counts this waiter, and the outcome is
/// [`Notified`](Outcome::Notified).
///
/// # Cancellation
/// As [`wait_async`]. The deadline is removed from the timer at once.
///
/// # Panics
/// When polled again after it was ready. Also at the first poll of the process that needs the timer, if the system cannot start a thread.
#[track_caller]
pub fn wait_async_until<L: Location>(at: L, expected: Value<L>, deadline: Instant) -> WaitAsync<L, Until> {
    until(Origin::here(WaitsFor::Word), at, expected, Some(deadline))
}

fn until<L: Location>(
    origin: Origin,
    at: L,
    expected: Value<L>,
    deadline: Option<Instant>,
) -> WaitAsync<L, Until> {
    let origin = origin.timed(deadline.is_some());
    let deadline = Until { deadline, alarm: Alarm::new() };
    WaitAsync { node: Waiter::expecting(bits::<L::Word>(expected), Some(origin)), at, deadline }
}

/// The future of [`wait_async`]; with [`Until`], that of [`wait_async_for`] and [`wait_async_until`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitAsync<L: Location, D: Deadline = NoDeadline> {
    node: Waiter,
    at: L,
    deadline: D,
}

/// Marks a wait without a deadline: only a notify ends it.
#[derive(Debug)]
pub struct NoDeadline;

/// Marks a wait with a deadline, and contains the alarm that wakes its task then.
#[derive(Debug)]
pub struct Until {
    /// `None`: later than [`Instant`] can hold.
    deadline: Option<Instant>,
    alarm: Alarm,
}

mod deadline {
    //! Private, so that other crates can neither name nor implement the trait.

    use super::{Instant, NoDeadline, Pin, Until, Waker, fmt};

    /// When a wait ends by itself: never ([`NoDeadline`]), or at a deadline ([`Until`]).
    pub trait Deadline: fmt::Debug {
        /// Whether the deadline has passed. If not, the task will be woken when it has.
        fn has_passed(self: Pin<&mut Self>, waker: &Waker) -> bool;

        /// Called when the wait has ended.
        fn clear(self: Pin<&mut Self>);
    }

    impl Deadline for NoDeadline {
        #[inline(always)]
        fn has_passed(self: Pin<&mut Self>, _waker: &Waker) -> bool {
            false
        }

        #[inline(always)]
        fn clear(self: Pin<&mut Self>) {}
    }

    impl Deadline for Until {
        fn has_passed(mut self: Pin<&mut Self>, waker: &Waker) -> bool {
            let Some(deadline) = self.deadline else { return false };
            let now = Instant::now();
            if now < deadline {
                self.as_mut().alarm().set_at(now, deadline, waker);
                return false;
            }
            self.clear();
            true
        }

        fn clear(self: Pin<&mut Self>) {
            self.alarm().clear();
        }
    }
}

impl Until {
    fn alarm(self: Pin<&mut Self>) -> Pin<&mut Alarm> {
        // SAFETY: the alarm is pinned with the whole; it is not moved out, here or in a `Drop` of the whole.
        unsafe { self.map_unchecked_mut(|this| &mut this.alarm) }
    }
}

impl<L: Location, D: Deadline> WaitAsync<L, D> {
    /// Returns the source line that began this wait. A lock passes it on when it begins another wait for the same caller. While the wait
    /// is queued, the line is unknown.
    pub fn caller(self: Pin<&mut Self>) -> Caller {
        let is_queued = is_queued(self.node.state());
        Caller::at(if is_queued { None } else { self.as_ref().node().site() })
    }

    /// Cancels the wait, and returns whether a notify had already counted it.
    ///
    /// The future must not be polled after this.
    pub fn cancel(self: Pin<&mut Self>) -> Cancelled {
        self.leave(End::GaveUp, |table, node| leave(table, node, End::GaveUp))
    }

    /// Cancels the wait because the waiter has acquired what it waited for; otherwise as [`cancel`](Self::cancel). For building locks:
    /// reports count the wait as acquired.
    pub fn cancel_acquired(self: Pin<&mut Self>) -> Cancelled {
        self.leave(End::Acquired, |table, node| leave(table, node, End::Acquired))
    }

    /// Cancels the wait as [`cancel_acquired`](Self::cancel_acquired) does; if no waiter is left on the word then, calls `emptied`.
    ///
    /// The call is in the same critical section, so that a later waiter compares the value that `emptied` has stored. `emptied` may change
    /// the word. It must not wait, notify or unwind.
    pub fn cancel_acquired_and(self: Pin<&mut Self>, emptied: &dyn Fn()) -> Cancelled {
        self.leave(End::Acquired, |table, node| leave_acquired(table, node, emptied))
    }

    /// Cancels a wait that may have been moved to another word's queue (`requeue_while_equal`). As [`cancel`](Self::cancel), but returns
    /// [`AfterRequeue`](Cancelled::AfterRequeue) if the wait had been moved and was not signalled there.
    pub fn cancel_requeueable(mut self: Pin<&mut Self>) -> Cancelled {
        let was_waiting = self.is_waiting();
        match self.as_mut().cancel() {
            Cancelled::BeforeNotify if was_waiting && self.is_elsewhere() => Cancelled::AfterRequeue,
            cancelled => cancelled,
        }
    }

    #[inline(always)]
    fn leave(
        mut self: Pin<&mut Self>,
        end: End,
        leave: impl FnOnce(&Table, Pin<&Waiter>) -> Cancelled,
    ) -> Cancelled {
        self.as_mut().deadline().clear();
        let (this, state) = (self.as_ref(), self.node.state());
        let cancelled = match state {
            NOTIFIED => Cancelled::AfterNotify,
            _ if is_queued(state) => leave(this.at.table(), this.node()),
            _ => Cancelled::BeforeNotify,
        };
        if cancelled == Cancelled::AfterNotify {
            tell_end(end, this.node(), None);
        }
        this.node.set_done();
        cancelled
    }

    /// Returns whether the wait is queued: it was polled, and was neither ready nor cancelled since. (A notify may have counted it
    /// meanwhile.)
    #[inline]
    pub fn is_waiting(&self) -> bool {
        let state = self.node.state();
        is_queued(state) || state == NOTIFIED
    }

    /// Returns whether the waiter was signalled ([`signal_one`](crate::signal_one)) and has not been polled since. Takes no lock.
    #[inline]
    pub fn is_signalled(&self) -> bool {
        is_signalled(self.node.state())
    }

    /// Returns whether a notify has counted the waiter and it has not been polled since, so that the next poll is ready. Takes no lock.
    #[inline]
    pub fn is_notified(&self) -> bool {
        self.node.state() == NOTIFIED
    }

    /// Returns whether the notify that counted the waiter was a [`notify_last`](crate::notify_last).
    ///
    /// If the wait was cancelled ([`AfterNotify`](Cancelled::AfterNotify)), its wakeup then has to be forwarded to the last waiter, too.
    /// `false` if no notify has counted it.
    pub fn was_notified_last(self: Pin<&mut Self>) -> bool {
        self.node.was_notified_last()
    }

    /// Returns whether the notify that counted the waiter was for one waiter only.
    ///
    /// Such notifies are [`notify_one`](crate::notify_one), [`notify_last`](crate::notify_last), and their forms that may replace the word's value.
    /// If the wait was cancelled ([`AfterNotify`](Cancelled::AfterNotify)), its wakeup then has to be forwarded. A notify of several
    /// waiters gives each of them a wakeup of its own. `false` if no notify has counted it.
    pub fn was_notified_alone(self: Pin<&mut Self>) -> bool {
        self.node.was_notified_alone()
    }

    /// Tells snapshots that the lock which the waiter held when it was enqueued is released ([`Origin::before_release`]). For building
    /// locks.
    #[inline]
    pub fn released(&self) {
        if self.node.releases() {
            // SAFETY: such a node is queued, so it was pinned; it is not moved here.
            let this = unsafe { Pin::new_unchecked(self) };
            let _section = this.at.table().section_of(this.node());
            // A notify may have counted it meanwhile.
            if this.node.releases() {
                let waits_for = if this.is_elsewhere() { WaitsFor::Mutex } else { WaitsFor::Condvar };
                this.node.set_waits_for(waits_for);
            }
        }
    }

    /// Returns whether the waiter was moved to another word's queue (`requeue_while_equal`). Once true, it stays true until the wait ends.
    #[inline]
    pub fn is_requeued(&self) -> bool {
        self.is_waiting() && self.is_elsewhere()
    }

    /// Returns whether the wait is queued and was enqueued as the only waiter of its word: for a lock, whether the next signal is for this
    /// waiter.
    #[inline]
    pub fn was_first(&self) -> bool {
        self.node.was_first()
    }

    /// As [`is_requeued`](Self::is_requeued), for a wait that was enqueued.
    fn is_elsewhere(&self) -> bool {
        self.node.key() != self.at.table().key_of(address(&self.at))
    }

    /// Polls the wait. Also ready, with `None`, if the waiter was signalled since the last poll. For building locks.
    ///
    /// After `None` the waiter is still queued, and the next signal wakes it through this waker. So recheck now whether it can acquire: no
    /// second signal comes for the same release.
    #[inline]
    pub fn poll_signalled(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        let polled = self.as_ref().poll_outcome(cx, false);
        if let Poll::Ready(Some(_)) = polled {
            self.as_ref().finish();
        }
        polled
    }

    /// Requests a signal from the next pass of the watchdog, as long as a waiter is queued behind this one.
    ///
    /// For building locks that reserve permits for the head waiter until there are enough. A head that found too few has to show that it
    /// still responds, because the waiters behind it could use the free permits.
    ///
    /// The signal is like any other ([`signal_one`](crate::signal_one)).
    pub fn request_signal(self: Pin<&mut Self>) {
        self.mark(REQUESTED);
    }

    /// Lets signals go past this waiter until it is signalled itself: [`signal_past`](crate::signal_past) and the watchdog signal the
    /// waiters behind it. It keeps its position.
    ///
    /// For building locks whose waiters wait for different things. A head that cannot acquire must not keep the lock from waiters behind it
    /// that can.
    pub fn let_pass(self: Pin<&mut Self>) {
        self.mark(PASSED);
    }

    fn mark(self: Pin<&mut Self>, state: u64) {
        let this = self.as_ref();
        if this.node.state() == QUEUED {
            this.at.table().section_of(this.node()).mark(this.node(), state);
        }
    }

    /// The poll without its end: the outcome stays in the node until [`finish`](Self::finish) is called, once the outcome has reached the
    /// caller. In between a waker's destructor may panic, and then the outcome can be read again.
    ///
    /// A task that is about to enqueue first spins for a moment, because its partner may be about to change the word: if it `spins`,
    /// spinning has paid on this thread, and no waiter is queued. An acquirer of a lock has spun before it comes here.
    #[inline(always)]
    fn poll_outcome(self: Pin<&Self>, cx: &mut Context<'_>, spins: bool) -> Poll<Option<Outcome>> {
        let node = self.node();
        match node.state() {
            IDLE => {
                if spins && is_spin_due() {
                    self.spin_while_equal(cx.waker());
                }
                observe::polled(cx.waker());
                enqueue(self.at.table(), self.at.word(), node, cx.waker())
            }
            NOTIFIED => Poll::Ready(Some(Outcome::Notified)),
            state => poll_again(self.at.table(), node, state, cx.waker()),
        }
    }

    #[cold]
    fn spin_while_equal(self: Pin<&Self>, waker: &Waker) {
        if is_of_thread(waker) {
            return;
        }
        let (expected, table) = (self.node().expects(), self.at.table());
        let is_equal = || bits::<L::Word>(self.at.word().load()) == expected;
        if is_equal() {
            spin_and_learn(|| match is_equal() {
                true => table.is_idle(table.key_of(address(&self.at))).then_some(false),
                false => Some(true),
            });
        }
    }

    /// Called when the outcome has reached the caller.
    #[inline]
    fn finish(self: Pin<&Self>) {
        if asks(WAITS) && self.node.state() == NOTIFIED {
            tell_end(End::Notified, self.node(), None);
        }
        self.node.set_done();
    }

    #[inline]
    fn deadline(self: Pin<&mut Self>) -> Pin<&mut D> {
        // SAFETY: the deadline is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked_mut(|this| &mut this.deadline) }
    }

    #[inline]
    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

/// Polls a wait in this state, which was polled before and has not been notified since.
#[inline(never)]
fn poll_again(table: &Table, node: Pin<&Waiter>, state: u64, waker: &Waker) -> Poll<Option<Outcome>> {
    match state {
        // Most waits are polled again with the waker that they already hold.
        _ if is_signalled(state) => {}
        _ if is_queued(state) => match table.section_of(node).will_wake(node, waker) {
            None => return counted(node),
            Some(true) => return Poll::Pending,
            Some(false) => {}
        },
        // The expected value was overwritten when the node was enqueued. So the caller has to recheck, as after any change of the word.
        GONE => return Poll::Ready(Some(Outcome::NotEqual)),
        _ => panic!("a wait was polled after it had ended"),
    }
    // The new waker replaces that of another task, or one that a signal has taken. Clone and drop of a waker are foreign code, so it is
    // cloned before the lock, and the waker that is not needed is dropped after it.
    let mut new = Wake::Task(waker.clone());
    let was_signalled = table.section_of(node).exchange_wake(node, &mut new);
    // Decided before the waker that was replaced or not needed is dropped, because that may panic.
    let polled = match was_signalled {
        None => counted(node),
        Some(true) => Poll::Ready(None),
        Some(false) => Poll::Pending,
    };
    drop(new);
    polled
}

/// A notify has counted the node. If the node left while it was detached, the notify has not completed it, and its state is set here.
fn counted(node: Pin<&Waiter>) -> Poll<Option<Outcome>> {
    if node.state() == IDLE {
        node.set_state(NOTIFIED);
    }
    Poll::Ready(Some(Outcome::Notified))
}

impl<L: Location, D: Deadline> Future for WaitAsync<L, D> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        // A signal ends no wait of this kind.
        if let Poll::Ready(Some(outcome)) = self.as_ref().poll_outcome(cx, true) {
            self.as_mut().deadline().clear();
            self.as_ref().finish();
            return Poll::Ready(outcome);
        }
        if !self.as_mut().deadline().has_passed(cx.waker()) {
            return Poll::Pending;
        }
        Poll::Ready(match self.cancel() {
            Cancelled::AfterNotify => Outcome::Notified,
            _ => Outcome::TimedOut,
        })
    }
}

impl<L: Location, D: Deadline> Drop for WaitAsync<L, D> {
    fn drop(&mut self) {
        if is_queued(self.node.state()) {
            // SAFETY: queued, so it was pinned; it is not moved from here on.
            let this = unsafe { Pin::new_unchecked(&*self) };
            // A wakeup is lost here, as documented; `cancel` lets the owner forward it.
            let _ = give_up(this.at.table(), this.node());
        }
    }
}

impl<L: Location, D: Deadline> fmt::Debug for WaitAsync<L, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitAsync")
            .field("is_waiting", &self.is_waiting())
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

#[track_caller]
#[inline]
fn block<L: Location>(
    origin: Origin,
    at: &L,
    expected: Value<L>,
    deadline: impl FnOnce() -> Option<Instant>,
    interrupt: Option<&Interrupt>,
    instead: &str,
) -> Result<Outcome, Interrupted> {
    let (table, word, expected) = (at.table(), at.word(), bits::<L::Word>(expected));
    // The comparison under the lock decides. This load only predicts its result, so that a waiter prepares for the queue only if it will
    // probably be enqueued, and does so before it takes the lock.
    let decides_here = bits::<L::Word>(word.load()) != expected || !may_block();
    if decides_here && !is_equal(table, word, expected) {
        return Ok(Outcome::NotEqual);
    }
    block_while_equal(origin, table, word, expected, deadline(), interrupt, instead)
}

/// The rest of [`block`], for a word that was equal a moment ago.
#[track_caller]
#[inline(never)]
fn block_while_equal(
    origin: Origin,
    table: &Table,
    word: &AnyWord<'_>,
    expected: u64,
    deadline: Option<Instant>,
    interrupt: Option<&Interrupt>,
    instead: &str,
) -> Result<Outcome, Interrupted> {
    if !may_block() {
        let is_over = deadline.is_some_and(|deadline| deadline <= Instant::now());
        assert!(
            is_over,
            "would block, and blocking is forbidden on this thread (`forbid_blocking`): use `{instead}`"
        );
        return Ok(Outcome::TimedOut);
    }
    let parker = Parker::current();
    // These wakers are ours: to clone one runs no foreign code.
    let waker = interrupt.and_then(|interrupt| interrupt.waker(&parker)).unwrap_or(parker.waker());
    let origin = origin.timed(deadline.is_some());
    let node = pin!(Waiter::expecting(expected, Some(origin)));
    let node = node.as_ref();
    let queued = Queued { table, node, interrupt };
    if enqueue(table, word, node, waker).is_ready() {
        return Ok(Outcome::NotEqual);
    }
    if queued.is_queued() {
        parker.spin(deadline, || node.state() != QUEUED || interrupt.is_some_and(Interrupt::is_raised));
    }
    // This loop does not drive a future, because a poll of a queued wait takes the shard's lock to compare wakers. Here the waker is always
    // the same, so a load of the node's state is enough. And there may be an interrupt.
    loop {
        // Read the signal before the outcome. A signal takes the waker out of the node, so a notify after it cannot wake us:
        // acknowledge the signal, which puts a waker back, before parking.
        let is_signalled = is_signalled(node.state());
        if !queued.is_queued() {
            tell_end(End::Notified, node, None);
            return Ok(Outcome::Notified);
        }
        if interrupt.is_some_and(Interrupt::is_raised) {
            return queued.leave().ok_or(Interrupted);
        }
        if is_signalled {
            // A signal ends no wait of this kind.
            let _ = table.section_of(node).exchange_wake(node, &mut Wake::Task(waker.clone()));
            continue;
        }
        match deadline {
            None => parker.park(),
            Some(deadline) if Instant::now() < deadline => parker.park_until(deadline),
            Some(_) => return Ok(queued.leave().unwrap_or(Outcome::TimedOut)),
        }
    }
}

/// A node on this stack. Dropping this removes the node from its queue, also when the stack unwinds.
struct Queued<'a> {
    table: &'a Table,
    node: Pin<&'a Waiter>,
    interrupt: Option<&'a Interrupt>,
}

impl Queued<'_> {
    fn is_queued(&self) -> bool {
        let is_queued = || is_queued(self.node.state());
        self.interrupt.map_or_else(is_queued, |interrupt| interrupt.note(is_queued))
    }

    /// Gives up. `Some(Notified)` if a notify was faster.
    fn leave(&self) -> Option<Outcome> {
        (give_up(self.table, self.node) == Cancelled::AfterNotify).then_some(Outcome::Notified)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if is_queued(self.node.state()) {
            // The stack unwinds: nobody can use a wakeup, nor read the outcome.
            let _ = self.leave();
        }
        if let Some(interrupt) = self.interrupt {
            interrupt.note(|| false);
        }
    }
}

/// Whether the word holds `expected`, compared in a section of its own.
#[inline(never)]
fn is_equal(table: &Table, word: &AnyWord<'_>, expected: u64) -> bool {
    let _section = table.section(table.key_of(from_ref(word).addr()));
    word.load_bits() == expected
}

/// Compares the word, and enqueues an idle node, to be woken by `waker`, if the word holds what the node expects; otherwise is ready with
/// [`NotEqual`](Outcome::NotEqual). Compiled once for all types of words, for threads and tasks.
#[inline(never)]
fn enqueue(table: &Table, word: &AnyWord<'_>, node: Pin<&Waiter>, waker: &Waker) -> Poll<Option<Outcome>> {
    // Cloned here because no lock may be held while foreign code runs.
    node.init_wake(Wake::Task(waker.clone()));
    // SAFETY: idle and pinned; it leaves before its memory goes, in the drop of `Queued` or of `WaitAsync` (I1).
    match unsafe { enqueue_while_equal(table, word, node.expects(), node.pointer()) } {
        true => Poll::Pending,
        false => Poll::Ready(Some(Outcome::NotEqual)),
    }
}

/// Compares the word, and enqueues the node, whose wake has been set, if the word holds `expected`. Returns whether it did.
///
/// # Safety
/// As [`Section::enqueue`](crate::queue::section::Section::enqueue).
#[inline(always)]
pub(crate) unsafe fn enqueue_while_equal(
    table: &Table,
    word: &AnyWord<'_>,
    expected: u64,
    node: NonNull<Waiter>,
) -> bool {
    let address = from_ref(word).addr();
    // SAFETY: idle and pinned, as the caller guarantees.
    let begun = asks(WAITS).then(|| unsafe { Pin::new_unchecked(node.as_ref()) }.begun(address));
    let key = table.key_of(address);
    mutant!("compare-under-lock" => {
        let is_equal = word.load_bits() == expected;
        // SAFETY: as below.
        is_equal.then(|| unsafe { table.section(key).enqueue(node) });
        return is_equal;
    });
    // The lock is operation W: from here on, the load sees the store of every notify that finds the shard vacant (its fence N).
    let mut section = table.section(key);
    if word.load_bits() != expected {
        return false;
    }
    // SAFETY: as the caller guarantees.
    unsafe { section.enqueue(node) };
    drop(section);
    begun.iter().for_each(began);
    true
}

/// Removes a queued node from its queue. If no notify has counted it, reports to the observer that its wait has come to this `end`.
/// Afterwards its memory may be freed, unless it is in an inbox.
#[inline(never)]
pub(crate) fn leave(table: &Table, node: Pin<&Waiter>, end: End) -> Cancelled {
    leave_and(table, node, end, |_| ())
}

/// As [`leave`], for a waiter that has acquired what it waited for. Calls `emptied` under the lock of the queue, if no waiter is left
/// there.
#[inline(never)]
fn leave_acquired(table: &Table, node: Pin<&Waiter>, emptied: &dyn Fn()) -> Cancelled {
    leave_and(table, node, End::Acquired, |mut section| {
        if section.is_empty() {
            mutant!("leave-emptied" => {
                drop(section);
                return emptied();
            });
            emptied();
        }
    })
}

#[inline(always)]
fn leave_and(table: &Table, node: Pin<&Waiter>, end: End, finish: impl FnOnce(Section<'_>)) -> Cancelled {
    let mut section = table.section_of(node);
    let left = left_queue(&node);
    let cancelled = section.leave(node);
    finish(section);
    if cancelled != Cancelled::AfterNotify {
        tell_end(end, node, left);
    }
    cancelled
}

/// As [`leave`], for a waiter that gives up and whose node is in no inbox.
#[inline(always)]
fn give_up(table: &Table, node: Pin<&Waiter>) -> Cancelled {
    let cancelled = leave(table, node, End::GaveUp);
    if cancelled == Cancelled::AfterNotify {
        tell_end(End::GaveUp, node, None);
    }
    cancelled
}

/// What a waiter that is about to leave its queue waited for, and since when, if an observer asks for that. Called under the lock of that
/// queue.
#[inline(always)]
pub(crate) fn left_queue(node: &Waiter) -> Option<(WaitsFor, Option<u64>)> {
    asks(DELAYS).then(|| (node.waits_for(), nanos_of(node.ticket())))
}

/// Reports the end of a wait to the observer. The node is no longer queued, and is in no inbox.
#[inline(always)]
pub(crate) fn tell_end(end: End, node: Pin<&Waiter>, left: Option<(WaitsFor, Option<u64>)>) {
    ended(|| Ended { end, word: node.key().address(), who: node.who(), site: node.site(), left });
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::Table;
    use crate::spin::waits_left;

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
        // Once for the spin, and once for its first check.
        changes.after.set(2);
        assert_eq!(pin!(wait_async(&changes, 0)).poll(&mut cx), Poll::Ready(Outcome::NotEqual));
        assert_eq!(waits_left(), 0, "it has not spun, or learned nothing");
    }

    /// The notify comes between the load of the state and the lock.
    #[test]
    fn a_poll_beside_a_notify_leaves_known_that_it_was_for_this_wait_alone() {
        let (table, word) = (Table::new(), AtomicU32::new(0));
        let at = table.at(&word);
        let mut waiting = pin!(wait_async(at, 0));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(crate::notify_last(at), 1);
        let node = waiting.as_ref().node();
        assert_eq!(poll_again(&table, node, QUEUED, Waker::noop()), Poll::Ready(Some(Outcome::Notified)));
        assert!(waiting.as_mut().was_notified_alone() && waiting.as_mut().was_notified_last());
    }

    #[test]
    fn a_thread_and_a_task_behind_another_do_not_spin() {
        let (table, word) = (Table::new(), AtomicU32::new(0));
        let at = table.at(&word);
        let mut cx = Context::from_waker(Waker::noop());
        while !is_spin_due() {
            assert!(pin!(wait_async(at, 0)).poll(&mut cx).is_pending());
        }
        let parker = crate::Parker::current();
        assert!(pin!(wait_async(at, 0)).poll(&mut Context::from_waker(parker.waker())).is_pending());
        assert_eq!(waits_left(), 0, "a thread has spun, or learned, as if it were a task");

        let mut first = pin!(wait_async(at, 0));
        assert!(first.as_mut().poll_signalled(&mut cx).is_pending());
        assert!(pin!(wait_async(at, 0)).poll(&mut cx).is_pending());
        assert_eq!(waits_left(), 100, "it has spun behind another");
    }
}
