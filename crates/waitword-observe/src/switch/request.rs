//! What a reader asks of the socket: one line, or nothing.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use waitword_core::time::Instant;

use crate::report::report;
use crate::trace::traced;

/// A reader that has not asked by then gets a report.
const READ_TIMEOUT: Duration = Duration::from_millis(200);

/// Longer lines are no requests.
const LINE: usize = 64;

/// A trace lasts no longer.
const LONGEST: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Report,
    Trace { time: Duration, all: bool },
    Other,
}

impl Request {
    pub(super) fn read(mut connection: &UnixStream) -> Self {
        let (deadline, mut line) = (Instant::now() + READ_TIMEOUT, Vec::new());
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut chunk = [0; LINE];
            if left.is_zero() || connection.set_read_timeout(Some(left)).is_err() {
                break;
            }
            match connection.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => line.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
            if line.contains(&b'\n') || line.len() > LINE {
                break;
            }
        }
        Self::parse(&String::from_utf8_lossy(&line))
    }

    fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let time = |text: &str| {
            let time = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
            (time <= LONGEST).then_some(time)
        };
        match words[..] {
            [] | ["report"] => Self::Report,
            ["trace", seconds] if time(seconds).is_some() => {
                Self::Trace { time: time(seconds).unwrap_or_default(), all: false }
            }
            ["trace", seconds, "all"] if time(seconds).is_some() => {
                Self::Trace { time: time(seconds).unwrap_or_default(), all: true }
            }
            _ => Self::Other,
        }
    }

    /// JSON in one line.
    pub(super) fn answer(self) -> String {
        match self {
            Self::Report => report().to_json(),
            Self::Trace { time, all } => {
                let tracing = traced(all);
                thread::sleep(time);
                tracing.finish().to_json()
            }
            Self::Other => "{\"error\":\"this program does not understand the request\"}".to_owned(),
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
}
