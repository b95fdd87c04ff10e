//! What a lease needs from a client: to run one statement that returns one row. Implemented for the usual clients. For another client, implement
//! the one method of [`Pool`] and the one of [`Transaction`].
//!
//! No state of a session is used: no `SET`, no `LISTEN`, no advisory lock, no named prepared statement. So each statement may run on another
//! connection, and on another server process of a pooler.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use tokio_postgres::GenericClient;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::error::{Cause, Error, INTERRUPTED, Lost, chain};

/// A parameter of a statement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A value of the SQL type `text`.
    Text(String),
    /// A value of the SQL type `bigint`.
    Int8(i64),
}

/// The future of a statement. Its value is the first column, a `bigint`, of the row that the statement returns.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<i64, Failure>> + Send + 'a>>;

/// A pool of connections, or one connection, on which [`Leases`](crate::Leases) run their statements.
///
/// Implemented for [`tokio_postgres::Client`], for the pools of `deadpool-postgres` and `sqlx` (with the features `deadpool` and `sqlx`), and for an
/// [`Arc`] of these.
pub trait Pool: Send + Sync + 'static {
    /// Runs a statement on any connection, in a transaction of its own. The transaction must have committed when the future returns.
    fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a>;
}

/// A transaction of the program, the argument of [`Lease::check`](crate::Lease::check) and [`ClusterGuard::check`](crate::ClusterGuard::check).
///
/// Implemented for the transactions of each client for which [`Pool`] is implemented.
pub trait Transaction: Send {
    /// Runs a statement in this transaction.
    fn ask<'a>(&'a mut self, statement: &'a str, values: &'a [Value]) -> Answer<'a>;
}

/// The error of a statement that a [`Pool`] or [`Transaction`] ran.
#[derive(Clone, Debug)]
pub struct Failure {
    code: Option<String>,
    cause: Cause,
    is_closed: bool,
}

impl Failure {
    /// Creates a failure from a client's error, with the SQLSTATE if the server reported one. Without a SQLSTATE, the statement is retried within its
    /// time limit.
    pub fn new(sqlstate: Option<&str>, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let cause = Arc::from(error.into());
        Self { code: sqlstate.map(str::to_owned), cause, is_closed: false }
    }

    /// Creates a failure from the error of a closed pool. The statement is not retried.
    pub fn closed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { is_closed: true, ..Self::new(None, error) }
    }

    /// Whether a retry of the statement may succeed.
    pub(crate) fn may_pass(&self) -> bool {
        let is_interrupted = self.code.as_deref().is_some_and(|code| INTERRUPTED.contains(&code));
        is_interrupted || self.clone().error(Instant::now()).may_pass()
    }

    /// The error to report for a statement that was begun at `start`.
    pub(crate) fn error(self, start: Instant) -> Error {
        if self.is_closed {
            return Error::PoolClosed(self.cause);
        }
        Error::by_code(self.code.as_deref().unwrap_or_default(), self.cause, start)
    }
}

/// Checks a fencing number, as the first statement of a transaction.
pub(crate) async fn check(
    name: &str,
    fence: i64,
    transaction: &mut (impl Transaction + ?Sized),
) -> Result<(), Error> {
    const CHECK: &str = "SELECT 0::bigint FROM waitword.check($1, $2)";
    let (start, values) = (Instant::now(), [Value::Text(name.to_owned()), Value::Int8(fence)]);
    match transaction.ask(CHECK, &values).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.code.as_deref() == Some("WW001") => {
            Err(Lost::new(&name.into(), chain(&*failure.cause)).into())
        }
        Err(failure) => Err(failure.error(start)),
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let code = error.code().map(SqlState::code).map(str::to_owned);
        Self::new(code.as_deref(), error)
    }
}

/// Runs an unnamed prepared statement, because a pooler may not support named ones.
async fn ask(
    client: &(impl GenericClient + Sync),
    statement: &str,
    values: &[Value],
) -> Result<i64, Failure> {
    let typed = values.iter().map(|value| match value {
        Value::Text(text) => (text as &(dyn ToSql + Sync), Type::TEXT),
        Value::Int8(number) => (number as &(dyn ToSql + Sync), Type::INT8),
    });
    let params: Vec<_> = typed.collect();
    Ok(client.query_typed_one(statement, &params).await?.try_get(0)?)
}

impl Pool for tokio_postgres::Client {
    fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
        Box::pin(ask(self, statement, values))
    }
}

impl Transaction for tokio_postgres::Transaction<'_> {
    fn ask<'a>(&'a mut self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
        Box::pin(ask(&*self, statement, values))
    }
}

impl<P: Pool + ?Sized> Pool for Arc<P> {
    fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
        (**self).ask(statement, values)
    }
}

#[cfg(feature = "deadpool")]
mod deadpool {
    use deadpool_postgres::{Object, PoolError};

    use super::{Answer, Failure, Pool, Transaction, Value, ask};

    impl Pool for deadpool_postgres::Pool {
        fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
            Box::pin(async move {
                let client = self.get().await.map_err(|error| match error {
                    PoolError::Backend(error) => error.into(),
                    PoolError::Closed => Failure::closed(error),
                    error => Failure::new(None, error),
                })?;
                let mut asked = Asked(Some(client));
                let client = asked.0.as_deref().expect("it is taken below");
                let answer = ask(&**client, statement, values).await;
                drop(asked.0.take());
                answer
            })
        }
    }

    /// A connection that owes an answer. Dropping it closes the connection instead of returning it to the pool, because the connection may hang.
    struct Asked(Option<Object>);

    impl Drop for Asked {
        fn drop(&mut self) {
            self.0.take().map(Object::take);
        }
    }

    impl Transaction for deadpool_postgres::Transaction<'_> {
        fn ask<'a>(&'a mut self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
            Box::pin(ask(&**self, statement, values))
        }
    }
}

#[cfg(feature = "sqlx")]
mod sqlx {
    use sqlx::{Error, PgConnection, PgPool, Postgres};

    use super::{Answer, Failure, Pool, Transaction, Value};

    /// sqlx prepares a statement and runs it in two round trips. A pooler sends both to the same server process only within a transaction.
    impl Pool for PgPool {
        fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
            Box::pin(async move {
                let mut transaction = self.begin().await?;
                let answer = ask(&mut transaction, statement, values).await?;
                transaction.commit().await?;
                Ok(answer)
            })
        }
    }

    impl Transaction for sqlx::Transaction<'_, Postgres> {
        fn ask<'a>(&'a mut self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
            Box::pin(ask(self, statement, values))
        }
    }

    /// Runs an unnamed prepared statement, as above.
    async fn ask(client: &mut PgConnection, statement: &str, values: &[Value]) -> Result<i64, Failure> {
        let mut query = sqlx::query_scalar(statement).persistent(false);
        for value in values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Int8(number) => query.bind(number),
            };
        }
        Ok(query.fetch_one(client).await?)
    }

    impl From<Error> for Failure {
        fn from(error: Error) -> Self {
            if matches!(error, Error::PoolClosed) {
                return Self::closed(error);
            }
            let code = error.as_database_error().and_then(|error| Some(error.code()?.into_owned()));
            Self::new(code.as_deref(), error)
        }
    }
}
