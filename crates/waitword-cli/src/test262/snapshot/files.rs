//! A folder of snapshots.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Snapshot;

/// The snapshots in a folder, `*.txt`, sorted by name. A folder that is not there has none.
///
/// # Errors
/// A file that cannot be read or understood.
pub(crate) fn load_all(folder: &Path) -> Result<Vec<Snapshot>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<io::Result<Vec<_>>>().map_err(unreadable)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    files.into_iter().map(Snapshot::load).collect()
}

impl Snapshot {
    fn load(file: PathBuf) -> Result<Self, String> {
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::parse(file, &text)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn save(&self) -> Result<(), String> {
        let written = fs::write(&self.file, self.to_string());
        written.map_err(|error| format!("cannot write {}: {error}", self.file.display()))
    }
}
