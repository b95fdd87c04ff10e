//! The guard of a [`FileMutex`](crate::FileMutex).

use std::fmt;
use std::fs::File;
use std::sync::Arc;

use crate::error::Error;
use crate::system::{Local, Path};

/// A guard that holds the shared or exclusive lock of a file. Dropping the guard releases the lock.
///
/// The guard borrows nothing and can be sent to another thread.
#[clippy::has_significant_drop]
#[must_use = "dropping the guard releases the lock of the file: bind it, as in `let guard = ...`"]
pub struct FileGuard {
    path: Arc<Path>,
    file: Arc<File>,
    /// `None` during the drop.
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

    /// Returns the locked file, to read and write it. The position in the file is where this process left it last: seek first.
    ///
    /// ```
    /// use std::io::{Read, Seek, Write};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("count");
    /// let guard = waitword_file::FileMutex::open(path)?.lock()?;
    /// let (mut file, mut count) = (guard.file(), String::new());
    /// file.rewind()?;
    /// file.read_to_string(&mut count)?;
    /// file.rewind()?;
    /// write!(file, "{}", count.parse().unwrap_or(0) + 1)?;
    /// # count.clear();
    /// # file.rewind()?;
    /// # file.read_to_string(&mut count)?;
    /// # assert_eq!(count, "1");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether the path still leads to the locked file. If the file was deleted or replaced, another process may lock the one that is there now.
    /// On Windows, this is not detected.
    ///
    /// # Errors
    /// - [`Error::Io`] if the system cannot read the metadata of a file.
    /// - [`Error::Forked`] in a child process.
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
