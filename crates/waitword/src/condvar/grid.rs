//! The ways to wait: blocking and as a future, once and while a condition holds, without a deadline and with one.

use std::time::{Duration, Instant};

use waitword_core::may_block;

use crate::condition::Waited;
use crate::condvar::block;
use crate::condvar::futures::{WaitOnce, WaitOnceUntil, WaitWhile, WaitWhileUntil};
use crate::condvar::guard::CondvarGuard;
use crate::condvar::named::{CondvarWait, CondvarWaitUntil, CondvarWaitWhile, CondvarWaitWhileUntil};
use crate::condvar::variable::Condvar;
use crate::error::LockError;

impl Condvar {
    /// Releases the mutex, blocks this thread until it is notified, and locks the mutex again.
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
    /// If this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use [`wait_async`](Self::wait_async)
    /// there. If other waiters use another mutex. The mutex is still held then.
    #[doc(alias = "pthread_cond_wait")]
    #[track_caller]
    pub fn wait<G: CondvarGuard>(&self, guard: &mut G) {
        assert!(may_block(), "this thread must not block (`forbid_blocking`): use `wait_async` here");
        // Without a deadline the wait ends only by a notify.
        let _ = block::block(&self.raw, guard, None);
    }

    /// As [`wait`](Self::wait), for `timeout` at the longest.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// # Errors
    /// As [`wait_until`](Self::wait_until).
    ///
    /// # Panics
    /// If other waiters use another mutex. The guard's mutex is still held then.
    #[doc(alias("wait_timeout", "pthread_cond_timedwait"))]
    #[track_caller]
    pub fn wait_for<G: CondvarGuard>(&self, guard: &mut G, timeout: Duration) -> Result<(), LockError> {
        block::wait_until(&self.raw, guard, Instant::now().checked_add(timeout))
    }

    /// As [`wait`](Self::wait), until `deadline` at the latest, and then for as long as it takes to lock the mutex. The mutex is
    /// held in any case when this returns.
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
    /// [`TimedOut`](LockError::TimedOut), never before the deadline, and only if no notify has counted this wait;
    /// [`BlockingForbidden`](LockError::BlockingForbidden) at once, on a thread that must not block.
    ///
    /// # Panics
    /// If other waiters use another mutex. The guard's mutex is still held then.
    #[doc(alias = "wait_deadline")]
    #[track_caller]
    pub fn wait_until<G: CondvarGuard>(&self, guard: &mut G, deadline: Instant) -> Result<(), LockError> {
        block::wait_until(&self.raw, guard, Some(deadline))
    }

    /// Waits while `condition` holds of what is in the mutex, blocking this thread. If it does not, returns at once.
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
    /// As [`wait`](Self::wait), and when `condition` does; the mutex is held then.
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

    /// As [`wait_while`](Self::wait_while), for `timeout` at the longest.
    ///
    /// # Errors
    /// As [`wait_while_until`](Self::wait_while_until).
    ///
    /// # Panics
    /// As [`wait_while_until`](Self::wait_while_until).
    #[doc(alias = "wait_timeout_while")]
    #[track_caller]
    pub fn wait_while_for<G: CondvarGuard>(
        &self,
        guard: &mut G,
        timeout: Duration,
        condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        block::wait_while_until(&self.raw, guard, Instant::now().checked_add(timeout), condition)
    }

    /// As [`wait_while`](Self::wait_while), until `deadline` at the latest.
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
    /// [`TimedOut`](LockError::TimedOut), never before the deadline, if `condition` still held after it;
    /// [`BlockingForbidden`](LockError::BlockingForbidden), if it would have to wait and this thread must not block.
    ///
    /// # Panics
    /// If other waiters use another mutex, and when `condition` panics. The mutex is held then.
    #[track_caller]
    pub fn wait_while_until<G: CondvarGuard>(
        &self,
        guard: &mut G,
        deadline: Instant,
        condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        block::wait_while_until(&self.raw, guard, Some(deadline), condition)
    }

