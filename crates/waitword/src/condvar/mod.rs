//! The condition variable: what you call. Its word and the races are in `raw.rs`, the futures in `futures.rs`.

mod futures;
mod guard;
mod raw;

use std::fmt;
use std::pin::pin;
use std::time::{Duration, Instant};

use waitword_core::{Parker, may_block};

use crate::acquire::{Acquire, Handle, Step, block};
use crate::error::LockError;
use crate::raw_mutex::RawMutex;
use crate::sync::const_fn;
use raw::{RawCondvar, Waiting};

pub use futures::{CondvarWait, CondvarWaitUntil, CondvarWaitWhile, CondvarWaitWhileUntil};
pub use guard::CondvarGuard;

/// Waits, with a [`Mutex`](crate::Mutex) released meanwhile, until others have changed what is in it.
///
/// Threads and tasks wait in one line, first come first served, and whoever notifies them need not know which they are. A
/// wait takes the guard of the mutex, a [`MutexGuard`](crate::MutexGuard) or an [`OwnedMutexGuard`](crate::OwnedMutexGuard),
/// and gives it back: a thread lends it (`&mut guard`), a future has it by value.
///
/// There are no spurious wakeups: a wait ends because a notify counted it, or because its time is up. But between the notify
/// and the wait's end others may have had the mutex, and changed what is in it; so wait in a loop, or with
/// [`wait_while`](Self::wait_while) and its siblings, which are that loop.
///
/// ```
/// use std::thread;
/// use waitword::{Condvar, Mutex};
///
/// static FRAMES: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static ARRIVED: Condvar = Condvar::new();
///
/// let decoder = thread::spawn(|| {
///     FRAMES.lock().push(7);
///     ARRIVED.notify_one();
/// });
/// // A task ...
/// let frame = smol::block_on(async {
///     let mut frames = ARRIVED.wait_while_async(FRAMES.lock_async().await, |frames| frames.is_empty()).await;
///     frames.pop()
/// });
/// assert_eq!(frame, Some(7));
/// decoder.join().unwrap();
/// // ... or a thread.
/// FRAMES.lock().push(8);
/// let mut frames = FRAMES.lock();
/// ARRIVED.wait_while(&mut frames, |frames| frames.is_empty());
/// assert_eq!(frames.pop(), Some(8));
/// ```
///
/// # No stampede
/// A notify wakes one at most. The others that it counted are moved, asleep, to the end of the mutex's line, and called one
/// by one as the mutex is released.
///
/// # No wakeup is missed
/// A wait is in line before it releases the mutex. So whoever changes what is in the mutex while holding it, and notifies
/// then or later, reaches every wait that was begun before the change.
///
/// # Fairness
/// Those who wait are notified in the order in which they came; and from then on they are in the mutex's line, and what holds
/// there holds for them ([`Mutex`](crate::Mutex)).
///
/// # One mutex at a time
/// While somebody waits, all who wait have to come with the same mutex. When nobody does, another may be used.
#[doc(alias("Condition", "Monitor", "condition_variable", "pthread_cond_t"))]
pub struct Condvar {
    raw: RawCondvar,
}

impl Condvar {
    const_fn! {
        /// A condition variable that nobody waits on.
        pub const fn new() -> Self {
            Self { raw: RawCondvar::new() }
        }
    }

    /// Notifies the one that has waited longest, if anybody waits. Returns how many it notified: 0 or 1.
    ///
    /// The mutex may be held or not. What was notified returns from its wait once it has the mutex; if its future is dropped
    /// before, the notify goes on to the next.
    ///
    /// ```
    /// assert_eq!(waitword::Condvar::new().notify_one(), 0);
    /// ```
    ///
    /// # Panics
    /// When the waker of a task does; it has been notified then.
    #[doc(alias("signal", "notify", "pthread_cond_signal"))]
    pub fn notify_one(&self) -> usize {
        self.raw.notify(1)
    }

    /// Notifies all who wait at this moment. Returns how many these were.
    ///
    /// One of them is woken at most; the others follow as the mutex is released.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (open, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| changed.wait_while(&mut open.lock(), |open| !*open));
    ///     }
    ///     *open.lock() = true;
    ///     // Who waits by now; those who come later find it open.
    ///     assert!(changed.notify_all() <= 3);
    /// });
    /// ```
    ///
    /// # Panics
    /// As [`notify_one`](Self::notify_one).
    #[doc(alias("broadcast", "notify_waiters", "pthread_cond_broadcast"))]
    pub fn notify_all(&self) -> usize {
        self.raw.notify(usize::MAX)
    }

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
    /// there. If others wait with another mutex. The mutex is still held then.
    #[doc(alias = "pthread_cond_wait")]
    #[track_caller]
    pub fn wait<G: CondvarGuard>(&self, guard: &mut G) {
        assert!(may_block(), "this thread must not block (`forbid_blocking`): use `wait_async` here");
        // Without a deadline it only ends notified.
        let _ = self.drive(guard, None);
    }

    /// As [`wait`](Self::wait), for `timeout` at the longest.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// # Errors
    /// As [`wait_until`](Self::wait_until).
    ///
    /// # Panics
    /// If others wait with another mutex, which is still held then.
    #[doc(alias("wait_timeout", "pthread_cond_timedwait"))]
    #[track_caller]
    pub fn wait_for<G: CondvarGuard>(&self, guard: &mut G, timeout: Duration) -> Result<(), LockError> {
        self.wait_with(guard, Instant::now().checked_add(timeout))
    }

