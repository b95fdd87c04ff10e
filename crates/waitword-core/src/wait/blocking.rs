//! The blocking wait: compare, enqueue, spin or park, outcome.
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
//! How long it spins follows from what spinning has earned before (`thread/spin.rs`).

use crate::time::{Duration, Instant};
use std::pin::{Pin, pin};
use std::task::Waker;

use crate::observe::{Begins, End, Origin, WaiterKind, WaitsFor};
use crate::table::enqueue::{enqueue_while_equal, lock_if_equal};
use crate::table::enqueue::{leave, tell_end};
use crate::table::{Location, Table, address};
use crate::thread::{Interrupt, Parker, may_block};
use crate::waiter::node::{QUEUED, Waiter, is_queued, is_signalled};
use crate::waiter::wake::Wake;
use crate::waiter::{Cancelled, Interrupted, Outcome};
use crate::word::{Word, bits, load_bits};

/// Blocks the thread until it is notified, if the word holds `expected`; otherwise returns
/// [`NotEqual`](Outcome::NotEqual) at once.
///
/// # Blocking
/// Sleeps; nothing but a notify that counts this waiter ends it.
///
/// # Spinning
/// To sleep and be woken takes many times as long as a partner that runs on another CPU needs to answer. A thread whose
/// earlier waits showed that answers come soon therefore stays awake for up to 50 µs before it sleeps, most often for 2 to 20 µs. That time
/// was saved before by not sleeping, except for 80 µs in the thread's life and an eightieth of what its sleeps cost; so where answers take
/// long, or threads share a CPU, waiting costs what it costs without spinning. A thread that waits only a few times never spins. A future
/// spins for a microsecond before it enqueues, where that has paid.
///
/// # Panics
/// If the thread must not block ([`forbid_blocking`](crate::forbid_blocking)) and the word holds `expected`: use
/// [`wait_async`](crate::wait_async) there.
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
pub fn wait<L: Location>(at: L, expected: <L::Word as Word>::Value) -> Outcome {
    block(Origin::here(WaitsFor::Word), &at, expected, Limit::Never, None, "wait_async")
        .unwrap_or(Outcome::TimedOut)
}

/// As [`wait`], for at most `timeout`.
///
/// A timeout of zero returns [`NotEqual`](Outcome::NotEqual) or [`TimedOut`](Outcome::TimedOut) and never blocks; one beyond what
/// [`Instant`] can hold never expires.
///
/// # Panics
/// As [`wait`], unless the timeout is zero; the method to use instead is [`wait_async_for`](crate::wait_async_for).
///
/// ```
/// use std::{sync::atomic::AtomicI32, time::Duration};
/// use waitword_core::{Outcome, wait_for};
///
/// let word = AtomicI32::new(0);
/// assert_eq!(wait_for(&word, 0, Duration::from_millis(1)), Outcome::TimedOut);
/// ```
#[track_caller]
pub fn wait_for<L: Location>(at: L, expected: <L::Word as Word>::Value, timeout: Duration) -> Outcome {
    block(Origin::here(WaitsFor::Word), &at, expected, Limit::For(timeout), None, "wait_async_for")
        .unwrap_or(Outcome::TimedOut)
}

/// As [`wait`], until `deadline` at the latest, and never [`TimedOut`](Outcome::TimedOut) before it.
///
/// A deadline that has passed returns as a timeout of zero does.
///
/// # Panics
/// As [`wait`]; the method to use instead is [`wait_async_until`](crate::wait_async_until).
#[track_caller]
pub fn wait_until<L: Location>(at: L, expected: <L::Word as Word>::Value, deadline: Instant) -> Outcome {
    block(Origin::here(WaitsFor::Word), &at, expected, Limit::Until(deadline), None, "wait_async_until")
        .unwrap_or(Outcome::TimedOut)
}

/// As [`wait`], or as [`wait_for`] if there is a timeout, ended also by `interrupt`: how a host ends the wait of an agent
/// that it terminates.
///
/// The interrupted waiter has left the queue when this returns, and no notify has counted it. The interrupt has to be one
/// that this thread made; another thread's does not wake this one.
///
/// # Errors
/// [`Interrupted`] when the interrupt was raised before a notify counted this waiter.
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
    expected: <L::Word as Word>::Value,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> Result<Outcome, Interrupted> {
    block(
        Origin::here(WaitsFor::Word),
        &at,
        expected,
        timeout.map_or(Limit::Never, Limit::For),
        Some(interrupt),
        "wait_async",
    )
}

