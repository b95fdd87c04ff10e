//! The lock of the article, on one 32-bit word that scripts may share. The states of that word are in `states.rs`, the loop that waits in
//! `locking.rs`, callbacks under the lock in `execute.rs`.

mod execute;
mod locking;
pub mod states;

use std::fmt;
use std::mem;
use std::pin::pin;
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::{Caller, WaitsFor};
use waitword_core::{Location, Parker, may_block};

pub use self::locking::LockAsync;
use self::locking::address;
use self::states::FREE;
use crate::deadline::Until;
use crate::drive::drive;
use crate::error::{LockError, NotLocked, timed_out, would_block};
use crate::holders::{Gone, Hold, acquired};
use crate::sync::{atomic::AtomicI32, const_fn};

/// A lock on a 32-bit word that JavaScript can share. Threads and tasks wait for it in one queue.
///
/// It contains no value and has no guard: its holder calls [`unlock`](Self::unlock), and the users agree on what it protects.
/// [`execute_locked`](Self::execute_locked) releases the lock by itself.
///
/// The word is part of the lock ([`new`](Self::new)), or lies elsewhere ([`on`](Self::on)), for instance in memory
/// shared with a script. Its states are `0` (free), `1` (locked) and `2` (locked, with waiters). An `unlock` without
/// waiters touches no queue. (A lock with two states cannot share the word.)
///
/// # Fairness
/// Waiters, threads and tasks alike, are woken in FIFO order. A release is not a handoff: the lock stays free until an acquirer
/// takes it. If a barging acquirer is faster, the woken waiter enqueues again at the tail. Barging is not bounded here, so
/// starvation is possible. The delay by a task that was woken and is not polled is bounded: see
/// [`STALL_TIMEOUT`](crate::STALL_TIMEOUT).
///
/// A script that waits for the lock with `Atomics.wait` has no such timeout. Queued behind a task that is not polled, it
/// depends on another waiter that acquires and releases the lock.
///
/// ```
/// use waitword::NotLocked;
/// use waitword::word::AsyncLock;
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
    // The state word, inline or elsewhere.
    at: L,
}

const _: () = assert!(
    mem::size_of::<AsyncLock>() == mem::size_of::<AtomicI32>()
        && mem::offset_of!(AsyncLock, gone) == mem::offset_of!(AsyncLock, at)
);

impl AsyncLock {
    const_fn! {
        /// Creates a free lock that contains its word.
        pub const fn new() -> Self {
            Self { gone: Gone, at: AtomicI32::new(FREE) }
        }
    }
}

impl<L: Location<Word = AtomicI32>> AsyncLock<L> {
    /// Creates a lock on a word elsewhere. All `AsyncLock`s on the same word, in the same table, are one lock.
    ///
    /// The word is not changed. If it is zero, the lock is free.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::AtomicI32;
    /// use waitword::word::AsyncLock;
    ///
    /// let word = Arc::new(AtomicI32::new(0));
    /// let (one, same) = (AsyncLock::on(Arc::clone(&word)), AsyncLock::on(word));
    /// one.lock();
    /// assert!(same.is_locked());
    /// same.unlock().unwrap();
    /// assert!(!one.is_locked());
    /// ```
    pub const fn on(location: L) -> Self {
        Self { gone: Gone, at: location }
    }

    /// Acquires the lock, blocking this thread until it is acquired.
    ///
    /// # Panics
    /// If the lock is held and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`lock_async`](Self::lock_async) there.
    ///
    /// # Deadlocks
    /// A thread that already holds the lock waits for itself.
    #[doc(alias("acquire", "blocking_lock", "lock_blocking"))]
    #[inline]
    #[track_caller]
    pub fn lock(&self) {
        if !self.take(false) && self.block(None).is_err() {
            would_block("lock_async");
        }
    }

