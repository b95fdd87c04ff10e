//! The ways to lock: blocking, trying, as a future, and blocking until a deadline; with a guard that borrows and one that owns.

use std::sync::Arc;

use crate::acquire::grid::{blocking_until, grid};
use crate::error::LockError;
use crate::mutex::Mutex;
use crate::mutex::guard::{MutexGuard, MutexLock, OwnedMutexGuard};

impl<T: ?Sized> Mutex<T> {
    grid! {
        self: &Self;
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        () => |hold| unsafe { MutexGuard::new(self, hold) }, "LockError", "", "";
        /// Locks the mutex, blocking this thread until it is acquired.
        ///
        /// ```
        /// let mutex = waitword::Mutex::new(1);
        /// *mutex.lock() += 1;
        /// assert_eq!(*mutex.lock(), 2);
        /// ```
        ///
        /// # Fairness
        /// See [the type](Self#fairness). A thread that finds the mutex held spins for about 5 µs before it enqueues.
        ///
        /// # Deadlocks
        /// A thread that already holds the mutex waits for itself. A thread that runs tasks, and blocks on a mutex that one of them
        /// holds, waits for a task that cannot run: `forbid_blocking` finds such calls.
        #[doc(alias("acquire", "blocking_lock", "lock_blocking", "pthread_mutex_lock"))]
        lock -> MutexGuard<'_, T>;
        /// Attempts to lock the mutex without waiting.
        ///
        /// Returns `None` if the mutex is held, or reserved for the head waiter. A reservation is short, but may last about 30 ms if
        /// the head waiter is a future that is not polled ([`guide::what_holds`](crate::guide::what_holds)).
        ///
        /// ```
        /// let mutex = waitword::Mutex::new(1);
        /// let guard = mutex.try_lock().unwrap();
        /// assert!(mutex.try_lock().is_none());
        /// drop(guard);
        /// assert!(mutex.try_lock().is_some());
        /// ```
        #[doc(alias("try_acquire", "pthread_mutex_trylock"))]
        #[must_use = "dropping the guard releases the mutex"]
        try_lock -> Option<MutexGuard<'_, T>>;
        /// Locks the mutex without blocking this thread: the task waits until it is acquired, and the future returns the guard.
        ///
        /// ```
        /// # smol::block_on(async {
        /// let mutex = waitword::Mutex::new(1);
        /// *mutex.lock_async().await += 1;
        /// assert_eq!(*mutex.lock_async().await, 2);
        /// # });
        /// ```
        ///
        /// With a timeout ([`MutexLock::timeout`]):
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{LockError, Mutex};
        ///
        /// # smol::block_on(async {
        /// let mutex = Mutex::new(1);
        /// let guard = mutex.lock();
        /// let late = mutex.lock_async().timeout(Duration::from_millis(1)).await;
        /// assert_eq!(late.map(drop), Err(LockError::TimedOut));
        /// # drop(guard);
        /// # });
        /// ```
        #[doc(alias("acquire_async", "async_lock"))]
        lock_async -> MutexLock<&Self> = MutexLock(self);
    }

    blocking_until! {
        // SAFETY: as above.
        self: () => |hold| unsafe { MutexGuard::new(self, hold) }, "LockError", "";
        /// Locks the mutex, blocking this thread for at most `timeout`.
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{LockError, Mutex};
        ///
        /// let mutex = Mutex::new(1);
        /// let guard = mutex.lock_for(Duration::ZERO).unwrap();
        /// assert_eq!(mutex.lock_for(Duration::from_millis(1)).unwrap_err(), LockError::TimedOut);
        /// # drop(guard);
        /// ```
        #[doc(alias("try_lock_for", "lock_timeout", "pthread_mutex_timedlock"))]
        lock_for -> Result<MutexGuard<'_, T>, LockError>;
        /// Locks the mutex, blocking this thread until `deadline` at the latest.
        ///
        /// ```
        /// use std::time::{Duration, Instant};
        ///
        /// let mutex = waitword::Mutex::new(1);
        /// let deadline = Instant::now() + Duration::from_millis(10);
        /// assert_eq!(*mutex.lock_until(deadline).unwrap(), 1);
        /// ```
        #[doc(alias("try_lock_until", "lock_deadline"))]
        lock_until;
    }
}

/// # Over an `Arc`
/// The guards and the futures of these methods hold an `Arc` of the mutex, so they can be stored in a struct or moved into a task.
///
/// The methods take the `Arc` by reference: the caller keeps its `Arc` if an attempt fails, and the reference count changes
/// only when a guard or a future is created.
impl<T: ?Sized> Mutex<T> {
    grid! {
        self: &Arc<Self>;
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        () => |hold| unsafe { OwnedMutexGuard::new(Arc::clone(self), hold) }, "LockError", "", "";
        /// Locks the mutex with a guard that holds an `Arc` of it, blocking this thread until it is acquired.
        ///
        /// Fairness and deadlocks are those of [`lock`](Self::lock).
        ///
        /// ```
        /// use std::sync::Arc;
        /// use waitword::Mutex;
        ///
        /// let mutex = Arc::new(Mutex::new(1));
        /// let mut guard = mutex.lock_owned();
        /// drop(mutex);
        /// *guard += 1;
        /// ```
        #[doc(alias("lock_arc", "blocking_lock_owned", "lock_arc_blocking"))]
        lock_owned -> OwnedMutexGuard<T>;
        /// Attempts to lock the mutex without waiting, with a guard that holds an `Arc` of it.
        #[doc(alias = "try_lock_arc")]
        #[must_use = "dropping the guard releases the mutex"]
        try_lock_owned -> Option<OwnedMutexGuard<T>>;
        /// Locks the mutex without blocking this thread, with a future and a guard that hold an `Arc` of it.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use waitword::Mutex;
        ///
        /// # smol::block_on(async {
        /// let mutex = Arc::new(Mutex::new(1));
        /// let locked = mutex.lock_owned_async();
        /// // Another task receives the guard, and decides when to release.
        /// smol::spawn(async move { *locked.await += 1 }).await;
        /// assert_eq!(*mutex.lock_async().await, 2);
        /// # });
        /// ```
        #[doc(alias("lock_async_owned", "lock_arc", "lock_owned"))]
        lock_owned_async -> MutexLock<Arc<Self>> = MutexLock(Arc::clone(self));
    }
}
