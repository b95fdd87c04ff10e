//! The ways to wait for threads: once and while a condition holds, without a deadline and with one. For tasks: `tasks.rs`.

use std::pin::pin;
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::Caller;
use waitword_core::{Parker, may_block};

use crate::acquire::held::{WasSent, held_by_thread};
use crate::condvar::Condvar;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::{RawCondvar, Waiting};
use crate::drive::drive;
use crate::error::{LockError, would_block};
use crate::handle::HasRaw as _;
use crate::holders::not_kept;
use crate::kept::Keeper as _;

impl Condvar {
    /// Releases the mutex, blocks this thread until notified, and locks the mutex again.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         *ready.lock() = true;
    ///         changed.notify_one();
    ///     });
    ///     let mut guard = ready.lock();
    ///     while !*guard {
    ///         changed.wait(&mut guard);
    ///     }
    /// });
    /// ```
    ///
    /// # Panics
    /// - If this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use [`wait_async`](Self::wait_async) there.
    /// - If other waiters use another mutex.
    ///
    /// In both cases the mutex is still held.
    #[doc(alias = "pthread_cond_wait")]
    #[track_caller]
    pub fn wait<G: CondvarGuard>(&self, guard: &mut G) {
        if !may_block() {
            would_block("wait_async");
        }
        // Without a deadline the wait ends only by a notify.
        let _ = block(&self.raw, guard, None);
    }

    /// Releases the mutex, blocks this thread until notified or until `timeout` has elapsed, and locks the mutex again.
    ///
    /// A timeout beyond what [`Instant`] can hold never expires.
    ///
    /// # Errors
    /// As with [`wait_until`](Self::wait_until).
    ///
    /// # Panics
    /// If other waiters use another mutex. The guard's mutex is still held.
    #[doc(alias("wait_timeout", "pthread_cond_timedwait"))]
    #[track_caller]
    pub fn wait_for<G: CondvarGuard>(&self, guard: &mut G, timeout: Duration) -> Result<(), LockError> {
        block(&self.raw, guard, Instant::now().checked_add(timeout))
    }

    /// Releases the mutex, blocks this thread until notified or until `deadline`, and locks the mutex again.
    ///
    /// After the deadline it blocks for as long as it takes to lock the mutex, which is held in any case when this returns.
    ///
    /// ```
    /// use std::time::Instant;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let mutex = Mutex::new(());
    /// let mut guard = mutex.lock();
    /// assert_eq!(Condvar::new().wait_until(&mut guard, Instant::now()), Err(LockError::TimedOut));
    /// ```
    ///
    /// # Errors
    /// - [`TimedOut`](LockError::TimedOut), never before the deadline, and only if no notify has counted this wait.
    /// - [`BlockingForbidden`](LockError::BlockingForbidden), at once, on a thread that must not block.
    ///
    /// # Panics
    /// If other waiters use another mutex. The guard's mutex is still held.
    #[doc(alias = "wait_deadline")]
    #[track_caller]
    pub fn wait_until<G: CondvarGuard>(&self, guard: &mut G, deadline: Instant) -> Result<(), LockError> {
        block(&self.raw, guard, Some(deadline))
    }

    /// Blocks this thread while `condition` returns `true` for the value in the mutex. Returns at once if it returns `false`.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (letters, arrived) = (Mutex::new(Vec::new()), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         letters.lock().push("a letter");
    ///         arrived.notify_one();
    ///     });
    ///     let mut letters = letters.lock();
    ///     arrived.wait_while(&mut letters, |letters| letters.is_empty());
    ///     assert_eq!(*letters, ["a letter"]);
    /// });
    /// ```
    ///
    /// # Panics
    /// As [`wait`](Self::wait) does, and if `condition` panics. The mutex is held in any case.
    #[track_caller]
    pub fn wait_while<G: CondvarGuard>(
        &self,
        guard: &mut G,
        mut condition: impl FnMut(&mut G::Target) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// Blocks this thread while `condition` returns `true` for the value in the mutex, for at most `timeout`.
    ///
    /// # Errors
    /// As with [`wait_while_until`](Self::wait_while_until).
    ///
    /// # Panics
    /// As with [`wait_while_until`](Self::wait_while_until).
    #[doc(alias = "wait_timeout_while")]
    #[track_caller]
    pub fn wait_while_for<G: CondvarGuard>(
        &self,
        guard: &mut G,
        timeout: Duration,
        condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        wait_while_until(&self.raw, guard, Instant::now().checked_add(timeout), condition)
    }

    /// Blocks this thread while `condition` returns `true` for the value in the mutex, until `deadline` at the latest.
    ///
    /// At the deadline the mutex is locked again and `condition` is evaluated once more.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let mutex = Mutex::new(0);
    /// let mut guard = mutex.lock();
    /// let timeout = Duration::from_millis(1);
    /// let result = Condvar::new().wait_while_for(&mut guard, timeout, |number| *number == 0);
    /// assert_eq!(result, Err(LockError::TimedOut));
    /// ```
    ///
    /// # Errors
    /// - [`TimedOut`](LockError::TimedOut), never before the deadline, if `condition` still returned `true` after it.
    /// - [`BlockingForbidden`](LockError::BlockingForbidden), if it would have to wait and this thread must not block.
    ///
    /// # Panics
    /// If other waiters use another mutex, and if `condition` panics. The mutex is held in both cases.
    #[track_caller]
    pub fn wait_while_until<G: CondvarGuard>(
        &self,
        guard: &mut G,
        deadline: Instant,
        condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        wait_while_until(&self.raw, guard, Some(deadline), condition)
    }
}

/// As [`block`], while the condition holds.
#[track_caller]
fn wait_while_until<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
    mut condition: impl FnMut(&mut G::Target) -> bool,
) -> Result<(), LockError> {
    while condition(guard) {
        match block(raw, guard, deadline) {
            Ok(()) => {}
            // Other holders may have changed the value before this thread acquired the mutex.
            Err(LockError::TimedOut) if !condition(guard) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until notified, until `deadline` at the latest. Fails if this thread must not block.
#[track_caller]
fn block<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
) -> Result<(), LockError> {
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    let parker = Parker::current();
    let kept = guard.mutex_of();
    let mutex = kept.target().raw();
    let mut waiting = pin!(Waiting::new(raw.word(), mutex));
    waiting.as_mut().enqueue(parker.waker(), deadline.is_some());
    // The guard must not be used before the mutex is locked again. Nothing unwinds from here on.
    let (caller, held) = (Caller::here(), guard.keep(not_kept()));
    let sent = WasSent::look(mutex, (), held);
    mutex.release(held);
    waiting.released();
    let result = drive(&parker, waiting, deadline);
    let hold = held_by_thread(mutex, (), caller, false);
    sent.say(mutex, (), hold);
    guard.keep(hold);
    result
}
