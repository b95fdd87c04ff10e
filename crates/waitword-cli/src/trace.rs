//! `waitword trace`: the timeline of another process, through its socket.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::args::Trace;
use crate::attach::{NOT_A_REPORT, fetched, refusal};

pub(crate) fn run(arguments: &Trace) -> i32 {
    let (line, failed) = match written(arguments) {
        Ok(line) => (line, 0),
        Err(error) => (format!("error: no trace from {}: {error}", arguments.socket.display()), 1),
    };
    let _ = writeln!(std::io::stderr().lock(), "{line}");
    failed
}

fn written(arguments: &Trace) -> Result<String, String> {
    let Trace { socket, seconds, all, output } = arguments;
    let request = format!("trace {}{}\n", seconds.as_secs_f64(), if *all { " all" } else { "" });
    let file = Output::open(output)?;
    let json = fetched(socket, &request, *seconds)?;
    if let Some(answer) = refusal(&json) {
        return Err(answer);
    }
    let trace = waitword_observe::Trace::from_json(&json).map_err(|_| NOT_A_REPORT.to_owned())?;
    let is_svg = output.extension().is_some_and(|extension| extension == "svg");
    let text = if is_svg { trace.to_svg() } else { trace.to_chrome_json() };
    file.write(&text)?;
    let dropped = match trace.dropped {
        0 => String::new(),
        dropped => format!(" ({dropped} older events were overwritten)"),
    };
    Ok(format!("{}: {} events{dropped}", output.display(), trace.events.len()))
}

/// The file to write. It is opened before the program records, so that a path that cannot be written costs no recording. Its contents are
/// replaced only at the end.
struct Output<'a> {
    path: &'a Path,
    is_new: bool,
    is_written: bool,
}

impl<'a> Output<'a> {
    fn open(path: &'a Path) -> Result<Self, String> {
        let is_new = !path.exists();
        let opened = File::options().append(true).create(true).open(path);
        opened
            .map(|_| Self { path, is_new, is_written: false })
            .map_err(|error| cannot_be_written(path, &error))
    }

    fn write(mut self, text: &str) -> Result<(), String> {
        fs::write(self.path, text).map_err(|error| cannot_be_written(self.path, &error))?;
        self.is_written = true;
        Ok(())
    }
}

impl Drop for Output<'_> {
    /// Removes the file if it is new and still empty.
    fn drop(&mut self) {
        if self.is_new && !self.is_written {
            let _ = fs::remove_file(self.path);
        }
    }
}

fn cannot_be_written(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be written: {}", path.display(), why_unwritable(path, error))
}

/// Why a file cannot be written, and what to do.
pub(crate) fn why_unwritable(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        // Checked by the path, because Windows reports that access is denied.
        _ if path.is_dir() => "this is a directory: name a file in it".to_owned(),
        io::ErrorKind::NotFound => "no such directory: check the name and the directory".to_owned(),
        _ => error.to_string(),
    }
}
