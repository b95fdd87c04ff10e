//! A connection to PostgreSQL for one advisory lock, which belongs to the session that took it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, Error, NoTls, SimpleQueryMessage, SimpleQueryRow, Socket};
use waitword::OnceLock;

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

/// How many fencing numbers a tenure has. Its first is the database's; it counts on from there without asking.
pub(crate) const BLOCK: i64 = 1_000_000;

/// Part of the database's schema, once for all locks.
pub(crate) const SCHEMA: &str = "CREATE SEQUENCE waitword_fence INCREMENT 1000000";

/// The endpoints look at each other now and then, and say so to `config`. A server that waits for a lock does not look at its socket
/// unless told to: without the first, a dead client stays in the queue. The others notice a machine that vanished without a word.
pub(crate) fn watched(mut config: Config) -> Config {
    let checks =
        "-c client_connection_check_interval=1s -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=1";
    config.options(format!("{checks} {}", config.get_options().unwrap_or_default()));
    config.keepalives_idle(Duration::from_secs(5)).tcp_user_timeout(Duration::from_secs(10));
    config
}

/// A connection, and what became of it.
pub(crate) struct Session {
    key: i64,
    client: Client,
    connection: AbortHandle,
    /// Why the connection ended.
    pub(crate) lost: Arc<OnceLock<String>>,
}

/// Connects, and gives up after the `connect_timeout` of `config`, or ten seconds: a server that accepts and then says nothing must
/// not keep the local mutex.
pub(crate) async fn connect(config: &Config) -> Result<(Client, Connection<Socket, NoTlsStream>), Failed> {
    let limit = config.get_connect_timeout().copied().unwrap_or(Duration::from_secs(10));
    Ok(tokio::time::timeout(limit, config.connect(NoTls)).await??)
}

impl Session {
    pub(crate) async fn connect(config: &Config, key: i64) -> Result<Self, Failed> {
        let (client, connection) = connect(config).await?;
        let lost = Arc::new(OnceLock::new());
        let connection = tokio::spawn({
            let lost = Arc::clone(&lost);
            async move {
                let why =
                    connection.await.err().map_or("it was closed".to_owned(), |error| error.to_string());
                // Nobody else sets it.
                let _ = lost.set(why);
            }
        });
        Ok(Self { key, client, connection: connection.abort_handle(), lost })
    }

    /// Waits in the database's queue. Returns the first fencing number of the tenure, too: the database runs the second query when
    /// it has granted the lock, so that the numbers grow in the order of the grants.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, the session goes with it, and so does its place in the database's queue.
    pub(crate) async fn take_lock(self, runtime: &Handle) -> Result<(Self, i64), Error> {
        let queries = format!("SELECT pg_advisory_lock({}); SELECT nextval('waitword_fence')", self.key);
        let mut attempt = Attempt { session: Some(self), runtime };
        let session = attempt.session.as_ref().expect("it was put there");
        let fence = last_number(&session.client.simple_query(&queries).await?);
        Ok((attempt.session.take().expect("it was put there"), fence))
    }

    pub(crate) async fn give_lock_back(&self) -> Result<(), Lost> {
        let query = format!("SELECT pg_advisory_unlock({})", self.key);
        match self.client.simple_query(&query).await {
            Ok(answers) if rows(&answers).any(|row| row.get(0) == Some("t")) => self.check(),
            Ok(_) => Err(Lost("the session did not have the lock".to_owned())),
            Err(error) => Err(Lost(error.to_string())),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Lost> {
        self.lost.get().map_or(Ok(()), |why| Err(Lost(why.clone())))
    }

    /// Leaves the database's queue. The lock may have been granted meanwhile, and the cancellation may come before the query; the end
    /// of the session makes up for both.
    async fn leave(self) {
        // If the server cannot be reached, it has to notice the closed connection by itself.
        let _ = self.client.cancel_token().cancel_query(NoTls).await;
        self.connection.abort();
    }
}

/// What the last of several queries answers, which is a number.
pub(crate) fn last_number(answers: &[SimpleQueryMessage]) -> i64 {
    rows(answers).filter_map(|row| row.get(0)?.parse().ok()).last().expect("a number")
}

fn rows(answers: &[SimpleQueryMessage]) -> impl Iterator<Item = &SimpleQueryRow> {
    answers.iter().filter_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}

/// A session in the database's queue.
struct Attempt<'a> {
    session: Option<Session>,
    runtime: &'a Handle,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.runtime.spawn(session.leave());
        }
    }
}

/// The connection ended while the lock was held: the database may have granted it to another process since.
#[derive(Clone, Debug)]
pub(crate) struct Lost(pub(crate) String);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the lock was lost with its connection: {}", self.0)
    }
}

impl std::error::Error for Lost {}
