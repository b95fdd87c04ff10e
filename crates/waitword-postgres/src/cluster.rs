//! A database, as the processes that meet there see it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use crate::cohort::Cohort;
use crate::config::Config;
use crate::error::Error;
use crate::lease::Lease;
use crate::leases::LeaseAsync;
use crate::mutex::ClusterMutex;
use crate::session::{Connected, SETTINGS, text};
use crate::sessions::Sessions;
use crate::source::Source;

/// What [`migrate`] runs: the functions and tables of the schema `waitword`, for `psql --single-transaction` or a program's own migrations.
pub const SCHEMA: &str = include_str!("schema.sql");

/// Makes or renews the schema `waitword` in a database. Can be run at any time, also twice at a time. A database that only holds what a lock
/// protects needs it, too, for `waitword.check`. A schema that is newer than the program stays as it is.
///
/// The role of `config` becomes the owner. Other roles need `GRANT USAGE ON SCHEMA waitword`.
///
/// # Errors
/// The schema is newer ([`Error::Outdated`]), or there was no connection, or the role may not make a schema, or it took longer than a new session may ([`Config::reconnect_limit`]).
///
/// # Panics
/// Outside of a tokio runtime with I/O and time.
pub async fn migrate(config: &Config) -> Result<(), Error> {
    let start = Instant::now();
    let of = |error| Error::of(error, start);
    let migrate = |host: tokio_postgres::Config| async move {
        let (client, connection) = host.connect(config.connector()).await.map_err(of)?;
        // Dropped, as when the time is up, it closes the connection.
        let _connection = Connected(tokio::spawn(connection).abort_handle());
        client.batch_execute(SETTINGS).await.map_err(of)?;
        client.batch_execute(&format!("BEGIN; {SCHEMA} COMMIT")).await.map_err(of)
    };
    config.at_first_host(migrate).await
}

/// A database in which processes meet. One session each, whatever the number of locks and waiters. A clone is the same.
///
/// The session closes when the last clone, lock, lease and guard is dropped.
#[derive(Clone)]
pub struct Cluster {
    sessions: Arc<Sessions>,
    cohorts: Arc<Mutex<Cohorts>>,
}

/// One for each name, so that all of a process who want a lock are in one queue.
#[derive(Default)]
struct Cohorts {
    by_name: HashMap<Arc<str>, Weak<Cohort>>,
    /// The size at which those that nobody has any more are taken out.
    clean_at: usize,
}

impl Cluster {
    /// Connects, once: a wrong address is an error at once.
    ///
    /// # Errors
    /// There was no session, and [`Error`] says why: among others, the database lacks the schema ([`migrate`]), or a pooler shares the session.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time. The tasks of the cluster run there, so that it has to outlive the cluster. One of a single
    /// thread has to be driven by that thread while others lock: no answer comes otherwise.
    pub async fn connect(config: Config) -> Result<Self, Error> {
        let sessions = Arc::new(Sessions::connect(config).await?);
        Ok(Self { sessions, cohorts: Arc::default() })
    }

    /// The lock with this name. Asks nothing of the database, which makes a row of each name when it is first locked, and keeps it: a name must
    /// not be made of what never comes again, such as the number of an order.
    ///
    /// # Errors
    /// [`Error::Name`], if the name is empty, has a zero byte, or has more than 255 bytes with its namespace.
    pub fn mutex(&self, name: &str) -> Result<ClusterMutex, Error> {
        let name = self.sessions.config.name(name)?;
        let mut cohorts = self.cohorts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cohort) = cohorts.by_name.get(&name).and_then(Weak::upgrade) {
            return Ok(ClusterMutex(cohort));
        }
        if cohorts.by_name.len() >= cohorts.clean_at {
            cohorts.by_name.retain(|_, cohort| cohort.strong_count() > 0);
            cohorts.clean_at = 2 * cohorts.by_name.len() + 16;
        }
        let cohort = Arc::new(Cohort::new(&self.sessions, Arc::clone(&name)));
        cohorts.by_name.insert(name, Arc::downgrade(&cohort));
        Ok(ClusterMutex(cohort))
    }

    /// Takes the lease with this name, after it has expired or was given back. A `term` is what others wait if the holder hangs, and three times
    /// what the database may be away; below a second, small delays end it. From a millisecond to 30 days.
    ///
    /// # Errors
    /// As those of [`ClusterMutex::lock`], and [`Error::Term`]. If the connection broke before the answer came, it may be taken until it expires.
    ///
    /// # Cancellation
    /// Dropped, the future gives back in the background what was granted.
    pub fn lease_async(&self, name: &str, term: Duration) -> LeaseAsync {
        LeaseAsync::new(self.source(), self.sessions.config.name(name), term)
    }

    /// Takes the lease if it has expired or was given back. `None`: another has it.
    ///
    /// # Errors
    /// As those of [`lease_async`](Self::lease_async).
    ///
    /// # Cancellation
    /// As that of [`lease_async`](Self::lease_async).
    pub async fn try_lease_async(&self, name: &str, term: Duration) -> Result<Option<Lease>, Error> {
        Ok(Lease::take(&self.source(), &self.sessions.config.name(name)?, term).await?.ok())
    }

    fn source(&self) -> Source {
        Source::of_sessions(&self.sessions)
    }

    /// The processes that hold and await a lock: the holder first, then the waiters in their order. A process is there once; how many of its threads
    /// and tasks wait behind, it knows alone.
    ///
    /// # Errors
    /// As those of [`ClusterMutex::lock`].
    pub async fn queue(&self, name: &str) -> Result<Vec<Queued>, Error> {
        const QUEUE: &str =
            "SELECT coalesce(array_agg(process), '{}'), coalesce(array_agg(seconds), '{}'), coalesce(array_agg(holds), '{}')
             FROM waitword.queue($1)";
        let name = self.sessions.config.name(name)?;
        let listed = |row: Row| {
            let (processes, seconds, holds): (Vec<String>, Vec<f64>, Vec<bool>) =
                (row.get(0), row.get(1), row.get(2));
            let queued = processes.into_iter().zip(seconds).zip(holds);
            let queued = queued.map(|((process, seconds), holds)| {
                let since = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                Queued { process, since, holds }
            });
            queued.collect()
        };
        self.sessions.call(QUEUE, vec![text(&name)], listed).await
    }
}

/// A process that holds a lock, or waits for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Queued {
    /// What it calls itself ([`Config::process`]).
    pub process: String,
    /// For how long.
    pub since: Duration,
    /// Whether it holds the lock.
    pub holds: bool,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("config", &self.sessions.config).finish_non_exhaustive()
    }
}
