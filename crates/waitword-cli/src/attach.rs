//! `waitword report`, and the fetching of reports for `waitword top`: the report of another process, through its socket.

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
        // The reader has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The error that the program answered, if its answer is one.
pub(crate) fn refusal(json: &str) -> Option<String> {
    json.strip_prefix("{\"error\":\"").and_then(|rest| rest.trim_end().strip_suffix("\"}")).map(str::to_owned)
}

/// Fetches the report of the program that serves the socket.
///
/// # Errors
/// A message for the user.
#[cfg(feature = "terminal")]
pub(crate) fn fetch(socket: &Path) -> Result<Report, String> {
    parsed(&fetched(socket, "report\n", Duration::ZERO)?)
}

fn parsed(json: &str) -> Result<Report, String> {
    if let Some(answer) = refusal(json) {
        return Err(answer);
    }
    // A complete report ends with a line break.
    if json.starts_with("{\"format\":\"waitword-report\"") && !json.ends_with('\n') {
        return Err("the answer is incomplete: the program ended while it answered".to_owned());
    }
    Report::from_json(json).map_err(|error| format!("{NOT_A_REPORT}: {error}"))
}

/// The error for an answer that cannot be parsed.
pub(crate) const NOT_A_REPORT: &str =
    "unexpected answer, from another program or another version of waitword";

#[cfg(not(unix))]
pub(crate) fn fetched(_: &Path, _: &str, _: Duration) -> Result<String, String> {
    Err("this platform has no Unix sockets".to_owned())
}

/// Sends a request to the program, and reads the answer, which the program needs `time` to prepare.
#[cfg(unix)]
pub(crate) fn fetched(socket: &Path, request: &str, time: Duration) -> Result<String, String> {
    use std::io::{ErrorKind, Read};
    use std::net::Shutdown;
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    /// More bytes than a report of a million waiters has.
    const LONGEST: usize = 1 << 30;

    /// An observed program begins to answer before this deadline. A program that does not answer is not observed.
    const DEADLINE: Duration = Duration::from_secs(15);

    let said = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            "no such socket; was the program started with WAITWORD_OBSERVE=serve=PATH?".to_owned()
        }
        ErrorKind::ConnectionRefused => "connection refused: the program has ended".to_owned(),
        ErrorKind::PermissionDenied => "permission denied: the socket belongs to another user".to_owned(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("timed out after {} s: the socket belongs to another program", DEADLINE.as_secs())
        }
        ErrorKind::InvalidData => "the answer is not text: the socket belongs to another program".to_owned(),
        _ => error.to_string(),
    };
    let there = std::fs::metadata(socket).map_err(said)?;
    if !there.file_type().is_socket() {
        return Err("not a socket".to_owned());
    }
    let mut stream = UnixStream::connect(socket).map_err(said)?;
    // Ignored, because a program may answer and close without reading the request.
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
            // The program closed without reading the request. Its answer came before the reset.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(said(error)),
        }
        if bytes.len() > LONGEST || Instant::now() > deadline {
            return Err(said(ErrorKind::TimedOut.into()));
        }
    }
    String::from_utf8(bytes).map_err(|_| said(ErrorKind::InvalidData.into()))
}
