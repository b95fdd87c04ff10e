//! The ways to wait for tasks: once and while a condition holds, without a deadline and with one. For threads: `threads.rs`.

use waitword_core::time::{Duration, Instant};

use crate::condition::Waited;
use crate::condvar::futures::{WaitOnce, WaitOnceUntil, WaitWhile, WaitWhileUntil};
use crate::condvar::guard::CondvarGuard;
use crate::condvar::named::{CondvarWait, CondvarWaitUntil, CondvarWaitWhile, CondvarWaitWhileUntil};
use crate::condvar::variable::Condvar;

impl Condvar {
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
    #[track_caller]
    pub fn wait_async<G: CondvarGuard>(&self, guard: G) -> CondvarWait<'_, G> {
        CondvarWait::of(WaitOnce::new(self.raw.at(), guard))
    }

    /// As [`wait_async`](Self::wait_async), for `timeout` at the longest, counted from this call.
    ///
    /// Its output, its cancellation and its panics are as with [`wait_async_until`](Self::wait_async_until). A timeout that goes
    /// beyond what [`Instant`] can hold waits without an end.
    #[doc(alias = "wait_timeout_async")]
    #[track_caller]
    pub fn wait_async_for<G: CondvarGuard>(&self, guard: G, timeout: Duration) -> CondvarWaitUntil<'_, G> {
        CondvarWaitUntil::of(WaitOnceUntil::new(self.raw.at(), guard, Instant::now().checked_add(timeout)))
    }

    /// As [`wait_async`](Self::wait_async), until `deadline` at the latest; and then for as long as it takes to lock the mutex.
    ///
    /// Ready with the guard in any case, and beside it with [`TimedOut`](crate::LockError::TimedOut) if no notify has counted this wait.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::time::Duration;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let (mutex, changed) = (Mutex::new(1), Condvar::new());
    /// let guard = mutex.lock_async().await;
    /// let (guard, result) = changed.wait_async_for(guard, Duration::from_millis(1)).await;
    /// assert_eq!((*guard, result), (1, Err(LockError::TIMED_OUT)));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async); and when it has to wait, if it is the first in the process and the system cannot
    /// start the timer thread.
    #[track_caller]
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
    #[track_caller]
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
    #[track_caller]
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
    /// Ready with the guard in any case, and beside it with [`TimedOut`](crate::LockError::TimedOut) if `condition` still held after
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
    /// assert_eq!((letters.len(), result), (0, Err(LockError::TIMED_OUT)));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until), and when `condition` does; the mutex is released then.
    #[track_caller]
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
