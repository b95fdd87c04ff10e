//! The condition variable of parking_lot 0.12: waitword's `Condvar`, used with the guards of this crate.

use std::fmt;
use std::time::{Duration, Instant};

use crate::MutexGuard;

/// The result of a wait with a timeout: whether the wait timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the wait timed out: no notify counted it before the deadline.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// A condition variable: blocks threads until another thread notifies them of a change of the value in a [`Mutex`](crate::Mutex).
///
/// All concurrent waiters have to use the same mutex. There are no spurious wakeups.
///
/// ```
/// use parking_lot::{Condvar, Mutex};
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| changed.wait_while(&mut ready.lock(), |ready| !*ready));
///     *ready.lock() = true;
///     changed.notify_one();
/// });
/// ```
#[derive(Default)]
pub struct Condvar(waitword::Condvar);

impl Condvar {
    /// Creates a condition variable without waiters.
    pub const fn new() -> Self {
        Self(waitword::Condvar::new())
    }

    /// Wakes the thread that has waited longest. Returns `true` if there was a waiter.
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    /// Wakes all waiting threads, and returns how many it woke.
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.0.notify_all()
    }

    /// Releases the mutex, blocks this thread until notified, and locks the mutex again.
    ///
    /// # Panics
    /// - If other waiters use another mutex.
    /// - If blocking is forbidden on this thread (`waitword::forbid_blocking`).
    ///
    /// In both cases the mutex is still held.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_until_any(guard, None);
    }

    /// Releases the mutex, blocks this thread until notified or until `deadline`, and locks the mutex again.
    ///
    /// Where blocking is forbidden, the result is a timeout at once.
    ///
    /// # Panics
    /// If other waiters use another mutex. The mutex of `guard` is still held.
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_until_any(guard, Some(deadline))
    }

    /// Releases the mutex, blocks this thread until notified or until `timeout` has elapsed, and locks the mutex again.
    ///
    /// A timeout beyond what [`Instant`] can hold never expires. For the rest, see [`wait_until`](Self::wait_until).
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        self.wait_until_any(guard, Instant::now().checked_add(timeout))
    }

    /// Blocks this thread while `condition` returns `true` for the value in the mutex. Returns at once if it returns `false`.
    ///
    /// # Panics
    /// As [`wait`](Self::wait) does, and if `condition` panics.
    #[track_caller]
    pub fn wait_while<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
    ) {
        self.wait_while_until_any(guard, condition, None);
    }

    /// Blocks this thread while `condition` returns `true` for the value in the mutex, until `deadline` at the latest.
    ///
    /// After a timeout, `condition` is not called again. (parking_lot calls it once more since 0.13.)
    ///
    /// # Panics
    /// As [`wait_until`](Self::wait_until) does, and if `condition` panics.
    #[track_caller]
    pub fn wait_while_until<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_while_until_any(guard, condition, Some(deadline))
    }

    /// Blocks this thread while `condition` returns `true` for the value in the mutex, for at most `timeout`.
    ///
    /// A timeout beyond what [`Instant`] can hold never expires. For the rest, see [`wait_while_until`](Self::wait_while_until).
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_while_until_any(guard, condition, Instant::now().checked_add(timeout))
    }

    #[track_caller]
    fn wait_until_any<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult {
        // SAFETY: of `raw`: only the wait releases the mutex in between, and the mutex is held again when the wait returns. Of `wait`: the guard
        // proves that the caller holds the mutex, and is borrowed, so nobody uses the value meanwhile.
        WaitTimeoutResult(unsafe { MutexGuard::mutex(guard).raw().wait(&self.0, deadline) })
    }

    #[track_caller]
    fn wait_while_until_any<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(guard) {
            result = self.wait_until_any(guard, deadline);
        }
        result
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