    /// Releases the mutex, waits without blocking this thread until it is notified, and is ready with the mutex locked again.
    ///
    /// The future takes the guard, and the mutex stays locked until the first poll. That poll enqueues the wait, and then
    /// releases the mutex.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// let wait = async {
    ///     let mut guard = ready.lock_async().await;
    ///     while !*guard {
    ///         guard = changed.wait_async(guard).await;
    ///     }
    /// };
    /// let notify = async {
    ///     *ready.lock_async().await = true;
    ///     changed.notify_one();
    /// };
    /// smol::future::zip(wait, notify).await;
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If the future is dropped, the mutex is not held. The wait is cancel-safe: a notify that had counted it is forwarded to
    /// the next waiter.
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A future that was notified and is not polled keeps its position in the mutex's queue, and
    /// does not block the mutex for good ([`Mutex`](crate::Mutex#futures-that-nobody-polls)). But it keeps the notify: until it
    /// is dropped, no other waiter gets the wakeup of that [`notify_one`](Self::notify_one). The next notify goes to the next
    /// waiter.
    ///
    /// # Panics
    /// At the first poll, if other waiters use another mutex; the guard's mutex is released then. When polled again after it was
    /// ready.
    #[doc(alias = "async_wait")]
    pub fn wait_async<G: CondvarGuard>(&self, guard: G) -> CondvarWait<'_, G> {
        CondvarWait::of(WaitOnce::new(self.raw.at(), guard))
    }

    /// As [`wait_async`](Self::wait_async), for `timeout` at the longest, counted from this call.
    ///
    /// Its output, its cancellation and its panics are as with [`wait_async_until`](Self::wait_async_until). A timeout that goes
    /// beyond what [`Instant`] can hold waits without an end.
    #[doc(alias = "wait_timeout_async")]
    pub fn wait_async_for<G: CondvarGuard>(&self, guard: G, timeout: Duration) -> CondvarWaitUntil<'_, G> {
        CondvarWaitUntil::of(WaitOnceUntil::new(self.raw.at(), guard, Instant::now().checked_add(timeout)))
    }

    /// As [`wait_async`](Self::wait_async), until `deadline` at the latest; and then for as long as it takes to lock the mutex.
    ///
    /// Ready with the guard in any case, and beside it with [`TimedOut`](LockError::TimedOut) if no notify has counted this wait.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::time::Duration;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let (mutex, changed) = (Mutex::new(1), Condvar::new());
    /// let guard = mutex.lock_async().await;
    /// let (guard, result) = changed.wait_async_for(guard, Duration::from_millis(1)).await;
    /// assert_eq!((*guard, result), (1, Err(LockError::TimedOut)));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async); and when it has to wait, if it is the first in the process and the system cannot
    /// start the timer thread.
    pub fn wait_async_until<G: CondvarGuard>(&self, guard: G, deadline: Instant) -> CondvarWaitUntil<'_, G> {
        CondvarWaitUntil::of(WaitOnceUntil::new(self.raw.at(), guard, Some(deadline)))
    }

    /// Waits, without blocking this thread, while `condition` holds of what is in the mutex. If it does not, is ready at the
    /// first poll.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// static LETTERS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    /// static ARRIVED: Condvar = Condvar::new();
    ///
    /// # smol::block_on(async {
    /// let thread = std::thread::spawn(|| {
    ///     LETTERS.lock().push("a letter");
    ///     ARRIVED.notify_one();
    /// });
    /// let letters = LETTERS.lock_async().await;
    /// let letters = ARRIVED.wait_while_async(letters, |letters| letters.is_empty()).await;
    /// assert_eq!(*letters, ["a letter"]);
    /// # drop(letters);
    /// # thread.join().unwrap();
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async), and when `condition` does; the mutex is released then.
    pub fn wait_while_async<G, C>(&self, guard: G, condition: C) -> CondvarWaitWhile<'_, G, C>
    where
        G: CondvarGuard,
        C: FnMut(&mut G::Target) -> bool,
    {
        CondvarWaitWhile::of(WaitWhile::new(self.raw.at(), guard, condition))
    }

    /// As [`wait_while_async`](Self::wait_while_async), for `timeout` at the longest, counted from this call.
    ///
    /// Its output, its cancellation and its panics are as with [`wait_while_async_until`](Self::wait_while_async_until). A
    /// timeout that goes beyond what [`Instant`] can hold waits without an end.
    pub fn wait_while_async_for<G, C>(
        &self,
        guard: G,
        timeout: Duration,
        condition: C,
    ) -> CondvarWaitWhileUntil<'_, G, C>
    where
        G: CondvarGuard,
        C: FnMut(&mut G::Target) -> bool,
    {
        CondvarWaitWhileUntil::of(WaitWhileUntil::new(
            self.raw.at(),
            guard,
            Instant::now().checked_add(timeout),
            condition,
        ))
    }

    /// As [`wait_while_async`](Self::wait_while_async), until `deadline` at the latest.
    ///
    /// Ready with the guard in any case, and beside it with [`TimedOut`](LockError::TimedOut) if `condition` still held after
    /// the deadline.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::time::Duration;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let (letters, arrived) = (Mutex::new(Vec::<&str>::new()), Condvar::new());
    /// let letters = letters.lock_async().await;
    /// let timeout = Duration::from_millis(1);
    /// let (letters, result) =
    ///     arrived.wait_while_async_for(letters, timeout, |letters| letters.is_empty()).await;
    /// assert_eq!((letters.len(), result), (0, Err(LockError::TimedOut)));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until), and when `condition` does; the mutex is released then.
    pub fn wait_while_async_until<G, C>(
        &self,
        guard: G,
        deadline: Instant,
        condition: C,
    ) -> CondvarWaitWhileUntil<'_, G, C>
    where
        G: CondvarGuard,
        C: FnMut(&mut G::Target) -> bool,
    {
        CondvarWaitWhileUntil::of(WaitWhileUntil::new(self.raw.at(), guard, Some(deadline), condition))
    }
}
