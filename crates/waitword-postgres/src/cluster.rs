//! The entry of the crate: a connection to a database, from which locks and leases are created.

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

/// The SQL that [`migrate`] executes: the functions and tables of the schema `waitword`. Run it by `psql --single-transaction` or in the program's
/// own migrations.
pub const SCHEMA: &str = include_str!("schema.sql");

/// Creates or updates the schema `waitword` in a database. It may run at any time, also several times concurrently. A database that holds only
/// protected data needs the schema too, because of `waitword.check`. A schema that is newer than the program is not changed.
///
/// The role of `config` becomes the owner of the schema. Other roles need `GRANT USAGE ON SCHEMA waitword`.
///
/// # Errors
/// - [`Error::Outdated`] if the schema is newer.
/// - [`Error::Rights`] if the role may not create a schema.
/// - [`Error::Unreachable`] if there was no connection, or if it took longer than an attempt to connect may ([`Config::reconnect_limit`]).
///
/// # Panics
/// If called outside of a tokio runtime with I/O and time.
pub async fn migrate(config: &Config) -> Result<(), Error> {
    let start = Instant::now();
    let of = |error| Error::of(error, start);
    let migrate = |host: tokio_postgres::Config| async move {
        let (client, connection) = host.connect(config.connector()).await.map_err(of)?;
        // Closes the connection when it is dropped, also by the time limit.
        let _connection = Connected(tokio::spawn(connection).abort_handle());
        client.batch_execute(SETTINGS).await.map_err(of)?;
        client.batch_execute(&format!("BEGIN; {SCHEMA} COMMIT")).await.map_err(of)
    };
    config.at_first_host(migrate).await
}

/// A connection to the database, from which locks and leases are created. It uses one session, for any number of locks and waiters.
///
/// Clones share the session. It is closed when the last clone, mutex, lease and guard is dropped.
#[derive(Clone)]
pub struct Cluster {
    sessions: Arc<Sessions>,
    cohorts: Arc<Mutex<Cohorts>>,
}

/// One cohort per name, so that all waiters of the process are in one queue.
#[derive(Default)]
struct Cohorts {
    by_name: HashMap<Arc<str>, Weak<Cohort>>,
    /// The size at which dropped cohorts are removed.
    clean_at: usize,
}

impl Cluster {
    /// Connects to the database. Makes one attempt, so that a wrong address is reported immediately.
    ///
    /// The cluster's tasks run in the current tokio runtime, which must outlive the cluster. A current-thread runtime must be driven while other
    /// threads use the cluster: they receive no answers otherwise.
    ///
    /// # Errors
    /// An [`Error`] with the reason if there is no session: for example, the database lacks the schema ([`migrate`]), or a pooler shares the session.
    ///
    /// # Panics
    /// If called outside of a tokio runtime with I/O and time.
    pub async fn connect(config: Config) -> Result<Self, Error> {
        let sessions = Arc::new(Sessions::connect(config).await?);
        Ok(Self { sessions, cohorts: Arc::default() })
    }

    /// Returns the mutex with this name. Sends no statement.
    ///
    /// The database creates a row for each name when it is first locked, and never deletes it. So do not derive names from values that never recur,
    /// such as order numbers.
    ///
    /// # Errors
    /// [`Error::Name`] if the name is empty, contains a zero byte, or is longer than 255 bytes with its namespace.
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

    /// Acquires the lease with this name, waiting until it has expired or was released.
    ///
    /// The `term` bounds how long others wait if the holder hangs. Choose at least three times the outage that the lease has to survive
    /// ([why](crate::Leases::lease_async)), and more than twice [`Config::answer_limit`], because a session that hangs is replaced only after this
    /// limit. With a term below 1 s, short delays can lose the lease. The range is 1 ms to 30 days.
    ///
    /// # Errors
    /// As [`ClusterMutex::lock`], and [`Error::Term`]. If the connection broke before the answer arrived, the lease may stay taken until it expires.
    ///
    /// # Cancellation
    /// Dropping the future releases, in the background, a lease that was granted.
    pub fn lease_async(&self, name: &str, term: Duration) -> LeaseAsync {
        LeaseAsync::new(self.source(), self.sessions.config.name(name), term)
    }

    /// Attempts to acquire the lease with this name without waiting for its holder. Returns `None` if another holds it.
    ///
    /// # Errors
    /// As [`lease_async`](Self::lease_async).
    ///
    /// # Cancellation
    /// As [`lease_async`](Self::lease_async).
    pub async fn try_lease_async(&self, name: &str, term: Duration) -> Result<Option<Lease>, Error> {
        Ok(Lease::take(&self.source(), &self.sessions.config.name(name)?, term).await?.ok())
    }

    fn source(&self) -> Source {
        Source::of_sessions(&self.sessions)
    }

    /// Returns the processes that hold a lock or wait for it: the holder first, then the waiters in queue order. Each process appears once, because
    /// the database does not know how many of its threads and tasks wait.
    ///
    /// # Errors
    /// As [`ClusterMutex::lock`].
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

/// An entry of [`Cluster::queue`]: a process that holds a lock or waits for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Queued {
    /// The name of the process ([`Config::process`]).
    pub process: String,
    /// How long the process has held the lock, or has waited for it.
    pub since: Duration,
    /// Whether the process holds the lock.
    pub holds: bool,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("config", &self.sessions.config).finish_non_exhaustive()
    }
}
