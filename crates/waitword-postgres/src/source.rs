//! Where a lease runs its statements: on the session of a cluster, or on the program's own pool.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::config::{OnLost, this_process};
use crate::error::Error;
use crate::pool::{Failure, Pool, Value};
use crate::session::Param;
use crate::sessions::Sessions;

/// The pause before a failed statement is repeated.
const PAUSE: Duration = Duration::from_millis(50);

/// What the leases on one database share: where statements and tasks run.
#[derive(Clone)]
pub(crate) struct Source {
    asks: Asks,
    pub(crate) runtime: Handle,
    pub(crate) process: Arc<str>,
    pub(crate) on_lost: Option<OnLost>,
}

#[derive(Clone)]
enum Asks {
    Sessions(Arc<Sessions>),
    /// A statement may take so long.
    Pool(Arc<dyn Pool>, Duration),
}

impl Source {
    pub(crate) fn of_sessions(sessions: &Arc<Sessions>) -> Self {
        let (runtime, config) = (sessions.runtime.clone(), &sessions.config);
        let (process, on_lost) = (Arc::clone(&config.process), config.on_lost.clone());
        Self { asks: Asks::Sessions(Arc::clone(sessions)), runtime, process, on_lost }
    }

    pub(crate) fn of_pool(pool: Arc<dyn Pool>, limit: Duration) -> Self {
        Self {
            asks: Asks::Pool(pool, limit),
            runtime: Handle::current(),
            process: this_process(),
            on_lost: None,
        }
    }

    /// The same with another limit of the pool.
    pub(crate) fn limited(mut self, to: Duration) -> Self {
        if let Asks::Pool(_, limit) = &mut self.asks {
            *limit = to;
        }
        self
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
        match &self.asks {
            Asks::Sessions(sessions) => {
                let sent = Instant::now();
                let made = move |row: Row| made(sent, row.get(0));
                sessions.call(statement, params(values), made).await
            }
            Asks::Pool(pool, limit) => {
                let (pool, limit) = (Arc::clone(pool), *limit);
                let asks = async move {
                    ask(&*pool, statement, &values, limit).await.map(|(sent, answer)| made(sent, answer))
                };
                // `Err`: the runtime is ending.
                self.runtime.spawn(asks).await.unwrap_or(Err(Error::RuntimeEnded))
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
        match &self.asks {
            Asks::Sessions(sessions) => {
                let sent = Instant::now();
                // Without a permit, so that it does not queue behind unsent statements.
                let row = sessions.current().await?.run(statement, &params(values.to_vec())).await?;
                Ok((sent, row.get(0)))
            }
            Asks::Pool(pool, _) => ask(&**pool, statement, values, limit).await,
        }
    }
}

/// Runs a statement, retrying within the limit. Also returns when the successful attempt was sent.
async fn ask(
    pool: &dyn Pool,
    statement: &str,
    values: &[Value],
    limit: Duration,
) -> Result<(Instant, i64), Error> {
    let (start, mut last) = (Instant::now(), None::<Failure>);
    let asks = async {
        loop {
            let sent = Instant::now();
            match pool.ask(statement, values).await {
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

fn params(values: Vec<Value>) -> Vec<Param> {
    let param = |value| match value {
        Value::Text(text) => (Box::new(text) as Box<_>, Type::TEXT),
        Value::Int8(number) => (Box::new(number) as Box<_>, Type::INT8),
    };
    values.into_iter().map(param).collect()
}
