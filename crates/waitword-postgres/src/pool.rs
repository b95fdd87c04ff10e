//! What a lease needs of a client: one statement, one row. Done for the clients that people use; others implement two methods.
//!
//! Nothing of a session is used: no `SET`, no `LISTEN`, no advisory lock, no prepared statement with a name. So any two statements may run on
//! different connections, and on different server processes of a pooler.

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
    /// Of type `text`.
    Text(String),
    /// Of type `bigint`.
    Int8(i64),
}

/// The first column of the row that a statement returns, a `bigint`.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<i64, Failure>> + Send + 'a>>;

/// What [`Leases`](crate::Leases) run their statements on: a pool of connections, or one connection. Implemented for [`tokio_postgres::Client`] and,
/// with the features `deadpool` and `sqlx`, for the pools of these crates; also behind an [`Arc`].
pub trait Pool: Send + Sync + 'static {
    /// Runs a statement on any connection, in a transaction of its own, which has committed when the future returns.
    fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a>;
}

/// A transaction of the program, for [`Lease::check`](crate::Lease::check) and [`ClusterGuard::check`](crate::ClusterGuard::check). Implemented for
/// the transactions of the clients that [`Pool`] is implemented for.
pub trait Transaction: Send {
    /// Runs a statement in the transaction.
    fn ask<'a>(&'a mut self, statement: &'a str, values: &'a [Value]) -> Answer<'a>;
}

/// Why a client did not get an answer.
#[derive(Clone, Debug)]
pub struct Failure {
    code: Option<String>,
    cause: Cause,
    is_closed: bool,
}

impl Failure {
    /// An error of a client, and the SQLSTATE if the server reported it. Without one, the statement is tried again for a while.
    pub fn new(sqlstate: Option<&str>, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let cause = Arc::from(error.into());
        Self { code: sqlstate.map(str::to_owned), cause, is_closed: false }
    }

    /// The pool was closed: the statement is not tried again.
    pub fn closed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { is_closed: true, ..Self::new(None, error) }
    }

    /// Whether the same statement may get an answer later.
    pub(crate) fn may_pass(&self) -> bool {
        let is_interrupted = self.code.as_deref().is_some_and(|code| INTERRUPTED.contains(&code));
        is_interrupted || self.clone().error(Instant::now()).may_pass()
    }

    /// What users are told of a statement that was begun at `start`.
    pub(crate) fn error(self, start: Instant) -> Error {
        if self.is_closed {
            return Error::PoolClosed(self.cause);
        }
        Error::by_code(self.code.as_deref().unwrap_or_default(), self.cause, start)
    }
}

/// Shows a fencing number, as the first statement of a transaction.
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

/// By a statement without a name, which a pooler need not know.
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

    /// A connection that owes an answer. Dropped, it is closed, and does not go back to the pool: it may hang.
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

    /// sqlx prepares a statement, waits, and then runs it. Only in a transaction does a pooler send both to the same server process.
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

    /// A statement without a name, as above.
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
