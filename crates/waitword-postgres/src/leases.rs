//! Leases whose statements run on the program's own pool.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::timeout_at;

use crate::config::{FOR_EVER, checked};
use crate::error::Error;
use crate::lease::Lease;
use crate::pool::Pool;
use crate::source::Source;

/// Acquires leases on the program's own [pool](Pool) of connections.
///
/// Each statement is a transaction of its own and uses a connection of the pool only for its duration. Between statements, a lease uses no connection.
/// The connections may lead through a pooler that shares sessions (PgBouncer in `pool_mode = transaction`).
///
/// The database needs the [schema](crate::SCHEMA), and the role `USAGE` on it. [`migrate`](crate::migrate) needs a connection that is not shared.
///
/// Clones use the same pool.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// use std::sync::Arc;
/// use std::time::Duration;
/// use waitword_postgres::{Leases, tokio_postgres};
///
/// let (client, connection) = tokio_postgres::connect("host=db user=app", tokio_postgres::NoTls).await?;
/// tokio::spawn(connection);
/// let leases = Leases::new(Arc::new(client));
/// let leader = leases.lease_async("leader", Duration::from_secs(30)).timeout(Duration::from_secs(60)).await?;
/// println!("the fencing number is {}", leader.fence()?);
/// leader.release_async().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Leases(Source);

impl Leases {
    /// Creates leases on `pool`. Sends no statement.
    ///
    /// Renewals run in the current tokio runtime, which must outlive the leases.
    ///
    /// # Panics
    /// If called outside of a tokio runtime with time.
    pub fn new(pool: impl Pool) -> Self {
        Self(Source::of_pool(Arc::new(pool), Duration::from_secs(5)))
    }

    /// Sets the time limit of a statement: for a connection of the pool and the database's answer. Statements do not wait for leases. A statement that
    /// fails for a temporary reason is repeated within the limit. The default is 5 s. The limit of a renewal is a third of the term instead.
    pub fn answer_limit(self, limit: Duration) -> Self {
        Self(self.0.limited(limit.min(FOR_EVER)))
    }

    /// Acquires the lease with this name, waiting until it has expired or was released.
    ///
    /// The `term` bounds how long others wait if the holder hangs. Choose at least three times the outage of the database, or of the pool's
    /// connections, that the lease has to survive. A renewal begins when a third of the term has passed. If it hangs, it is repeated after
    /// another third. After 49/50 of the term, the loss is reported. (If connections fail at once instead of hanging, the lease survives an
    /// outage of 0.6 of the term.) With a term below 1 s, short delays can lose the lease. The range is 1 ms to 30 days.
    ///
    /// # Errors
    /// - [`Error::Name`] or [`Error::Term`] if an argument is not valid.
    /// - [`Error::PoolClosed`].
    /// - [`Error::Unreachable`] after the [limit](Self::answer_limit).
    /// - [`Error::TimedOut`] if the future has a deadline.
    /// - Another [`Error`] if a statement failed.
    ///
    /// If an answer was lost on its way, the lease may stay taken, without a holder, until it expires.
    ///
    /// # Cancellation
    /// Dropping the future releases, in the background, a lease that was granted.
    ///
    /// # Fairness
    /// None. A waiter retries when the lease expires, and at least once per second. Waiters are in no order, and a release wakes none of them.
    pub fn lease_async(&self, name: &str, term: Duration) -> LeaseAsync {
        LeaseAsync::new(self.0.clone(), checked(name.into()), term)
    }

    /// Attempts to acquire the lease with this name without waiting for its holder. Returns `None` if another holds it.
    ///
    /// # Errors
    /// As [`lease_async`](Self::lease_async).
    ///
    /// # Cancellation
    /// As [`lease_async`](Self::lease_async).
    pub async fn try_lease_async(&self, name: &str, term: Duration) -> Result<Option<Lease>, Error> {
        Ok(Lease::take(&self.0, &checked(name.into())?, term).await?.ok())
    }
}

/// The future of [`Leases::lease_async`] and [`Cluster::lease_async`](crate::Cluster::lease_async).
#[must_use = "futures do nothing unless polled"]
pub struct LeaseAsync(Pin<Box<dyn Future<Output = Result<Lease, Error>> + Send>>);

impl LeaseAsync {
    pub(crate) fn new(source: Source, name: Result<Arc<str>, Error>, term: Duration) -> Self {
        Self(Box::pin(async move { Lease::wait(&source, &name?, term).await }))
    }

    /// Limits the wait to `limit`, counted from this call. The future then returns [`Error::TimedOut`].
    pub fn timeout(self, limit: Duration) -> Self {
        self.deadline(std::time::Instant::now() + limit.min(FOR_EVER))
    }

    /// Limits the wait to `deadline`. The future then returns [`Error::TimedOut`].
    pub fn deadline(self, deadline: std::time::Instant) -> Self {
        Self(Box::pin(
            async move { timeout_at(deadline.into(), self.0).await.unwrap_or(Err(Error::TimedOut)) },
        ))
    }
}

impl Future for LeaseAsync {
    type Output = Result<Lease, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("process", &self.0.process).finish_non_exhaustive()
    }
}
