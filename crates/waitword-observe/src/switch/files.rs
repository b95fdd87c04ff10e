//! Files that are written every 2 s while the program runs, and once more when it ends by itself (`exit.rs`). So a program that is killed
//! leaves the last version.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::exit::AtExit;
use crate::model::Trace;
use crate::observer::traced;
use crate::profile::profile;
use crate::sources::unless_it_panics;

/// How old a file is at most when the program is ended.
const PERIOD: Duration = Duration::from_secs(2);

/// A profile of who made others wait, since the start.
pub(super) fn write_profile(path: PathBuf) -> io::Result<()> {
    let is_text = path.extension().is_some_and(|extension| extension == "folded");
    let mut last = None;
    again(move || {
        let now = profile();
        if last.as_ref() == Some(&now) {
            return Ok(());
        }
        let bytes = if is_text { now.folded().into_bytes() } else { now.pprof() };
        last = Some(now);
        replace(&path, &bytes)
    })
}

/// A trace of the youngest events, with all acquisitions.
pub(super) fn write_trace(path: PathBuf) -> io::Result<()> {
    let text = match path.extension() {
        Some(extension) if extension == "svg" => Trace::to_svg,
        #[cfg(feature = "json")]
        _ => Trace::to_chrome_json,
        #[cfg(not(feature = "json"))]
        _ => return Err(crate::json::not_built_in()),
    };
    let tracing = traced(true);
    again(move || replace(&path, text(&tracing.so_far()).as_bytes()))
}

/// Whether two paths name the same file, so that each writer would replace the other's.
pub(super) fn are_one(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if folder != Path::new("") => folder.canonicalize().ok(),
        _ => Path::new(".").canonicalize().ok(),
    };
    let leads_to = |path: &Path| path.canonicalize().ok();
    one == other
        || leads_to(one).is_some_and(|it| leads_to(other) == Some(it))
        || one.file_name() == other.file_name() && folder(one).is_some_and(|it| folder(other) == Some(it))
}

/// Writes once now, so that a path that cannot be written is known at once, and then every [`PERIOD`] until the program ends.
fn again(mut write: impl FnMut() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    write()?;
    let at_exit = AtExit::new();
    let run = move || {
        loop {
            let is_last = at_exit.wait(PERIOD);
            // A disk that is full now may have room later.
            let _ = unless_it_panics(&mut write);
            if is_last {
                break;
            }
        }
    };
    thread::Builder::new().name("waitword-files".into()).spawn(run).map(drop)
}

/// Replaces a file, or the target of a link: a reader sees the old file or the new one, never a part. Anything else (a pipe, a device, a
/// dangling link) is refused, because replacing it would destroy it.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match fs::symlink_metadata(&path) {
        Ok(file) if file.is_symlink() => {
            return Err(invalid("it is a dangling link: create the file that it points to"));
        }
        Ok(file) if !file.is_file() => return Err(invalid("it is not a regular file: give the name of one")),
        _ => {}
    }
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}", std::process::id()));
    // An earlier process with the same id may have left the file; and a link must not be followed.
    let _ = fs::remove_file(&new);
    let written = File::create_new(&new).and_then(|mut file| file.write_all(bytes));
    written.and_then(|()| fs::rename(&new, &path)).inspect_err(|_| drop(fs::remove_file(&new)))
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
