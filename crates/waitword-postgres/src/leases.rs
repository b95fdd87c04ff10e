//! Leases on the program's own pool.

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

/// Leases of a database, on a [pool](Pool) of the program's own. Each statement is a transaction of its own and takes a connection from the pool for
/// so long. Between statements, a lease holds none. A pooler that shares sessions (PgBouncer in `pool_mode = transaction`) may be in between.
///
/// The database needs the [schema](crate::SCHEMA), and the role `USAGE` on it. [`migrate`](crate::migrate) needs a connection that is not shared.
///
/// A clone is the same.
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
    /// Asks nothing of the database.
    ///
    /// # Panics
    /// Outside of a tokio runtime with time. Renewals run there, so that it has to outlive the leases.
    pub fn new(pool: impl Pool) -> Self {
        Self(Source::of_pool(Arc::new(pool), Duration::from_secs(5)))
    }

    /// How long the pool may take for a connection and an answer; none of the statements waits for a lease. Statements that fail for a reason that may
    /// pass are repeated for so long. 5 s without this. A renewal has a third of the term.
    pub fn answer_limit(self, limit: Duration) -> Self {
        Self(self.0.limited(limit.min(FOR_EVER)))
    }

    /// Acquires the lease with this name, when it has expired or was released. A `term` is what others wait if the holder hangs, and the database, or a
    /// connection of the pool, may be away for two thirds of it; below a second, small delays end it. From a millisecond to 30 days.
    ///
    /// A waiter asks again when the lease expires, and at least each second; waiters are in no order.
    ///
    /// # Errors
    /// [`Error::Name`], [`Error::Term`], [`Error::PoolClosed`]; [`Error::Unreachable`] after the [limit](Self::answer_limit); [`Error::TimedOut`];
    /// or what the database says. If an answer was lost on its way, the lease may be held by nobody until it expires.
    ///
    /// # Cancellation
    /// Dropped, the future gives back in the background what was granted.
    pub fn lease_async(&self, name: &str, term: Duration) -> LeaseAsync {
        LeaseAsync::new(self.0.clone(), checked(name.into()), term)
    }

    /// Acquires the lease if it has expired or was released. `None`: another holds it.
    ///
    /// # Errors
    /// As those of [`lease_async`](Self::lease_async).
    ///
    /// # Cancellation
    /// As that of [`lease_async`](Self::lease_async).
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

    /// Gives up with [`Error::TimedOut`] when so much time has passed since this call.
    pub fn timeout(self, limit: Duration) -> Self {
        self.deadline(std::time::Instant::now() + limit.min(FOR_EVER))
    }

    /// Gives up with [`Error::TimedOut`] at this time.
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
