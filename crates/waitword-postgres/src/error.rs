//! The errors. Each message says what happened, then what to do.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_postgres::error::{DbError, Severity, SqlState};
use waitword::LockError;

/// The client's error that caused one of ours.
pub(crate) type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The error of an operation on locks or leases. Its message says what happened and what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The address of the database is not valid.
    Address(Arc<dyn std::error::Error + Send + Sync>),
    /// The name of the lock or lease is not valid, for the given reason.
    Name(&'static str),
    /// The term of the lease is out of range: less than a millisecond, or more than 30 days.
    Term(Duration),
    /// The pool of the leases was closed.
    PoolClosed(Arc<dyn std::error::Error + Send + Sync>),
    /// There was no session with the database, or no answer from it, for the given time. The text is the last reason, and what to do.
    Unreachable(Duration, String),
    /// The server refused the connection: the user, the password or the database is wrong.
    Refused(Arc<dyn std::error::Error + Send + Sync>),
    /// The schema `waitword` is missing, or older than the program needs.
    Schema(Arc<dyn std::error::Error + Send + Sync>),
    /// The schema `waitword` is newer than the program supports.
    Outdated(Arc<dyn std::error::Error + Send + Sync>),
    /// The role lacks a privilege on the schema, or the privilege to create it.
    Rights(Arc<dyn std::error::Error + Send + Sync>),
    /// A pooler between this process and the server shares one session among several clients.
    SharedSession,
    /// The tokio runtime in which the cluster connected has ended.
    RuntimeEnded,
    /// The deadline passed. The request was withdrawn.
    TimedOut,
    /// The call would block, and this thread must not block ([`waitword::forbid_blocking`]).
    BlockingForbidden,
    /// The lock or lease was lost.
    Lost(Lost),
    /// Any other error of the database.
    Database(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Classifies an error of the client. The statement was sent at `start`.
    pub(crate) fn of(error: tokio_postgres::Error, start: Instant) -> Self {
        let code = error.code().map(SqlState::code).unwrap_or_default().to_owned();
        Self::by_code(&code, Arc::new(error), start)
    }

    /// Classifies an error by the server's SQLSTATE. An empty code is an error of the client itself.
    pub(crate) fn by_code(code: &str, cause: Cause, start: Instant) -> Self {
        let is_of = |classes: &[&str]| classes.iter().any(|class| code.starts_with(class));
        match code {
            "WW003" => Self::SharedSession,
            "WW006" => Self::Outdated(cause),
            // The schema is older; there is no such schema; there is no such function.
            "WW002" | "3F000" | "42883" => Self::Schema(cause),
            "42501" => Self::Rights(cause),
            // No authorization; no such database.
            _ if is_of(&["28", "3D000"]) => Self::Refused(cause),
            // The client's own errors; a standby; below: no connection (08), no resources for another (53), starting or shutting down (57).
            "" | "25006" => Self::unreachable(code, &*cause, start),
            _ if is_of(&["08", "53", "57"]) => Self::unreachable(code, &*cause, start),
            _ => Self::Database(cause),
        }
    }

    fn unreachable(code: &str, cause: &dyn std::error::Error, start: Instant) -> Self {
        let why = chain(cause);
        let advice = match code {
            "25006" => "the server is a read-only standby: give the address of the primary, or of all hosts",
            "53300" => {
                "end other sessions, or raise max_connections, or the CONNECTION LIMIT of the role or the database"
            }
            "57014" => "if statement_timeout or lock_timeout caused this, raise it for the role",
            code if code.starts_with("57") => "the server or an administrator terminated the session",
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

    /// The server sent nothing within the `limit` of a new session.
    pub(crate) fn silent(start: Instant, limit: Duration) -> Self {
        let why = format!("the server did not answer within {limit:?} (connect_timeout): {CHECK}");
        Self::Unreachable(start.elapsed(), why)
    }

    /// The pool gave no connection, or the server sent nothing, within the `limit` of an answer.
    pub(crate) fn no_answer(start: Instant, limit: Duration) -> Self {
        let why = format!(
            "the pool gave no answer within {limit:?}: {CHECK}, and that the pool has a free connection"
        );
        Self::Unreachable(start.elapsed(), why)
    }

    /// Whether a retry may succeed.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(..) | Self::Lost(_))
    }
}

/// What to do if there is no connection.
const CHECK: &str = "check the address, and that the server runs";

/// Whether the statement had no effect and may succeed if it is sent again: it was cancelled, waited too long for a row, or conflicted with another.
pub(crate) fn is_interrupted(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| INTERRUPTED.contains(&code.code()))
}

pub(crate) const INTERRUPTED: [&str; 4] = ["57014", "55P03", "40001", "40P01"];

/// Whether the session is unusable after this answer.
pub(crate) fn ends_session(error: &tokio_postgres::Error) -> bool {
    let is_fatal =
        |error: &DbError| matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    error.as_db_error().is_none_or(|error| is_fatal(error) || error.code().code() == "WW003")
}

/// The messages of an error and of all its causes. The client's own message alone is "db error".
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
                "invalid database address ({}): write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or host=HOST user=USER \
                 dbname=DATABASE",
                chain(&**error)
            ),
            Self::Name(why) => write!(f, "invalid lock name: {why}"),
            Self::Term(term) => {
                write!(f, "invalid lease term of {term:?}: choose one from 1 s to 30 days")
            }
            Self::PoolClosed(error) => {
                write!(f, "the pool is closed ({}): close it after its leases", chain(&**error))
            }
            Self::Unreachable(time, why) => {
                write!(f, "no session with the database after {} ms: {why}", time.as_millis())
            }
            Self::Refused(error) => {
                write!(
                    f,
                    "the server refused the connection ({}): check the user, the password and the database",
                    chain(&**error)
                )
            }
            Self::Schema(error) => write!(
                f,
                "the schema `waitword` is missing or older than this program needs ({}): let the owner of the database call \
                 `waitword_postgres::migrate`, or execute `waitword_postgres::SCHEMA`",
                chain(&**error)
            ),
            Self::Outdated(error) => write!(
                f,
                "the schema `waitword` is newer than this program supports ({}): update the program (`migrate` does not change a \
                 newer schema)",
                chain(&**error)
            ),
            Self::Rights(error) => write!(
                f,
                "the role lacks a privilege ({}): to use locks, GRANT USAGE ON SCHEMA waitword to the role, and EXECUTE on its \
                 functions if that was revoked from PUBLIC; to create the schema, call `migrate` as its owner",
                chain(&**error)
            ),
            Self::SharedSession => f.write_str(
                "a pooler shares the session among several clients (PgBouncer with pool_mode = transaction or statement), which \
                 would then share its locks: connect to the server itself, or to a pool with pool_mode = session",
            ),
            Self::RuntimeEnded => f.write_str(
                "the tokio runtime in which the cluster connected has ended: connect in a runtime that outlives the cluster",
            ),
            Self::TimedOut => {
                f.write_str("timed out")
            }
            Self::BlockingForbidden => LockError::BlockingForbidden.fmt(f),
            Self::Lost(lost) => lost.fmt(f),
            Self::Database(error) => write!(f, "the database reported an error: {}", chain(&**error)),
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

/// A lock or lease was lost: it ended before its holder released it. The database may have granted it to another process since then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    name: Arc<str>,
    why: Arc<str>,
}

impl Lost {
    pub(crate) fn new(name: &Arc<str>, why: impl Into<Arc<str>>) -> Self {
        Self { name: Arc::clone(name), why: why.into() }
    }

    /// Returns the name of the lock or lease, with its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the reason of the loss.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the lock {:?} was lost ({}), and another process may have held it since: rely only on work whose fencing number was \
             checked, and acquire the lock again",
            self.name, self.why
        )
    }
}

impl std::error::Error for Lost {}
