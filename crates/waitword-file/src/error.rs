//! The error type.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The error of opening or locking a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The wait reached its deadline.
    TimedOut {
        /// The path of the file.
        path: PathBuf,
        /// The ids of the processes that held the lock at the deadline, as far as they are known.
        holders: Vec<u32>,
    },
    /// The call would block, and this thread must not block ([`waitword::forbid_blocking`]). It did not wait.
    BlockingForbidden,
    /// This process was forked from the one that opened the file. Open the path again.
    Forked,
    /// The system could not open or lock the file.
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        error: Arc<io::Error>,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error: Arc::new(error) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut { path, holders } => {
                write!(f, "timed out: {} is locked", path.display())?;
                for (index, process) in holders.iter().enumerate() {
                    write!(f, "{} {process}", if index == 0 { " by process" } else { "," })?;
                }
                Ok(())
            }
            Self::BlockingForbidden => waitword::LockError::BlockingForbidden.fmt(f),
            Self::Forked => f.write_str(
                "the lock was opened before a fork, by the parent process: open it again in this process",
            ),
            Self::Io { path, error } => write!(f, "{} cannot be locked: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
