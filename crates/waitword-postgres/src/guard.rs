//! The guard of a [`ClusterMutex`](crate::ClusterMutex).

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::cohort::{Held, Turn};
use crate::error::{Error, Lost};
use crate::pool::{self, Transaction};
use crate::session::Requested;

/// A guard that holds a [`ClusterMutex`](crate::ClusterMutex), as far as this process knows. It holds an `Arc` of the mutex and can be sent to
/// another thread or task.
///
/// Dropping the guard releases the mutex in the background, without waiting for the database. A loss that is noticed after the drop is reported to
/// [`Config::on_lost`](crate::Config::on_lost) only. [`unlock`](Self::unlock) and [`unlock_async`](Self::unlock_async) return an error if the
/// process knows by then that the mutex was lost.
#[must_use = "dropping the guard releases the mutex"]
pub struct ClusterGuard {
    /// Dropping the turn releases the mutex.
    turn: Turn,
    requested: Arc<Requested>,
    fence: i64,
}

impl ClusterGuard {
    pub(crate) fn new(held: Held) -> Self {
        let Held { turn, requested, fence } = held;
        Self { turn, requested, fence }
    }

    /// Returns the name of the mutex, with its namespace: the first argument of `waitword.check`.
    pub fn name(&self) -> &str {
        &self.requested.name
    }

    /// Returns the fencing number, which is larger than those of all earlier guards of this mutex, in all processes. Check it in each transaction
    /// that accesses the protected data, including the first read ([how](crate#fencing)).
    ///
    /// # Errors
    /// [`Lost`] if the mutex is known to be lost. `Ok` does not prove that it is still held. Only the check in the database proves that.
    pub fn fence(&self) -> Result<i64, Lost> {
        self.requested.check().map(|()| self.fence)
    }

    /// Checks the fencing number in the database, by `waitword.check`. Must be the first statement of each transaction that reads or writes the
    /// protected data ([why](crate#fencing)).
    ///
    /// # Errors
    /// - [`Error::Lost`] if the mutex is known to be lost, or if a larger number was checked before. Roll the transaction back.
    /// - Another [`Error`] if the statement failed.
    pub async fn check(&self, transaction: &mut (impl Transaction + ?Sized)) -> Result<(), Error> {
        pool::check(self.name(), self.fence()?, transaction).await
    }

    /// Waits until the mutex is lost: its session ended, or an administrator deleted or changed its row. The database may then grant the mutex to
    /// another process.
    ///
    /// # Cancellation
    /// Dropping the future has no effect. It can be created again.
    pub async fn lost(&self) -> Lost {
        self.requested.lost.wait_async().await.clone()
    }

    /// Runs the future `section`, and drops it as soon as the mutex is lost.
    ///
    /// ```no_run
    /// # async fn section(mutex: &waitword_postgres::ClusterMutex) -> Result<(), waitword_postgres::Error> {
    /// let guard = mutex.lock_async().await?;
    /// let fence = guard.fence()?;
    /// let sum = guard.run(async { 1 + fence }).await?;
    /// guard.unlock_async().await?; // rely on `sum` only after this
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Lost`] if the mutex was lost. The section may have done part of its work.
    ///
    /// # Cancellation
    /// Dropping the future drops the section. The guard still holds the mutex.
    pub async fn run<F: Future>(&self, section: F) -> Result<F::Output, Lost> {
        tokio::select! {
            biased;
            lost = self.lost() => Err(lost),
            done = section => Ok(done),
        }
    }

    /// Releases the mutex. Blocks the current thread until the database has answered, unless the mutex passes to a waiter of this process.
    ///
    /// # Errors
    /// [`Lost`] if the mutex was lost: another process may have held it at the same time. If the mutex passes to a waiter of this process, no
    /// statement is sent, and a loss that the process notices later is not returned here. The database refuses the fencing number in any case.
    ///
    /// # Panics
    /// If called in a task. Use [`unlock_async`](Self::unlock_async) there.
    #[doc(alias("release", "unlock_blocking"))]
    pub fn unlock(mut self) -> Result<(), Lost> {
        let sessions = &self.turn.cohort.sessions;
        sessions.may_block("unlock_async");
        let runtime = sessions.runtime.clone();
        runtime.block_on(self.release())
    }

    /// Releases the mutex without blocking the current thread. Waits until the database has answered, unless the mutex passes to a waiter of this
    /// process.
    ///
    /// # Errors
    /// As [`unlock`](Self::unlock).
    ///
    /// # Cancellation
    /// Dropping the future releases the mutex in the background, as dropping the guard does.
    #[doc(alias("release_async"))]
    pub async fn unlock_async(mut self) -> Result<(), Lost> {
        self.release().await
    }

    async fn release(&mut self) -> Result<(), Lost> {
        let fenced = self.fence();
        // The first poll spawns the release as a task, so dropping this future does not stop it. `Err`: the runtime is ending.
        if let Some(giving_back) = self.turn.end()
            && let Ok((_, released)) = giving_back.await
        {
            released?;
        }
        fenced.map(drop)
    }
}

impl fmt::Debug for ClusterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_lost = self.requested.lost.is_set();
        f.debug_struct("ClusterGuard")
            .field("name", &self.name())
            .field("fence", &self.fence)
            .field("is_lost", &is_lost)
            .finish_non_exhaustive()
    }
}
