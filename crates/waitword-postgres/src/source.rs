//! Where a lease runs its statements: on the session of a cluster, or on the program's own pool.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::config::OnLost;
use crate::error::Error;
use crate::pool::{Failure, Pool, Value};
use crate::session::Param;
use crate::sessions::Sessions;

/// The pause before a failed statement is repeated.
const PAUSE: Duration = Duration::from_millis(50);

/// Where a lease runs its statements.
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

    /// Runs a statement that may run twice, and returns the result of `made`. Its arguments are a time before the statement was sent, and the answer.
    ///
    /// # Cancellation
    /// A statement that was sent runs to its end, and the result of `made` is dropped.
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

    /// Runs a renewal. On a pool it may take at most `limit`, because a connection may hang while the next one works.
    pub(crate) async fn renew(
        &self,
        statement: &str,
        values: &[Value],
        limit: Duration,
    ) -> Result<(Instant, i64), Error> {
        match self {
            Self::Sessions(sessions) => {
                let sent = Instant::now();
                // Without a permit, so that it does not queue behind unsent statements.
                let row = sessions.current().await?.run(statement, &params(values.to_vec())).await?;
                Ok((sent, row.get(0)))
            }
            Self::Pool(own) => own.ask(statement, values, limit).await,
        }
    }
}

/// What all leases on one pool share.
#[derive(Clone)]
pub(crate) struct Own {
    pub(crate) pool: Arc<dyn Pool>,
    pub(crate) runtime: Handle,
    pub(crate) process: Arc<str>,
    pub(crate) answer_limit: Duration,
}

impl Own {
    /// Runs a statement, retrying within the limit. Also returns when the successful attempt was sent.
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
