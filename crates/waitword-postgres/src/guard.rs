//! What a lock's holder has.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::cohort::{Held, Turn};
use crate::error::{Error, Lost};
use crate::pool::{self, Transaction};
use crate::session::Requested;

/// The lock is held, as far as this process knows. It has a share in its mutex, so that it can be sent to another thread or task.
///
/// Dropped, it releases in the background: the drop does not wait for the database, and of a loss that comes up then, only
/// [`Config::on_lost`](crate::Config::on_lost) is told. [`unlock`](Self::unlock) and [`unlock_async`](Self::unlock_async) say whether the
/// lock was held to the end, as far as the process has learned by then.
#[must_use = "the lock is released when the guard is dropped"]
pub struct ClusterGuard {
    /// Its drop releases.
    turn: Turn,
    requested: Arc<Requested>,
    fence: i64,
}

impl ClusterGuard {
    pub(crate) fn new(held: Held) -> Self {
        let Held { turn, requested, fence } = held;
        Self { turn, requested, fence }
    }

    /// The name of the lock, with its namespace: what `waitword.check` is called with.
    pub fn name(&self) -> &str {
        &self.requested.name
    }

    /// The fencing number, larger than those of all guards of this lock before it, in all processes. To be shown with every access to
    /// what the lock protects, the first read included ([how](crate#fencing)).
    ///
    /// # Errors
    /// The lock is known to be lost. `Ok` is no proof that it is not: the database's check is.
    pub fn fence(&self) -> Result<i64, Lost> {
        self.requested.check().map(|()| self.fence)
    }

    /// Shows the number to the database, as the first statement of a transaction that reads or writes what the lock protects: `waitword.check`
    /// ([how](crate#fencing)).
    ///
    /// # Errors
    /// [`Error::Lost`] if the lock is known to be lost, or if a larger number was shown before: roll back. Or what the database says.
    pub async fn check(&self, transaction: &mut (impl Transaction + ?Sized)) -> Result<(), Error> {
        pool::check(self.name(), self.fence()?, transaction).await
    }

    /// Waits until the lock is lost: its session ended, or an administrator took the lock away, so that the database may grant it to another process.
    ///
    /// # Cancellation
    /// The future can be dropped and made again.
    pub async fn lost(&self) -> Lost {
        self.requested.lost.wait_async().await.clone()
    }

    /// Runs a section, and drops it as soon as the lock is lost.
    ///
    /// ```no_run
    /// # async fn section(mutex: &waitword_postgres::ClusterMutex) -> Result<(), waitword_postgres::Error> {
    /// let guard = mutex.lock_async().await?;
    /// let fence = guard.fence()?;
    /// let sum = guard.run(async { 1 + fence }).await?;
    /// guard.unlock_async().await?; // `sum` counts only after this
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The lock was lost. The section may have done a part of its work.
    ///
    /// # Cancellation
    /// Dropped, the future drops the section. The lock stays held.
    pub async fn run<F: Future>(&self, section: F) -> Result<F::Output, Lost> {
        tokio::select! {
            biased;
            lost = self.lost() => Err(lost),
            done = section => Ok(done),
        }
    }

    /// Releases the lock, and blocks the thread until the database has answered, if it has to know.
    ///
    /// # Errors
    /// The lock was lost: others may have been in this section. If the lock goes to another thread or task of the process, the database is not
    /// asked, and a loss that the process notices later is not told here; the fencing number is refused all the same.
    ///
    /// # Panics
    /// In a task: use [`unlock_async`](Self::unlock_async) there.
    #[doc(alias("release", "unlock_blocking"))]
    pub fn unlock(mut self) -> Result<(), Lost> {
        let sessions = &self.turn.cohort.sessions;
        sessions.may_block("unlock_async");
        let runtime = sessions.runtime.clone();
        runtime.block_on(self.release())
    }

    /// As [`unlock`](Self::unlock), in a task.
    ///
    /// # Errors
    /// As those of `unlock`.
    ///
    /// # Cancellation
    /// Dropped, the future releases in the background, as a guard does.
    #[doc(alias("release_async"))]
    pub async fn unlock_async(mut self) -> Result<(), Lost> {
        self.release().await
    }

    async fn release(&mut self) -> Result<(), Lost> {
        let fenced = self.fence();
        // Begun at the first poll; then it goes on by itself. The task ends without a result if the runtime does.
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