/// As [`wait`], or as [`wait_until`] if there is a deadline, for building locks: snapshots show the wait as one of `origin`.
///
/// # Panics
/// As [`wait`].
#[track_caller]
pub fn wait_from<L: Location>(
    origin: Origin,
    at: L,
    expected: <L::Word as Word>::Value,
    deadline: Option<Instant>,
) -> Outcome {
    let limit = deadline.map_or(Limit::Never, Limit::Until);
    block(origin, &at, expected, limit, None, "wait_async").unwrap_or(Outcome::TimedOut)
}

/// How long a wait may last.
#[derive(Clone, Copy)]
enum Limit {
    Never,
    For(Duration),
    Until(Instant),
}

impl Limit {
    /// The deadline, counted from now. `None`: later than [`Instant`] can hold.
    fn deadline(self) -> Option<Instant> {
        match self {
            Self::Never => None,
            Self::For(timeout) => Instant::now().checked_add(timeout),
            Self::Until(deadline) => Some(deadline),
        }
    }
}

#[track_caller]
fn block<L: Location>(
    origin: Origin,
    at: &L,
    expected: <L::Word as Word>::Value,
    limit: Limit,
    interrupt: Option<&Interrupt>,
    instead: &str,
) -> Result<Outcome, Interrupted> {
    let expected = bits::<L::Word>(expected);
    // The comparison under the lock decides. This load only predicts its result, so that a waiter prepares for the queue only if it will
    // probably be enqueued, and does so before it takes the lock.
    let is_zero = matches!(limit, Limit::For(Duration::ZERO));
    let decides_here = is_zero || load_bits(at.word()) != expected || !may_block();
    if decides_here && lock_if_equal(at, expected).is_none() {
        return Ok(Outcome::NotEqual);
    }
    if is_zero {
        return Ok(Outcome::TimedOut);
    }
    block_while_equal(origin, at, expected, limit, interrupt, instead)
}

/// The rest of [`block`], for a word that was equal a moment ago.
#[track_caller]
#[inline(never)]
fn block_while_equal<L: Location>(
    origin: Origin,
    at: &L,
    expected: u64,
    limit: Limit,
    interrupt: Option<&Interrupt>,
    instead: &str,
) -> Result<Outcome, Interrupted> {
    if !may_block() {
        return Ok(refused(limit, instead));
    }
    let parker = Parker::current();
    // These wakers are ours: to clone one runs no foreign code.
    let waker = interrupt.and_then(|interrupt| interrupt.waker(&parker)).unwrap_or(parker.waker());
    let is_timed = !matches!(limit, Limit::Never);
    let node = pin!(Waiter::new(Some(origin.timed(is_timed))));
    let node = node.as_ref();
    node.set_wake(Wake::Task(waker.clone()));
    let begins = Begins::now();
    if !enqueue_while_equal(at, expected, node) {
        return Ok(Outcome::NotEqual);
    }
    begins.enqueued(address(at), WaiterKind::Thread, waker.data().addr(), Some(origin));

    let queued = Queued { table: at.table(), node, interrupt };
    let deadline = limit.deadline();
    if queued.is_queued() {
        parker.spin(deadline, || node.state() != QUEUED || interrupt.is_some_and(Interrupt::is_raised));
    }
    // Not the loop that drives a future: a poll of a queued wait takes the shard's lock to compare wakers. This waker is always the
    // same, so a load of the node's state does instead; and there may be an interrupt.
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
            queued.acknowledge(waker);
            continue;
        }
        match deadline {
            None => parker.park(),
            Some(deadline) if Instant::now() < deadline => parker.park_until(deadline),
            Some(_) => return Ok(queued.leave().unwrap_or(Outcome::TimedOut)),
        }
    }
}

/// The end of a wait whose thread must not block: a timeout if the deadline has passed, a panic otherwise.
#[cold]
#[track_caller]
fn refused(limit: Limit, instead: &str) -> Outcome {
    match limit {
        Limit::Until(deadline) if Instant::now() >= deadline => Outcome::TimedOut,
        _ => panic!("this thread must not block (`forbid_blocking`): use `{instead}` here"),
    }
}

/// A queued node on this stack. It leaves when this is dropped, also when the stack unwinds.
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

    /// Goes on waiting after a signal (`notify/signal.rs`), which ends no wait of this kind but has taken the waker.
    fn acknowledge(&self, waker: &Waker) {
        let mut wake = Wake::Task(waker.clone());
        let (key, mut locked) = self.table.lock_of(self.node);
        locked.exchange_wake(key, self.node, &mut wake);
        drop(locked);
    }

    /// Gives up. `Some(Notified)` if a notify was faster.
    fn leave(&self) -> Option<Outcome> {
        match leave(self.table, self.node, End::GaveUp) {
            Cancelled::AfterNotify => Some(Outcome::Notified),
            Cancelled::BeforeNotify | Cancelled::AfterSignal | Cancelled::AfterRequeue => None,
        }
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
