//! What can go wrong, and what to do then.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::error::{DbError, Severity};
use waitword::LockError;

/// Why a lock or a lease was not acquired. What it prints says what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The address of the database cannot be read.
    Address(Arc<tokio_postgres::Error>),
    /// A name that no lock can have, and why.
    Name(&'static str),
    /// There was no connection in time. The text is the last reason.
    Unreachable(Duration, String),
    /// The server refused the connection: the user, the password or the database is wrong.
    Refused(Arc<tokio_postgres::Error>),
    /// The schema `waitword` is not there, or of another version.
    Schema(Arc<tokio_postgres::Error>),
    /// The role may not use the schema.
    Rights(Arc<tokio_postgres::Error>),
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
    Database(Arc<tokio_postgres::Error>),
}

impl Error {
    /// What the database says, as one of the cases above. `waited` is how long it could take.
    pub(crate) fn of(error: tokio_postgres::Error, waited: Duration) -> Self {
        let Some(code) = error.code() else { return Self::Unreachable(waited, chain(&error)) };
        let code = code.code();
        let is_of = |classes: &[&str]| classes.iter().any(|class| code.starts_with(class));
        match code {
            "WW003" => Self::SharedSession,
            // Another version; no such schema, no such function.
            "WW002" | "3F000" | "42883" => Self::Schema(error.into()),
            "42501" => Self::Rights(error.into()),
            "25006" => Self::Unreachable(
                waited,
                "the server is read-only: add target_session_attrs=read-write, and all hosts".to_owned(),
            ),
            // No authorization; no such database.
            _ if is_of(&["28", "3D000"]) => Self::Refused(error.into()),
            // No connection; no room for another; not yet, or no longer.
            _ if is_of(&["08", "53", "57"]) => Self::Unreachable(waited, chain(&error)),
            _ => Self::Database(error.into()),
        }
    }

    /// Whether to try again is of use.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(..) | Self::Lost(_))
    }
}

/// Whether the statement did nothing, and may do it if it is sent again: it was cancelled, did not get a row in time, or stood in another's way.
pub(crate) fn is_interrupted(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| ["57014", "55P03", "40001", "40P01"].contains(&code.code()))
}

/// Whether the session is of no use after this answer.
pub(crate) fn ends_session(error: &tokio_postgres::Error) -> bool {
    let is_fatal =
        |error: &DbError| matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    error.as_db_error().is_none_or(|error| is_fatal(error) || error.code().code() == "WW003")
}

/// An error with all that caused it: the client's own words are "db error".
pub(crate) fn chain(error: &tokio_postgres::Error) -> String {
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
                chain(error)
            ),
            Self::Name(why) => write!(f, "no lock can have this name: {why}"),
            Self::Unreachable(waited, why) => write!(
                f,
                "no session within {waited:?} ({why}): check the address, that the server runs and answers, and of TLS that its \
                 certificate is trusted (`Config::tls`, or sslmode=disable)"
            ),
            Self::Refused(error) => {
                write!(f, "the server refused ({}): check user, password and database", chain(error))
            }
            Self::Schema(error) => write!(
                f,
                "the database is not prepared ({}): have its owner call `waitword_postgres::migrate`, or run the text \
                 `waitword_postgres::SCHEMA`",
                chain(error)
            ),
            Self::Rights(error) => write!(
                f,
                "the role lacks a right ({}): to use locks, GRANT USAGE ON SCHEMA waitword TO the role, and EXECUTE on its \
                 functions, if that was revoked from PUBLIC; to make the schema, let its owner do it",
                chain(error)
            ),
            Self::SharedSession => f.write_str(
                "the session is shared: a pooler lends it to several clients (PgBouncer's pool_mode transaction or statement), \
                 which would share the locks, too: connect to the server itself, or to a pool with pool_mode = session",
            ),
            Self::RuntimeEnded => f.write_str(
                "the tokio runtime in which the cluster connected has ended: connect in one that outlives the use of the cluster",
            ),
            Self::TimedOut => {
                f.write_str("the time was up before it could be had: try again, or allow more time")
            }
            Self::BlockingForbidden => LockError::BlockingForbidden.fmt(f),
            Self::Lost(lost) => lost.fmt(f),
            Self::Database(error) => write!(f, "the database failed: {}", chain(error)),
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
            LockError::TimedOut(_) => Self::TimedOut,
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
