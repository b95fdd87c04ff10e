//! Deadlines of async waits.
//!
//! The timer knows nothing of the queue. It wakes the task; the future, polled, finds that its deadline has passed, and tries to leave the
//! queue (`queue/section.rs`), where all ties with a notify are decided.
//!
//! A deadline is a node of the pinned [`Alarm`]; the lock of the deadlines (`deadlines.rs`) owns its links while it is in the
//! wheel (`wheel.rs`), and its waker while the alarm is set. `callers.rs` has the threads that check the wheel and call
//! the wakers that are due.

use crate::time::Instant;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;

use super::callers::clock_of_callers;
use super::deadlines::DEADLINES;
use super::wheel::Node;
use crate::wake::discard_panic_of;

/// Wakes a task at a given time: part of every future with a deadline.
///
/// It holds one deadline at a time, allocates nothing, and is cleared when it is dropped.
///
/// # Precision
/// An alarm is never early. It is late by up to 1/16 of the time that was left when it was set, and by at most 2.1 ms, so that alarms that
/// are due at about the same time share one wake-up of a thread. A timeout of 1 ms takes up to 1.06 ms, and one of 1 s up to 1.0021 s, plus
/// the time that the system takes to wake a thread.
///
/// # Wakers that block
/// The alarms of the process are served by one thread at a time, which calls the wakers. If a waker does not return within 5 ms, another
/// thread takes over: other deadlines, and the watchdog of waiters that are never polled, are delayed by those 5 ms, and by as much again
/// for each further waker that blocks. Threads are started on demand: one with the first alarm, a second one when the first alarm is due,
/// and one more for each waker that blocks, up to 32 in all. While 32 wakers block, deadlines wait until one of them returns.
///
/// A waker that a *notify* calls runs on the notifying thread, and blocks that thread.
///
/// ```
/// use std::future::poll_fn;
/// use std::pin::pin;
/// use std::task::Poll;
/// use std::time::{Duration, Instant};
/// use waitword_core::Alarm;
///
/// # smol::block_on(async {
/// let deadline = Instant::now() + Duration::from_millis(5);
/// let mut alarm = pin!(Alarm::new());
/// poll_fn(|cx| {
///     if Instant::now() >= deadline {
///         return Poll::Ready(());
///     }
///     alarm.as_mut().set(deadline, cx.waker());
///     Poll::Pending
/// })
/// .await;
/// # });
/// ```
pub struct Alarm {
    /// Whether the timer may have a pointer to the node: it was set, and not cleared since.
    set: bool,
    node: UnsafeCell<Node>,
    _pinned: PhantomPinned,
}

// SAFETY: while the node is in the wheel it is reached only under the timer's lock; otherwise by the owner, through
// `Pin<&mut Self>`. A `Waker` is `Send`.
unsafe impl Send for Alarm {}
// SAFETY: `&Alarm` gives access to nothing but `set`, which only `Pin<&mut Self>` writes.
unsafe impl Sync for Alarm {}

impl Alarm {
    /// Creates an alarm that is not set.
    pub const fn new() -> Self {
        Self { set: false, node: UnsafeCell::new(Node::new()), _pinned: PhantomPinned }
    }

    /// Sets the alarm: `waker` is woken at `deadline` or soon after. Replaces what was set before.
    ///
    /// # Panics
    /// If the timer has no thread yet and the system cannot start one.
    pub fn set(self: Pin<&mut Self>, deadline: Instant, waker: &Waker) {
        self.set_at(Instant::now(), deadline, waker);
    }

    /// As [`set`](Self::set), for a caller that has read the clock already.
    ///
    /// # Panics
    /// As [`set`](Self::set).
    pub(crate) fn set_at(self: Pin<&mut Self>, now: Instant, deadline: Instant, waker: &Waker) {
        let is_set = self.try_set_at(now, deadline, waker);
        assert!(is_set, "cannot start the timer thread, which the deadlines of futures need");
    }

    /// As [`set_at`](Self::set_at), but returns `false` if there is no thread for the timer; nothing is set then.
    #[inline]
    pub(crate) fn try_set_at(self: Pin<&mut Self>, now: Instant, deadline: Instant, waker: &Waker) -> bool {
        let mut waker = Some(waker.clone());
        let Some(clock) = clock_of_callers() else { return false };
        let (now, deadline) = (clock.passed(now), clock.from(deadline));
        let (set, node) = self.project();
        *set = true;
        // SAFETY: pinned, and `clear` takes it out before its memory is freed.
        let unpark = unsafe { DEADLINES.lock().insert(node, now, deadline, &mut waker) };
        // Before any foreign code: the wakers of other deadlines may rely on the thread to check this early.
        unpark.unpark();
        // The waker that was set before: its drop is foreign code, so after the lock.
        drop(waker);
        true
    }

    /// Clears the alarm.
    pub fn clear(self: Pin<&mut Self>) {
        let (set, node) = self.project();
        if std::mem::take(set) {
            // SAFETY: it was set, so it is pinned and alive.
            let waker = unsafe { DEADLINES.lock().remove(node) };
            drop(waker);
        }
    }

    fn project(self: Pin<&mut Self>) -> (&mut bool, NonNull<Node>) {
        // SAFETY: nothing is moved; the node is only handed on as a pointer.
        let this = unsafe { self.get_unchecked_mut() };
        // A cell's pointer is never null.
        (&mut this.set, NonNull::new(this.node.get()).expect("the address of a field"))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: if it was set it was pinned, and it is not moved from here on.
        let alarm = unsafe { Pin::new_unchecked(self) };
        if std::thread::panicking() {
            // Perhaps this very waker has panicked, because the wait beside it holds a clone. A second panic would abort the process.
            discard_panic_of(|| alarm.clear());
        } else {
            alarm.clear();
        }
    }
}

impl Default for Alarm {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("set", &self.set).finish_non_exhaustive()
    }
}
