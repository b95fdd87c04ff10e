//! What can go wrong, and what to do then.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_postgres::error::{DbError, Severity, SqlState};
use waitword::LockError;

/// The error of a client that is behind one of ours.
pub(crate) type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a lock or a lease was not acquired. What it prints says what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The address of the database cannot be read.
    Address(Arc<dyn std::error::Error + Send + Sync>),
    /// A name that no lock can have, and why.
    Name(&'static str),
    /// A term that no lease can have: it is less than a millisecond, or more than 30 days.
    Term(Duration),
    /// The pool of the leases was closed.
    PoolClosed(Arc<dyn std::error::Error + Send + Sync>),
    /// There was no session, or no answer, for so long. The text is the last reason, and what to do about it.
    Unreachable(Duration, String),
    /// The server refused the connection: the user, the password or the database is wrong.
    Refused(Arc<dyn std::error::Error + Send + Sync>),
    /// The schema `waitword` is not there, or is older than the program.
    Schema(Arc<dyn std::error::Error + Send + Sync>),
    /// The schema `waitword` is newer than the program.
    Outdated(Arc<dyn std::error::Error + Send + Sync>),
    /// The role may not use the schema.
    Rights(Arc<dyn std::error::Error + Send + Sync>),
    /// Something between this process and the server lends one session to several clients.
    SharedSession,
    /// The tokio runtime in which the cluster connected has ended.
    RuntimeEnded,
    /// The time was up. The request was taken back.
    TimedOut,
    /// It would have had to wait, and this thread must not block ([`waitword::forbid_blocking`]).
    BlockingForbidden,
    /// The session ended.
    Lost(Lost),
    /// Any other error of the database.
    Database(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// What the database says, as one of the cases above, to what was asked at `start`.
    pub(crate) fn of(error: tokio_postgres::Error, start: Instant) -> Self {
        let code = error.code().map(SqlState::code).unwrap_or_default().to_owned();
        Self::by_code(&code, Arc::new(error), start)
    }

    /// The same by the server's SQLSTATE; without one, it is an error of the client.
    pub(crate) fn by_code(code: &str, cause: Cause, start: Instant) -> Self {
        let is_of = |classes: &[&str]| classes.iter().any(|class| code.starts_with(class));
        match code {
            "WW003" => Self::SharedSession,
            "WW006" => Self::Outdated(cause),
            // An older version; no such schema, no such function.
            "WW002" | "3F000" | "42883" => Self::Schema(cause),
            "42501" => Self::Rights(cause),
            // No authorization; no such database.
            _ if is_of(&["28", "3D000"]) => Self::Refused(cause),
            // The client's own errors; no connection; no room for another; not yet, or no longer; a standby.
            "" | "25006" => Self::unreachable(code, &*cause, start),
            _ if is_of(&["08", "53", "57"]) => Self::unreachable(code, &*cause, start),
            _ => Self::Database(cause),
        }
    }

    fn unreachable(code: &str, cause: &dyn std::error::Error, start: Instant) -> Self {
        let why = chain(cause);
        let advice = match code {
            "25006" => {
                "the server is a standby, which only reads: give the address of the primary, or of all hosts"
            }
            "53300" => {
                "end other sessions, or raise max_connections, or the CONNECTION LIMIT of the role or the database"
            }
            "57014" => "if it was statement_timeout or lock_timeout, raise it for the role",
            code if code.starts_with("57") => "the server or an administrator ended the session",
            "" if why.contains("TLS") && cfg!(not(feature = "tls")) => {
                "enable the feature `tls` of waitword-postgres, or write sslmode=disable"
            }
            "" if why.contains("TLS") => {
                "check that the server has TLS and that its certificate is trusted (`Config::tls`), or write sslmode=disable"
            }
            "" if why.contains("configuration") || why.contains("authentication") => "complete the address",
            _ => CHECK,
        };
        Self::Unreachable(start.elapsed(), format!("{why}: {advice}"))
    }

    /// Nothing came from the server for the `limit` of a new session.
    pub(crate) fn silent(start: Instant, limit: Duration) -> Self {
        let why = format!("the server did not answer within {limit:?} (connect_timeout): {CHECK}");
        Self::Unreachable(start.elapsed(), why)
    }

    /// A pool lent no connection, or nothing came from the server.
    pub(crate) fn no_answer(start: Instant, limit: Duration) -> Self {
        let why = format!(
            "the pool gave no answer within {limit:?}: {CHECK}, and that the pool has a free connection"
        );
        Self::Unreachable(start.elapsed(), why)
    }

    /// Whether to try again is of use.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(..) | Self::Lost(_))
    }
}

