//! The ways to lock: blocking, trying and as a future, without a deadline and with one.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::cohort::{Cohort, Turn};
use crate::error::Error;
use crate::guard::ClusterGuard;
use tokio::time::timeout_at;
use waitword::may_block;

/// The clock of a runtime that no thread drives stands still: after this, a thread's own clock ends its wait.
const LATE: Duration = Duration::from_millis(100);

/// A lock of a database, for the threads and tasks of all processes that reach it. A clone is the same lock; so is what
/// [`Cluster::mutex`](crate::Cluster::mutex) returns for the same name.
///
/// All guards are owned: they have a share in the lock, so there are no methods with `_owned` in their names.
///
/// # Fairness
/// The threads and tasks of a process queue as those of [`waitword::Mutex`] do. Processes are granted the lock in the order in which the
/// database received their requests; each may hand it on among its own for a [tenure](crate::Config::tenure). A process whose session ends loses
/// its place, and requests anew.
///
/// # Not re-entrant
/// A task or thread that locks twice waits for itself.
#[derive(Clone)]
pub struct ClusterMutex(pub(crate) Arc<Cohort>);

impl ClusterMutex {
    /// The name, with its namespace.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Locks, and blocks the thread until the lock is held.
    ///
    /// # Errors
    /// [`Error`] has the cases: no session could be had, or the database failed. Nothing is held or requested after an error.
    ///
    /// # Panics
    /// In a task, which must not block: use [`lock_async`](Self::lock_async). If it would have to wait for another of this process and
    /// this thread must not block ([`waitword::forbid_blocking`]). And after the end of the runtime in which the cluster connected.
    #[doc(alias("acquire", "pg_advisory_lock"))]
    pub fn lock(&self) -> Result<ClusterGuard, Error> {
        self.0.sessions.may_block("lock_async");
        let waiting = self.0.waiting();
        let turn = self.0.turn(self.0.local.lock_owned());
        drop(waiting);
        self.0.sessions.runtime.block_on(enter(turn, None))
    }

    /// As [`lock`](Self::lock), for at most `timeout`.
    ///
    /// # Errors
    /// As those of [`lock_until`](Self::lock_until).
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

    /// As [`lock`](Self::lock), until `deadline` at the latest. The deadline counts for the wait and for all that the database is asked.
    ///
    /// # Errors
    /// [`Error::TimedOut`]; [`Error::BlockingForbidden`], if it would have to wait for another of this process and this thread must not
    /// block; or as those of `lock`.
    ///
    /// # Panics
    /// In a task: use [`lock_async_until`](Self::lock_async_until).
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

    /// Locks if nobody holds the lock. Does not wait for a holder, but blocks the thread until the database has answered. `None`: it is held,
    /// or another of this process is about to hold it.
    ///
    /// # Errors
    /// As those of [`lock`](Self::lock).
    ///
    /// # Panics
    /// In a task: use [`try_lock_async`](Self::try_lock_async).
    #[doc(alias("try_acquire", "pg_try_advisory_lock"))]
    pub fn try_lock(&self) -> Result<Option<ClusterGuard>, Error> {
        self.0.sessions.may_block("try_lock_async");
        self.0.sessions.runtime.block_on(self.try_lock_async())
    }

    /// Locks without blocking the thread.
    ///
    /// ```no_run
    /// # async fn lock(cluster: waitword_postgres::Cluster) -> Result<(), waitword_postgres::Error> {
    /// let mutex = cluster.mutex("stock")?;
    /// let guard = mutex.lock_async().await?;
    /// println!("held, as number {}", guard.fence()?);
    /// guard.unlock_async().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As those of [`lock`](Self::lock).
    ///
    /// # Cancellation
    /// Dropped at whatever moment, the future leaves the local queue and the database's, and gives back in the background what was granted.
    #[doc(alias = "acquire_async")]
    pub async fn lock_async(&self) -> Result<ClusterGuard, Error> {
        let waiting = self.0.waiting();
        let turn = self.0.turn(self.0.local.lock_owned_async().await);
        drop(waiting);
        enter(turn, None).await
    }

    /// As [`lock_async`](Self::lock_async), for at most `timeout`, counted from the first poll.
    ///
    /// # Errors
    /// As those of [`lock_until`](Self::lock_until), without `BlockingForbidden`.
    ///
    /// # Cancellation
    /// As that of `lock_async`.
    pub async fn lock_async_for(&self, timeout: Duration) -> Result<ClusterGuard, Error> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.lock_async_until(deadline).await,
            None => self.lock_async().await,
        }
    }

    /// As [`lock_async`](Self::lock_async), until `deadline` at the latest.
    ///
    /// # Errors
    /// As those of [`lock_until`](Self::lock_until), without `BlockingForbidden`.
    ///
    /// # Cancellation
    /// As that of `lock_async`.
    pub async fn lock_async_until(&self, deadline: Instant) -> Result<ClusterGuard, Error> {
        let waiting = self.0.waiting();
        let turn = self.0.turn(self.0.local.lock_owned_async().deadline(deadline).await?);
        drop(waiting);
        enter(turn, Some(deadline)).await
    }

    /// As [`try_lock`](Self::try_lock), in a task.
    ///
    /// # Errors
    /// As those of [`lock`](Self::lock).
    ///
    /// # Cancellation
    /// As that of [`lock_async`](Self::lock_async).
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
    // A waiter gets it, or an error.
    held.map(ClusterGuard::new).ok_or(Error::TimedOut)
}

impl fmt::Debug for ClusterMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClusterMutex").field(&self.name()).finish()
    }
}
