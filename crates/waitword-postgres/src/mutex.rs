//! The methods that acquire the lock: blocking, `try_` and async, with and without a deadline.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::cohort::{Cohort, Turn};
use crate::error::Error;
use crate::guard::ClusterGuard;
use tokio::time::timeout_at;
use waitword::may_block;

/// A runtime that no thread drives fires no timers. So long after the deadline, the blocked thread ends its wait by its own clock.
const LATE: Duration = Duration::from_millis(100);

/// A mutex in a database, for the threads and tasks of all processes that connect to it.
///
/// Clones are handles to the same mutex. [`Cluster::mutex`](crate::Cluster::mutex) also returns the same mutex for the same name.
///
/// Guards are owned: they hold an `Arc` of the mutex. So no methods have `_owned` in their names.
///
/// # Fairness
/// The threads and tasks of a process queue as those of [`waitword::Mutex`] do. The database grants the mutex to processes in the order in which it
/// received their requests. A process may pass the mutex among its own waiters for one [tenure](crate::Config::tenure). A process whose session ends
/// loses its position in the queue and requests the mutex again.
///
/// # Reentrancy
/// The mutex is not reentrant: a thread or task that acquires it twice deadlocks.
#[derive(Clone)]
pub struct ClusterMutex(pub(crate) Arc<Cohort>);

impl ClusterMutex {
    /// Returns the name of the mutex, with its namespace.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Acquires the mutex, blocking the current thread until it is available.
    ///
    /// # Errors
    /// Returns an [`Error`] if there is no session with the database, or if the database reports an error. After an error nothing is held or
    /// requested.
    ///
    /// # Panics
    /// - If called in a task of a tokio runtime, unlike [`waitword::Mutex::lock`]. Use [`lock_async`](Self::lock_async) there.
    /// - If another thread or task of this process holds the mutex and this thread must not block ([`waitword::forbid_blocking`]).
    /// - If the runtime in which the cluster connected has ended.
    #[doc(alias("acquire", "pg_advisory_lock"))]
    pub fn lock(&self) -> Result<ClusterGuard, Error> {
        self.0.sessions.may_block("lock_async");
        let waiting = self.0.waiting();
        let turn = self.0.turn(self.0.local.lock_owned());
        drop(waiting);
        self.0.sessions.runtime.block_on(enter(turn, None))
    }

    /// Attempts to acquire the mutex, blocking the current thread for at most `timeout`.
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until).
    ///
    /// # Panics
    /// As [`lock_until`](Self::lock_until).
    #[doc(alias("try_lock_for", "lock_timeout"))]
    pub fn lock_for(&self, timeout: Duration) -> Result<ClusterGuard, Error> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.lock_until(deadline),
            None => self.lock(),
        }
    }

    /// Attempts to acquire the mutex, blocking the current thread until `deadline` at the latest. The deadline covers the wait and the statements.
    ///
    /// # Errors
    /// - [`Error::TimedOut`] if the mutex was not acquired by the deadline.
    /// - [`Error::BlockingForbidden`] if another thread or task of this process holds the mutex and this thread must not block.
    /// - As [`lock`](Self::lock).
    ///
    /// # Panics
    /// If called in a task. Use [`lock_async_until`](Self::lock_async_until) there.
    #[doc(alias = "try_lock_until")]
    pub fn lock_until(&self, deadline: Instant) -> Result<ClusterGuard, Error> {
        self.0.sessions.may_block("lock_async_until");
        let waiting = self.0.waiting();
        let local = match self.0.local.try_lock_owned() {
            Some(local) => local,
            None if !may_block() => return Err(Error::BlockingForbidden),
            None => self.0.sessions.runtime.block_on(self.0.local.lock_owned_async().deadline(deadline))?,
        };
        let turn = self.0.turn(local);
        drop(waiting);
        let (sends, entered) = mpsc::sync_channel(1);
        let enter = async move { sends.send(enter(turn, Some(deadline)).await) };
        let task = self.0.sessions.runtime.spawn(enter);
        let entered = entered.recv_timeout(deadline.saturating_duration_since(Instant::now()) + LATE);
        entered.unwrap_or_else(|late| {
            task.abort();
            Err(if late == RecvTimeoutError::Timeout { Error::TimedOut } else { Error::RuntimeEnded })
        })
    }

    /// Attempts to acquire the mutex without waiting for a holder. Blocks the current thread until the database has answered.
    ///
    /// Returns `None` if the mutex is held, or if another thread or task of this process is about to acquire it.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    ///
    /// # Panics
    /// If called in a task. Use [`try_lock_async`](Self::try_lock_async) there.
    #[doc(alias("try_acquire", "pg_try_advisory_lock"))]
    pub fn try_lock(&self) -> Result<Option<ClusterGuard>, Error> {
        self.0.sessions.may_block("try_lock_async");
        self.0.sessions.runtime.block_on(self.try_lock_async())
    }

    /// Acquires the mutex without blocking the current thread.
    ///
    /// ```no_run
    /// # async fn lock(cluster: waitword_postgres::Cluster) -> Result<(), waitword_postgres::Error> {
    /// let mutex = cluster.mutex("stock")?;
    /// let guard = mutex.lock_async().await?;
    /// println!("the fencing number is {}", guard.fence()?);
    /// guard.unlock_async().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    ///
    /// # Cancellation
    /// Dropping the future, at any time, removes it from the local queue. If no local waiter is left to adopt its request, the request is withdrawn
    /// from the database's queue. A mutex that was granted already is passed to the next local waiter or released in the background.
    #[doc(alias = "acquire_async")]
    pub async fn lock_async(&self) -> Result<ClusterGuard, Error> {
        let waiting = self.0.waiting();
        let turn = self.0.turn(self.0.local.lock_owned_async().await);
        drop(waiting);
        enter(turn, None).await
    }

    /// Attempts to acquire the mutex within `timeout`, counted from the first poll, without blocking the current thread.
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until), without [`Error::BlockingForbidden`].
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    pub async fn lock_async_for(&self, timeout: Duration) -> Result<ClusterGuard, Error> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.lock_async_until(deadline).await,
            None => self.lock_async().await,
        }
    }

    /// Attempts to acquire the mutex until `deadline` at the latest, without blocking the current thread.
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until), without [`Error::BlockingForbidden`].
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    pub async fn lock_async_until(&self, deadline: Instant) -> Result<ClusterGuard, Error> {
        let waiting = self.0.waiting();
        let turn = self.0.turn(self.0.local.lock_owned_async().deadline(deadline).await?);
        drop(waiting);
        enter(turn, Some(deadline)).await
    }

    /// Attempts to acquire the mutex without waiting for a holder. The future waits only for the database's answer.
    ///
    /// Returns `None` if the mutex is held, or if another thread or task of this process is about to acquire it.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    pub async fn try_lock_async(&self) -> Result<Option<ClusterGuard>, Error> {
        let Some(local) = self.0.local.try_lock_owned() else { return Ok(None) };
        Ok(self.0.turn(local).enter(false).await?.map(ClusterGuard::new))
    }
}

async fn enter(turn: Turn, deadline: Option<Instant>) -> Result<ClusterGuard, Error> {
    let enter = turn.enter(true);
    let held = match deadline {
        Some(deadline) => timeout_at(deadline.into(), enter).await.unwrap_or(Err(Error::TimedOut))?,
        None => enter.await?,
    };
    // `None` is for attempts that do not wait.
    held.map(ClusterGuard::new).ok_or(Error::TimedOut)
}

impl fmt::Debug for ClusterMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClusterMutex").field(&self.name()).finish()
    }
}
