//! Leases on the program's own pool, and where a lease asks its questions: there, or on the session of a cluster.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::config::{FOR_EVER, OnLost, checked, this_process};
use crate::error::Error;
use crate::lease::Lease;
use crate::pool::{Failure, Pool, Value};
use crate::session::Param;
use crate::sessions::Sessions;

/// The pause after a statement that got no answer.
const PAUSE: Duration = Duration::from_millis(50);

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
pub struct Leases(Arc<Own>);

/// What leases share that are of a pool.
#[derive(Clone)]
pub(crate) struct Own {
    pool: Arc<dyn Pool>,
    runtime: Handle,
    process: Arc<str>,
    answer_limit: Duration,
}

impl Leases {
    /// Asks nothing of the database.
    ///
    /// # Panics
    /// Outside of a tokio runtime with time. Renewals run there, so that it has to outlive the leases.
    pub fn new(pool: impl Pool) -> Self {
        let answer_limit = Duration::from_secs(5);
        Self(Arc::new(Own {
            pool: Arc::new(pool),
            runtime: Handle::current(),
            process: this_process(),
            answer_limit,
        }))
    }

    /// How long the pool may take for a connection and an answer; none of the statements waits for a lease. Statements that fail for a reason that may
    /// pass are repeated for so long. 5 s without this. A renewal has a third of the term.
    pub fn answer_limit(self, limit: Duration) -> Self {
        Self(Arc::new(Own { answer_limit: limit.min(FOR_EVER), ..Own::clone(&self.0) }))
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
        LeaseAsync::new(Source::Pool(Arc::clone(&self.0)), checked(name.into()), term)
    }

    /// Acquires the lease if it has expired or was released. `None`: another holds it.
    ///
    /// # Errors
    /// As those of [`lease_async`](Self::lease_async).
    ///
    /// # Cancellation
    /// As that of [`lease_async`](Self::lease_async).
    pub async fn try_lease_async(&self, name: &str, term: Duration) -> Result<Option<Lease>, Error> {
        let source = Source::Pool(Arc::clone(&self.0));
        Ok(Lease::take(&source, &checked(name.into())?, term).await?.ok())
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

/// Where a lease asks.
#[derive(Clone)]
pub(crate) enum Source {
    Sessions(Arc<Sessions>),
    Pool(Arc<Own>),
}

impl Source {
    pub(crate) fn runtime(&self) -> &Handle {
        match self {
            Self::Sessions(sessions) => &sessions.runtime,
            Self::Pool(own) => &own.runtime,
        }
    }

    pub(crate) fn process(&self) -> &str {
        match self {
            Self::Sessions(sessions) => &sessions.config.process,
            Self::Pool(own) => &own.process,
        }
    }

    pub(crate) fn on_lost(&self) -> Option<OnLost> {
        match self {
            Self::Sessions(sessions) => sessions.config.on_lost.clone(),
            Self::Pool(_) => None,
        }
    }

    /// Runs a statement that may run twice, and returns what `made` makes of the time before it was sent and of its answer.
    ///
    /// # Cancellation
    /// Once it is sent, the statement runs to its end, and what was made is dropped.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        statement: &'static str,
        values: Vec<Value>,
        made: impl Fn(Instant, i64) -> T + Clone + Send + 'static,
    ) -> Result<T, Error> {
        match self {
            Self::Sessions(sessions) => {
                let sent = Instant::now();
                let made = move |row: Row| made(sent, row.get(0));
                sessions.call(statement, params(values), made).await
            }
            Self::Pool(own) => {
                let (own, limit) = (Arc::clone(own), own.answer_limit);
                let asks = async move {
                    own.ask(statement, &values, limit).await.map(|(sent, answer)| made(sent, answer))
                };
                // `Err`: the runtime is ending.
                self.runtime().spawn(asks).await.unwrap_or(Err(Error::RuntimeEnded))
            }
        }
    }

    /// Runs a renewal, which may take no longer than `limit` if it is of a pool: a connection may hang, and the next may not.
    pub(crate) async fn renew(
        &self,
        statement: &str,
        values: &[Value],
        limit: Duration,
    ) -> Result<(Instant, i64), Error> {
        match self {
            Self::Sessions(sessions) => {
                let sent = Instant::now();
                // It needs no place: statements that have none yet come later.
                let row = sessions.current().await?.run(statement, &params(values.to_vec())).await?;
                Ok((sent, row.get(0)))
            }
            Self::Pool(own) => own.ask(statement, values, limit).await,
        }
    }
}

impl Own {
    /// Asks until there is an answer, for the limit. Returns, too, when the question was sent that got it.
    async fn ask(&self, statement: &str, values: &[Value], limit: Duration) -> Result<(Instant, i64), Error> {
        let (start, mut last) = (Instant::now(), None::<Failure>);
        let asks = async {
            loop {
                let sent = Instant::now();
                match self.pool.ask(statement, values).await {
                    Err(failure) if failure.may_pass() => {
                        last = Some(failure);
                        sleep(PAUSE).await;
                    }
                    done => break done.map(|answer| (sent, answer)),
                }
            }
        };
        let answer = timeout(limit, asks).await;
        let start = start.into_std();
        match (answer, last) {
            (Ok(answer), _) => answer.map_err(|failure| failure.error(start)),
            (Err(_), Some(last)) => Err(last.error(start)),
            (Err(_), None) => Err(Error::no_answer(start, limit)),
        }
    }
}

fn params(values: Vec<Value>) -> Vec<Param> {
    let param = |value| match value {
        Value::Text(text) => (Box::new(text) as Box<_>, Type::TEXT),
        Value::Int8(number) => (Box::new(number) as Box<_>, Type::INT8),
    };
    values.into_iter().map(param).collect()
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("answer_limit", &self.0.answer_limit).finish_non_exhaustive()
    }
}

impl fmt::Debug for LeaseAsync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseAsync").finish_non_exhaustive()
    }
}
