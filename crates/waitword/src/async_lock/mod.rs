//! The lock of the article, on one 32-bit word. The three states of that word and their races are in `raw.rs`, callbacks under the lock in
//! `execute.rs`.

mod execute;
mod raw;

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use waitword_core::time::{Duration, Instant};

use pin_project_lite::pin_project;
use waitword_core::Location;

use crate::acquire;
use crate::acquire::future::AcquireAsync;
use crate::async_lock::raw::{FREE, LOCKED, RawLock, Rechecking};
use crate::deadline::{Deadline, NoDeadline, Until, gives_up, polls_either};
use crate::error::{LockError, NotLocked};
use crate::holders::Gone;
use crate::sync::{atomic::AtomicI32, const_fn};

/// A lock that threads and tasks take from one queue, on one 32-bit word.
///
/// It protects whatever its users agree on, and it has no guard: its holder calls [`unlock`](Self::unlock).
/// [`execute_locked`](Self::execute_locked) releases the lock by itself.
///
/// The word is the lock's own ([`new`](Self::new)), or lies elsewhere ([`on`](Self::on)), for instance in memory
/// shared with a script. Its states are `0` free, `1` locked, and `2` locked with waiters; an `unlock` without
/// waiters touches no queue. (A lock with two states, as the article has it first, cannot share the word.)
///
/// # Fairness
/// Waiters, threads and tasks alike, are woken in FIFO order. A release is no handoff: the lock stays free until an acquirer
/// takes it. If a barging acquirer is faster, the woken waiter goes to the tail of the queue. Barging has no bound here, so
/// starvation is possible. The delay by a task that is woken and not polled has a bound: see
/// [`STALL_TIMEOUT`](crate::STALL_TIMEOUT).
///
/// A script that waits for the lock with `Atomics.wait` has no such timeout. Behind a task that is not polled, the script
/// depends on another waiter that takes and releases the lock.
///
/// ```
/// use waitword::{AsyncLock, NotLocked};
///
/// static LOCK: AsyncLock = AsyncLock::new();
///
/// LOCK.lock();
/// assert!(!LOCK.try_lock());
/// assert_eq!(LOCK.unlock(), Ok(()));
/// assert_eq!(LOCK.unlock(), Err(NotLocked));
/// ```
#[repr(C)]
pub struct AsyncLock<L: Location<Word = AtomicI32> = AtomicI32> {
    // First, as it has the address of a word that is the lock's own.
    gone: Gone,
    raw: RawLock<L>,
}

const _: () = assert!(
    mem::size_of::<AsyncLock>() == mem::size_of::<AtomicI32>()
        && mem::offset_of!(AsyncLock, gone) == mem::offset_of!(AsyncLock, raw)
);

impl AsyncLock {
    const_fn! {
        /// A free lock with a word of its own.
        pub const fn new() -> Self {
            Self { gone: Gone, raw: RawLock::on(AtomicI32::new(FREE)) }
        }
    }
}

impl<L: Location<Word = AtomicI32>> AsyncLock<L> {
    /// A lock on a word elsewhere. All `AsyncLock`s on one word, in one table, are one lock.
    ///
    /// The word is not touched: where it is zero, the lock is free.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::AtomicI32;
    /// use waitword::AsyncLock;
    ///
    /// let word = Arc::new(AtomicI32::new(0));
    /// let (one, same) = (AsyncLock::on(Arc::clone(&word)), AsyncLock::on(word));
    /// one.lock();
    /// assert!(same.is_locked());
    /// same.unlock().unwrap();
    /// assert!(!one.is_locked());
    /// ```
    pub const fn on(location: L) -> Self {
        Self { gone: Gone, raw: RawLock::on(location) }
    }

    /// Takes the lock, blocking this thread until then.
    ///
    /// # Panics
    /// If the lock is held and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`lock_async`](Self::lock_async) there.
    ///
    /// # Deadlocks
    /// A thread that locks twice waits for itself.
    #[doc(alias("acquire", "blocking_lock", "lock_blocking"))]
    #[inline]
    #[track_caller]
    pub fn lock(&self) {
        if acquire::held::take::<{ acquire::held::UNTIMED }, _>(&self.raw, || ()).is_none() {
            let Ok(_) = acquire::block::block(Rechecking::new(&self.raw), (), "lock_async");
        }
    }

