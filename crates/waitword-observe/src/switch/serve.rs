//! Reports and traces through a Unix socket, as JSON.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use waitword_core::time::Instant;

use crate::observer::traced;
use crate::report::report;

/// How many connections are answered at the same time. Further ones are refused.
const READERS: usize = 8;

/// A connection is closed if its reader has not read the report in this time.
const DEADLINE: Duration = Duration::from_secs(10);

/// A reader that sends nothing for this long gets a report. One that sends byte by byte is answered after [`LINE`] bytes, 13 s at most.
const READ_TIMEOUT: Duration = Duration::from_millis(200);

/// Longer lines are not requests.
const LINE: u64 = 64;

/// The longest trace.
const LONGEST: Duration = Duration::from_secs(60);

/// What a connection gets beyond [`READERS`].
const BUSY: &[u8] = b"{\"error\":\"busy: 8 connections are open already, try again later\"}\n";

/// Serves reports, as one line of JSON to each connection to a Unix socket at `path`, until the returned [`Server`] is dropped.
///
/// A client may send a request in one line: `report`, or `trace SECONDS` or `trace SECONDS all` for a [`Trace`](crate::Trace) of the next
/// seconds, at most 60. A client that sends nothing gets a report 200 ms later.
///
/// Only the process's own user can connect (mode 0600 from the beginning). A socket that an ended process left behind is replaced. Each
/// connection has a thread; there are at most eight at a time, and further connections get an error. A client that does not read delays
/// no other: its connection is closed after 10 s.
///
/// # Errors
/// If something else than a socket is at `path`, another process listens there, the directory cannot be written, the path is too long for a
/// socket, or the system cannot start the thread.
///
/// ```no_run
/// let _server = waitword_observe::serve("/run/user/1000/pool.sock")?; // waitword report /run/user/1000/pool.sock
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn serve(path: impl AsRef<Path>) -> io::Result<Server> {
    let path = path.as_ref();
    // Checked first: a socket can be moved to a path that is too long to connect to.
    SocketAddr::from_pathname(path)?;
    check_free(path)?;
    let listener = bind(path)?;
    // If another file is at the path when the server ends, that file is not removed.
    let file = fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))?;
    let accepts = UnixStream::from(OwnedFd::from(listener.try_clone()?));
    let server = Server { path: path.to_owned(), file, accepts, is_ending: Arc::default() };
    let is_ending = server.is_ending.clone();
    thread::Builder::new().name("waitword-serve".into()).spawn(move || accept(&listener, &is_ending))?;
    Ok(server)
}

/// A socket that serves reports. Dropping it closes and removes the socket.
#[must_use = "dropping it closes the socket; to keep it open, call `forever`"]
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    file: (u64, u64),
    /// The socket that accepts, as one that can be shut down.
    accepts: UnixStream,
    is_ending: Arc<AtomicBool>,
}

impl Server {
    /// Serves reports until the process ends. The socket's file is left behind then; the next server at its path replaces it.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::SeqCst);
        // Ends the thread that accepts, wherever the socket's file is by now; where the system shuts down no socket that accepts, a
        // connection does.
        let is_shut = self.accepts.shutdown(Shutdown::Both).is_ok();
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|now| (now.dev(), now.ino()) == self.file);
        if is_ours {
            if !is_shut {
                drop(UnixStream::connect(&self.path));
            }
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Fails if there is a file that is no socket, or a socket on which a process listens.
fn check_free(path: &Path) -> io::Result<()> {
    let Ok(there) = fs::symlink_metadata(path) else { return Ok(()) };
    if !there.file_type().is_socket() {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "a file that is not a socket exists there"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
        Ok(_) => Err(io::Error::new(ErrorKind::AddrInUse, "another process listens on this socket")),
        Err(error) => Err(error),
    }
}

/// Binds in a folder that nobody else can enter, restricts the socket, and moves it to its place. At `path` itself it would be open to
/// others until its mode is set.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = parent.join(format!(".ww{}-{number}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    let inside = folder.join("s");
    let bound = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    let _ = fs::remove_file(&inside);
    let _ = fs::remove_dir(&folder);
    bound
}