    /// Attempts to acquire the lock without waiting. Returns `true` if it did.
    #[doc(alias = "try_acquire")]
    #[must_use = "on `true`, the lock is held and has to be released"]
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        self.take(true)
    }

    /// Acquires the lock without blocking this thread: the task waits until it is acquired.
    ///
    /// The future works with any executor and may move between threads. The lock may be released by another thread than the one that
    /// acquired it.
    ///
    /// # Cancellation
    /// Cancel-safe: dropping the future dequeues it, and forwards a wakeup that it received.
    ///
    /// # Panics
    /// - When polled again after it was ready.
    /// - In a poll that has to wait, if it is the first in the process that needs the timer thread, and the system cannot start that.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let lock = waitword::word::AsyncLock::new();
    /// lock.lock_async().await;
    /// lock.unlock().unwrap();
    /// # });
    /// ```
    #[doc(alias("acquire_async", "async_lock"))]
    #[track_caller]
    pub fn lock_async(&self) -> LockAsync<'_, L> {
        LockAsync::new(Some(&self.at), Caller::here(), Until::never())
    }

    /// Acquires the lock, blocking this thread for at most `timeout`.
    ///
    /// A timeout beyond what [`Instant`] can hold never expires.
    ///
    /// # Errors
    /// As with [`lock_until`](Self::lock_until).
    #[doc(alias("try_lock_for", "lock_timeout"))]
    #[inline]
    #[track_caller]
    pub fn lock_for(&self, timeout: Duration) -> Result<(), LockError> {
        if self.take(true) { Ok(()) } else { self.block(Instant::now().checked_add(timeout)) }
    }

    /// Acquires the lock, blocking this thread until `deadline` at the latest. A free lock is acquired even after the deadline.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::LockError;
    /// use waitword::word::AsyncLock;
    ///
    /// let lock = AsyncLock::new();
    /// assert_eq!(lock.lock_for(Duration::ZERO), Ok(()));
    /// assert_eq!(lock.lock_for(Duration::from_millis(1)), Err(LockError::TimedOut));
    /// ```
    ///
    /// # Errors
    /// - [`TimedOut`](LockError::TimedOut), never before the deadline.
    /// - [`BlockingForbidden`](LockError::BlockingForbidden), at once, if it would have to wait and this thread must not block.
    #[doc(alias("try_lock_until", "lock_deadline"))]
    #[inline]
    #[track_caller]
    pub fn lock_until(&self, deadline: Instant) -> Result<(), LockError> {
        if self.take(true) { Ok(()) } else { self.block(Some(deadline)) }
    }

    /// Releases the lock, and wakes the head waiter, the one that has waited longest.
    ///
    /// The lock does not record its holder: any thread may release it.
    ///
    /// # Errors
    /// [`NotLocked`] if the lock is not held. Nothing changes then.
    #[doc(alias = "release")]
    #[inline]
    pub fn unlock(&self) -> Result<(), NotLocked> {
        locking::unlock(&self.at)
    }

    /// Returns `true` if the lock is held at this moment. The answer may be outdated when the caller sees it.
    #[inline]
    pub fn is_locked(&self) -> bool {
        states::state(self.at.word()) != FREE
    }

    /// The first attempt of a thread, which would not wait for ever if it `gives_up`.
    #[inline]
    #[track_caller]
    fn take(&self, gives_up: bool) -> bool {
        let is_taken = states::try_lock(self.at.word());
        if is_taken {
            acquired(address(&self.at), Hold::AsyncLock, 1, Caller::here(), gives_up);
        }
        is_taken
    }

    /// Takes the lock, blocking this thread, until the deadline at the latest. It does not spin for the lock: that would keep the lock from
    /// woken waiters, which have lost their position.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn block(&self, deadline: Option<Instant>) -> Result<(), LockError> {
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(timed_out(address(&self.at), WaitsFor::AsyncLock));
        }
        if !may_block() {
            return Err(LockError::BlockingForbidden);
        }
        drive(&Parker::current(), pin!(self.lock_async()), deadline)
    }
}

impl Default for AsyncLock {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the state at this moment. Never waits.
impl<L: Location<Word = AtomicI32>> fmt::Debug for AsyncLock<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = states::name(states::state(self.at.word()));
        f.debug_struct("AsyncLock").field("state", &format_args!("{state}")).finish()
    }
}