/// What to do if there is no connection.
const CHECK: &str = "check the address, and that the server runs";

/// Whether the statement did nothing, and may do it if it is sent again: it was cancelled, did not get a row in time, or stood in another's way.
pub(crate) fn is_interrupted(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| INTERRUPTED.contains(&code.code()))
}

pub(crate) const INTERRUPTED: [&str; 4] = ["57014", "55P03", "40001", "40P01"];

/// Whether the session is of no use after this answer.
pub(crate) fn ends_session(error: &tokio_postgres::Error) -> bool {
    let is_fatal =
        |error: &DbError| matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    error.as_db_error().is_none_or(|error| is_fatal(error) || error.code().code() == "WW003")
}

/// An error with all that caused it: the client's own words are "db error".
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => write!(
                f,
                "the database's address cannot be read ({}): write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or host=HOST \
                 user=USER dbname=DATABASE",
                chain(&**error)
            ),
            Self::Name(why) => write!(f, "no lock can have this name: {why}"),
            Self::Term(term) => {
                write!(f, "no lease can have a term of {term:?}: take one from a second to 30 days")
            }
            Self::PoolClosed(error) => {
                write!(f, "the pool is closed ({}): close it after its leases", chain(&**error))
            }
            Self::Unreachable(time, why) => {
                write!(f, "no session with the database after {} ms: {why}", time.as_millis())
            }
            Self::Refused(error) => {
                write!(f, "the server refused ({}): check user, password and database", chain(&**error))
            }
            Self::Schema(error) => write!(
                f,
                "the database is not prepared ({}): have its owner call `waitword_postgres::migrate`, or run the text \
                 `waitword_postgres::SCHEMA`",
                chain(&**error)
            ),
            Self::Outdated(error) => write!(
                f,
                "the database is prepared for newer programs ({}): update the program; `migrate` leaves a newer schema as it is",
                chain(&**error)
            ),
            Self::Rights(error) => write!(
                f,
                "the role lacks a right ({}): to use locks, GRANT USAGE ON SCHEMA waitword TO the role, and EXECUTE on its \
                 functions, if that was revoked from PUBLIC; to make the schema, let its owner do it",
                chain(&**error)
            ),
            Self::SharedSession => f.write_str(
                "the session is shared: a pooler lends it to several clients (PgBouncer's pool_mode transaction or statement), \
                 which would share the locks, too: connect to the server itself, or to a pool with pool_mode = session",
            ),
            Self::RuntimeEnded => f.write_str(
                "the tokio runtime in which the cluster connected has ended: connect in one that outlives the use of the cluster",
            ),
            Self::TimedOut => {
                f.write_str("timed out")
            }
            Self::BlockingForbidden => LockError::BlockingForbidden.fmt(f),
            Self::Lost(lost) => lost.fmt(f),
            Self::Database(error) => write!(f, "the database failed: {}", chain(&**error)),
        }
    }
}

impl std::error::Error for Error {}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

impl From<LockError> for Error {
    fn from(error: LockError) -> Self {
        match error {
            LockError::TimedOut => Self::TimedOut,
            LockError::BlockingForbidden => Self::BlockingForbidden,
        }
    }
}

/// A lock or a lease ended before it was released. The database may have granted it to another process since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    name: Arc<str>,
    why: Arc<str>,
}

impl Lost {
    pub(crate) fn new(name: &Arc<str>, why: impl Into<Arc<str>>) -> Self {
        Self { name: Arc::clone(name), why: why.into() }
    }

    /// The name of the lock, with its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why it was lost.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the lock {:?} was lost ({}), and another process may have had it since: do not count what was done under it, unless its \
             fencing number was checked; then lock again",
            self.name, self.why
        )
    }
}

impl std::error::Error for Lost {}