fn accept(listener: &UnixListener, is_ending: &AtomicBool) {
    let readers = Arc::new(());
    for connection in listener.incoming() {
        if is_ending.load(Ordering::SeqCst) {
            return;
        }
        match connection {
            Ok(connection) => answer(connection, &readers),
            // Most likely no file descriptor is left: other connections may give one back.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Each answering thread holds a clone of `readers`.
fn answer(connection: UnixStream, readers: &Arc<()>) {
    let place = Arc::clone(readers);
    if Arc::strong_count(readers) > 1 + READERS {
        return refuse(connection);
    }
    let give = move || {
        let _place = place;
        let answer = Request::read(&connection).answer();
        // A reader that has gone, or does not read, needs no report.
        let _ = write(&connection, format!("{answer}\n").as_bytes(), Instant::now() + DEADLINE);
    };
    // If no thread can be started, the connection is closed.
    let _ = thread::Builder::new().name("waitword-reader".into()).spawn(give);
}

/// The text fits into the socket's buffer, which is empty.
fn refuse(mut connection: UnixStream) {
    let _ = connection.set_nonblocking(true);
    let _ = connection.write(BUSY);
}

fn write(mut connection: &UnixStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        connection.set_write_timeout(Some(left))?;
        match connection.write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A reader's request: one line, or nothing.
#[derive(Clone, Debug, PartialEq)]
enum Request {
    Report,
    Trace { time: Duration, all: bool },
    Other,
}

impl Request {
    fn read(connection: &UnixStream) -> Self {
        let mut line = Vec::new();
        // What has come until then counts.
        let _ = connection.set_read_timeout(Some(READ_TIMEOUT));
        let _ = BufReader::new(connection.take(LINE + 1)).read_until(b'\n', &mut line);
        if line.len() as u64 > LINE {
            return Self::Other;
        }
        Self::parse(&String::from_utf8_lossy(&line))
    }

    fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let trace = |seconds: &str, all| {
            let time = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
            (time <= LONGEST).then_some(Self::Trace { time, all })
        };
        match words[..] {
            [] | ["report"] => Some(Self::Report),
            ["trace", seconds] => trace(seconds, false),
            ["trace", seconds, "all"] => trace(seconds, true),
            _ => None,
        }
        .unwrap_or(Self::Other)
    }

    /// JSON in one line.
    fn answer(self) -> String {
        match self {
            Self::Report => report().to_json(),
            Self::Trace { time, all } => {
                let tracing = traced(all);
                thread::sleep(time);
                tracing.finish().to_json()
            }
            Self::Other => "{\"error\":\"invalid request: send report, trace SECONDS or trace SECONDS all (at most 60 s)\"}".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_one_line() {
        let trace = |millis, all| Request::Trace { time: Duration::from_millis(millis), all };
        let of = [
            ("", Request::Report),
            ("report\n", Request::Report),
            ("trace 0.5\n", trace(500, false)),
            ("trace 60 all", trace(60_000, true)),
            ("trace 61", Request::Other),
            ("trace -1", Request::Other),
            ("trace NaN", Request::Other),
            ("GET / HTTP/1.1\r\n", Request::Other),
        ];
        assert_eq!(of.clone().map(|(line, _)| Request::parse(line)), of.map(|(_, request)| request));
    }

    #[test]
    fn a_line_that_is_too_long_is_no_request_by_its_beginning() {
        let read = |line: &str| {
            let (mut reader, connection) = UnixStream::pair().unwrap();
            reader.write_all(line.as_bytes()).unwrap();
            Request::read(&connection)
        };
        let blanks = |count| " ".repeat(count);
        assert_eq!(read(&format!("report{}\n", blanks(57))), Request::Report);
        assert_eq!(read(&format!("report{}x\n", blanks(60))), Request::Other);
        assert_eq!(read(&format!("report{}\n", blanks(100))), Request::Other);
    }
}
