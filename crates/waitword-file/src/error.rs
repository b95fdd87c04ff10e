//! What can go wrong.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file could not be locked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The wait reached its deadline. `holders` are the processes that held the lock then, as far as they are known.
    TimedOut {
        /// The file.
        path: PathBuf,
        /// Their numbers.
        holders: Vec<u32>,
    },
    /// It would have had to wait, and this thread must not block ([`waitword::forbid_blocking`]). Nothing was waited for.
    BlockingForbidden,
    /// This process was forked from the one that opened the file: open it anew.
    Forked,
    /// The system refused to open or to lock the file.
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
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
            Self::Forked => {
                f.write_str("this process was forked from the one that opened the file: open it anew")
            }
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