    /// Takes the lock if it is free, and returns whether it did. Never waits.
    ///
    /// Returns a `bool`, because there is only one reason to fail.
    #[doc(alias = "try_acquire")]
    #[must_use = "if it is `true`, the lock is held and has to be released"]
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        acquire::held::try_take(&self.raw, ()).is_some()
    }

    /// Takes the lock without blocking this thread. When the future is ready, the lock is held.
    ///
    /// Works with any executor; the future may move between threads, and the lock may be released by another thread
    /// than the one that took it.
    ///
    /// # Cancellation
    /// Cancel-safe: dropping the future leaves the queue, and forwards a wakeup that it received.
    ///
    /// # Panics
    /// When polled again after it was ready; when it has to wait, if it is the first in the process and the system
    /// cannot start the timer thread.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let lock = waitword::AsyncLock::new();
    /// lock.lock_async().await;
    /// lock.unlock().unwrap();
    /// # });
    /// ```
    #[doc(alias("acquire_async", "async_lock"))]
    #[track_caller]
    pub fn lock_async(&self) -> LockAsync<'_, L> {
        LockAsync::new(&self.raw)
    }

    /// As [`lock`](Self::lock), for at most `timeout`.
    ///
    /// A timeout beyond what [`Instant`] can hold never expires.
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until).
    #[doc(alias("try_lock_for", "lock_timeout"))]
    #[inline]
    #[track_caller]
    pub fn lock_for(&self, timeout: Duration) -> Result<(), LockError> {
        self.acquire_until(|| Instant::now().checked_add(timeout))
    }

    /// As [`lock`](Self::lock), until `deadline` at the latest. A free lock is taken even after the deadline.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{AsyncLock, LockError};
    ///
    /// let lock = AsyncLock::new();
    /// assert_eq!(lock.lock_for(Duration::ZERO), Ok(()));
    /// assert_eq!(lock.lock_for(Duration::from_millis(1)), Err(LockError::TimedOut));
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline; [`BlockingForbidden`](LockError::BlockingForbidden)
    /// at once, if it would have to wait and this thread must not block.
    #[doc(alias("try_lock_until", "lock_deadline"))]
    #[inline]
    #[track_caller]
    pub fn lock_until(&self, deadline: Instant) -> Result<(), LockError> {
        self.acquire_until(|| Some(deadline))
    }

    /// Releases the lock, and wakes the waiter that has waited longest, if there is one.
    ///
    /// The lock does not know its holder: any thread may release it on the holder's behalf.
    ///
    /// # Errors
    /// [`NotLocked`] when the lock is free; nothing has changed then.
    #[doc(alias = "release")]
    #[inline]
    pub fn unlock(&self) -> Result<(), NotLocked> {
        self.raw.release()
    }

    /// Whether the lock is held at this moment. The answer may be outdated when it arrives.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.state() != FREE
    }

    #[inline]
    #[track_caller]
    fn acquire_until(&self, deadline: impl FnOnce() -> Option<Instant>) -> Result<(), LockError> {
        if acquire::held::take::<{ acquire::held::TIMED }, _>(&self.raw, || ()).is_none() {
            let Ok(_) = acquire::block::block_until(Rechecking::new(&self.raw), (), deadline())?;
        }
        Ok(())
    }
}

impl Default for AsyncLock {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the state at this moment. Does not wait.
impl<L: Location<Word = AtomicI32>> fmt::Debug for AsyncLock<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.raw.state() {
            FREE => "free",
            LOCKED => "locked",
            _ => "locked with waiters",
        };
        f.debug_struct("AsyncLock").field("state", &format_args!("{state}")).finish()
    }
}

pin_project! {
    /// The future of [`AsyncLock::lock_async`].
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct LockAsync<'a, L: Location<Word = AtomicI32>, D = NoDeadline> {
        // Always with an alarm, for the rechecks.
        #[pin]
        acquire: AcquireAsync<Rechecking<'a, L>, Until>,
        // Whether there is a deadline.
        _deadline: PhantomData<D>,
    }
}

impl<'a, L: Location<Word = AtomicI32>> LockAsync<'a, L> {
    #[track_caller]
    pub(crate) fn new(raw: &'a RawLock<L>) -> Self {
        let acquire = AcquireAsync::new(Rechecking::new(raw), ()).until(Until::never());
        Self { acquire, _deadline: PhantomData }
    }

    fn until(self, deadline: Until) -> LockAsync<'a, L, Until> {
        LockAsync { acquire: self.acquire.until(deadline), _deadline: PhantomData }
    }
}

impl<L: Location<Word = AtomicI32>, D> LockAsync<'_, L, D> {
    fn is_waiting(&self) -> bool {
        self.acquire.is_waiting()
    }
}

impl<L: Location<Word = AtomicI32>, D: Deadline> LockAsync<'_, L, D> {
    #[inline]
    fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), D::Error>> {
        Future::poll(self.project().acquire, cx).map(|acquired| acquired.map(|_| ()).map_err(D::error))
    }
}

gives_up! {
    ['a, L: Location<Word = AtomicI32>,] LockAsync['a, L],
    "a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut),"
}
polls_either! { ['a, L: Location<Word = AtomicI32>] LockAsync['a, L]: (), Result<(), LockError> }