    /// As [`wait`](Self::wait), until `deadline` at the latest; and then for as long as it takes to lock the mutex, which is
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
    /// If others wait with another mutex, which is still held then.
    #[doc(alias = "wait_deadline")]
    #[track_caller]
    pub fn wait_until<G: CondvarGuard>(&self, guard: &mut G, deadline: Instant) -> Result<(), LockError> {
        self.wait_with(guard, Some(deadline))
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
        self.wait_while_with(guard, Instant::now().checked_add(timeout), condition)
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
    /// [`BlockingForbidden`](LockError::BlockingForbidden), if it would have to wait on a thread that must not.
    ///
    /// # Panics
    /// If others wait with another mutex, and when `condition` does. The mutex is held then.
    #[track_caller]
    pub fn wait_while_until<G: CondvarGuard>(
        &self,
        guard: &mut G,
        deadline: Instant,
        condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        self.wait_while_with(guard, Some(deadline), condition)
    }

    /// Releases the mutex, waits without blocking this thread until it is notified, and is ready with the mutex locked again.
    ///
    /// The guard goes into the future: until the first poll it keeps the mutex locked. With that poll the wait is in line, and
    /// the mutex released.
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
    /// If the future is dropped, the mutex is not held. A notify that had counted it goes on to the next in line.
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A future that was notified and is not polled keeps its place in the mutex's line, and
    /// nobody from the mutex for good ([`Mutex`](crate::Mutex#futures-that-nobody-polls)).
    ///
    /// # Panics
    /// At the first poll, if others wait with another mutex, which is released then; and when polled again after it was ready.
    #[doc(alias = "async_wait")]
    pub fn wait_async<G: CondvarGuard>(&self, guard: G) -> CondvarWait<'_, G> {
        CondvarWait::new(&self.raw, guard)
    }

    /// As [`wait_async`](Self::wait_async), for `timeout` at the longest, counted from this call.
    ///
    /// Its output, its cancellation and its panics are as with [`wait_async_until`](Self::wait_async_until). A timeout that goes
    /// beyond what [`Instant`] can hold waits without an end.
    #[doc(alias = "wait_timeout_async")]
    pub fn wait_async_for<G: CondvarGuard>(&self, guard: G, timeout: Duration) -> CondvarWaitUntil<'_, G> {
        CondvarWaitUntil::new(&self.raw, guard, Instant::now().checked_add(timeout))
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
    /// start the thread that keeps the time.
    pub fn wait_async_until<G: CondvarGuard>(&self, guard: G, deadline: Instant) -> CondvarWaitUntil<'_, G> {
        CondvarWaitUntil::new(&self.raw, guard, Some(deadline))
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
        CondvarWaitWhile::new(&self.raw, guard, condition)
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
        CondvarWaitWhileUntil::new(&self.raw, guard, Instant::now().checked_add(timeout), condition)
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
        CondvarWaitWhileUntil::new(&self.raw, guard, Some(deadline), condition)
    }

    #[track_caller]
    fn wait_while_with<G: CondvarGuard>(
        &self,
        guard: &mut G,
        deadline: Option<Instant>,
        mut condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        while condition(guard) {
            match self.wait_with(guard, deadline) {
                Ok(()) => {}
                // Others may have had the mutex before us.
                Err(LockError::TimedOut) if !condition(guard) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[track_caller]
    fn wait_with<G: CondvarGuard>(&self, guard: &mut G, deadline: Option<Instant>) -> Result<(), LockError> {
        if !may_block() {
            return Err(LockError::BlockingForbidden);
        }
        self.drive(guard, deadline)
    }

    /// The wait of a thread.
    #[track_caller]
    fn drive<G: CondvarGuard>(&self, guard: &mut G, deadline: Option<Instant>) -> Result<(), LockError> {
        let parker = Parker::current();
        let handle = guard.handle();
        let mutex = handle.raw();
        let mut waiting = pin!(Waiting::new(&self.raw, mutex));
        waiting.as_mut().enter(parker.waker());
        let released = Released::new(mutex);
        let result = loop {
            match waiting.as_mut().step(parker.waker(), deadline) {
                Step::Ended(Ok((_, result))) => break result,
                Step::Ended(Err(error)) => break Err(error),
                Step::Wait(Some(until)) => parker.park_until(until),
                Step::Wait(None) => parker.park(),
            }
            if waiting.as_mut().spin().is_some() {
                break Ok(());
            }
        };
        released.locked_again();
        result
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

/// A mutex that was released while there is a guard of it. The guard must not go before it is locked again.
struct Released<'a>(&'a RawMutex);

impl<'a> Released<'a> {
    fn new(mutex: &'a RawMutex) -> Self {
        // First: the release calls somebody whose waker may panic, and then the mutex is free already.
        let released = Self(mutex);
        mutex.release();
        released
    }

    fn locked_again(self) {
        std::mem::forget(self);
    }
}

impl Drop for Released<'_> {
    /// Something on the way has panicked, and the guard goes next.
    fn drop(&mut self) {
        if !self.0.take(()) {
            block(self.0, (), "wait_async");
        }
    }
}
