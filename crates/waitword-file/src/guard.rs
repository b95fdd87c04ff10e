//! What holds the lock.

use std::fmt;
use std::fs::File;
use std::sync::Arc;

use crate::error::Error;
use crate::system::{Local, Path};

/// Holds the lock of a file, shared or exclusive. Dropping the guard releases the lock. It borrows nothing, and may be sent to another
/// thread.
#[clippy::has_significant_drop]
#[must_use = "the file is unlocked again at once if nobody keeps the guard: `let guard = ...`"]
pub struct FileGuard {
    path: Arc<Path>,
    file: Arc<File>,
    /// `None` once it is dropped.
    local: Option<Local>,
}

impl FileGuard {
    pub(crate) fn new(path: &Arc<Path>, local: Local) -> Result<Self, Error> {
        match path.file() {
            Some(file) => Ok(Self { path: Arc::clone(path), file, local: Some(local) }),
            None => {
                path.leave(local);
                Err(Error::Forked)
            }
        }
    }

    /// Returns the file that is locked, to be read and written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether the path still leads to the file that is locked. If somebody has deleted or replaced the file meanwhile, another process may lock
    /// the one that is there now.
    ///
    /// # Errors
    /// Those of the system, and [`Error::Forked`].
    pub fn is_in_place(&self) -> Result<bool, Error> {
        self.path.is_in_place()
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        if let Some(local) = self.local.take() {
            self.path.leave(local);
        }
    }
}

impl fmt::Debug for FileGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileGuard").field(&self.path.path).finish()
    }
}
