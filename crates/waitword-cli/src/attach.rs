//! `waitword report`, and what `waitword top` asks for: the report of another process, through its socket.

use std::fmt::Display;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use waitword_observe::Report;

use crate::args;

pub(crate) fn run(arguments: &args::Report) -> i32 {
    let socket = &arguments.socket;
    let error = match fetched(socket, "report\n", Duration::ZERO).and_then(|json| Ok((parsed(&json)?, json)))
    {
        Ok((report, json)) => match shown(if arguments.json { &json as &dyn Display } else { &report }) {
            Ok(()) => return 0,
            Err(error) => format!("the report from {} cannot be written: {error}", socket.display()),
        },
        Err(error) => format!("no report from {}: {error}", socket.display()),
    };
    let _ = writeln!(std::io::stderr().lock(), "error: {error}");
    1
}

fn shown(text: &dyn Display) -> io::Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    match write!(output, "{text}").and_then(|()| output.flush()) {
        // Its reader has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// What the program answered instead of what was asked for.
pub(crate) fn refusal(json: &str) -> Option<String> {
    json.strip_prefix("{\"error\":\"").and_then(|rest| rest.trim_end().strip_suffix("\"}")).map(str::to_owned)
}

/// The report of the program that serves the socket.
///
/// # Errors
/// Why there is none, for the user.
#[cfg(feature = "terminal")]
pub(crate) fn fetch(socket: &Path) -> Result<Report, String> {
    parsed(&fetched(socket, "report\n", Duration::ZERO)?)
}

fn parsed(json: &str) -> Result<Report, String> {
    if let Some(answer) = refusal(json) {
        return Err(answer);
    }
    // It ends with a line break.
    if json.starts_with("{\"format\":\"waitword-report\"") && !json.ends_with('\n') {
        return Err("the program ended before its answer did".to_owned());
    }
    Report::from_json(json).map_err(|error| {
        format!("another program than waitword's answers there, or another version: {error}")
    })
}

#[cfg(not(unix))]
pub(crate) fn fetched(_: &Path, _: &str, _: Duration) -> Result<String, String> {
    Err("this platform has no Unix sockets".to_owned())
}

/// Asks the program, and reads its answer, which takes `time` to make.
#[cfg(unix)]
pub(crate) fn fetched(socket: &Path, request: &str, time: Duration) -> Result<String, String> {
    use std::io::{ErrorKind, Read};
    use std::net::Shutdown;
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    /// A report of a million waiters has less.
    const LONGEST: usize = 1 << 30;

    /// A program that makes its report has begun to answer by then; a program that says nothing is not ours.
    const DEADLINE: Duration = Duration::from_secs(15);

    let said = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            "there is no such socket; was the program started with WAITWORD_OBSERVE=serve=PATH?".to_owned()
        }
        ErrorKind::ConnectionRefused => "nobody listens there: the program has ended".to_owned(),
        ErrorKind::PermissionDenied => "it belongs to another user".to_owned(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("no answer in {} s: another program than waitword's listens there", DEADLINE.as_secs())
        }
        ErrorKind::InvalidData => {
            "the answer is no text: another program than waitword's listens there".to_owned()
        }
        _ => error.to_string(),
    };
    let there = std::fs::metadata(socket).map_err(said)?;
    if !there.file_type().is_socket() {
        return Err("this is no socket".to_owned());
    }
    let mut stream = UnixStream::connect(socket).map_err(said)?;
    // A program that reads nothing, and closes, has answered all the same.
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let deadline = Instant::now() + DEADLINE + time;
    let mut bytes = Vec::new();
    let mut chunk = [0; 1 << 16];
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left)).map_err(said)?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // It has not read what was asked; what it said has come before this.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(said(error)),
        }
        if bytes.len() > LONGEST || Instant::now() > deadline {
            return Err(said(ErrorKind::TimedOut.into()));
        }
    }
    String::from_utf8(bytes).map_err(|_| said(ErrorKind::InvalidData.into()))
}
