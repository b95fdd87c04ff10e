//! The condition variable of 0.12: waitword's, with the guards of this crate.

use std::fmt;
use std::time::{Duration, Instant};

use crate::MutexGuard;

/// Whether a wait ended because its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was up, and no notify had counted the wait.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// Waits for changes of what a [`Mutex`](crate::Mutex) protects. All waiters at a time have to use the same mutex.
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
    /// A condition variable without waiters.
    pub const fn new() -> Self {
        Self(waitword::Condvar::new())
    }

    /// Notifies the thread that has waited longest. Returns whether there is one.
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    /// Notifies all threads that wait. Returns how many.
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.0.notify_all()
    }

    /// Waits for a notify, with the mutex released.
    ///
    /// # Panics
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_until_any(guard, None);
    }

    /// As [`wait`](Self::wait), until `deadline` at the latest.
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_until_any(guard, Some(deadline))
    }

    /// As [`wait`](Self::wait), for `timeout` at the longest.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        self.wait_until_any(guard, Instant::now().checked_add(timeout))
    }

    /// Waits while `condition` holds of the value.
    #[track_caller]
    pub fn wait_while<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
    ) {
        self.wait_while_until_any(guard, condition, None);
    }

    /// As [`wait_while`](Self::wait_while), until `deadline` at the latest. After it, `condition` is not asked once more: that came with 0.13.
    #[track_caller]
    pub fn wait_while_until<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_while_until_any(guard, condition, Some(deadline))
    }

    /// As [`wait_while_until`](Self::wait_while_until), for `timeout` at the longest.
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
        // SAFETY: of `raw`: nothing releases the mutex in between but the wait, which has it again when it returns. Of `wait`: the guard says
        // that the caller holds it, and is borrowed.
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
