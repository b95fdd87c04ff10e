//! What went wrong in a script, as plain data that crosses threads and that a command line can show.

use crate::ffi::{Exception, JsError, Realm, place_in_frame};

use super::agent_host::Host;
use super::{AgentName, ThreadId, sources};

/// An error that ended an agent, and with it the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The agent in which it happened.
    pub agent: AgentName,
    /// What kind of error it was.
    pub kind: FailureKind,
    /// What was thrown, in one line or a few: `TypeError: not a function`.
    pub message: String,
    /// Where in the source text, if the error says so.
    pub place: Option<Place>,
    /// The lines of the stack, innermost first: `at lock (/home/me/lock.js:12:5)`. Frames of the host are left out.
    pub stack: Vec<String>,
    /// What else the script put on the error (its cause, a code), as `console.log` would show it; or empty.
    pub details: String,
}

/// The ways in which a script can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A script, or something it imports, could not be read, or parsed, or found.
    Load,
    /// Nobody caught an exception.
    Uncaught,
    /// Nobody handled the rejection of a promise.
    UnhandledRejection,
    /// The host itself failed: a panic, or no memory or thread to start with.
    Internal,
}

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or what stands for it: `[worker eval]`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, in characters from 1, if known.
    pub column: Option<u32>,
    /// The line itself, if it could be read.
    pub text: Option<String>,
}

impl Failure {
    /// Describes what a script threw. Uses the host's own inspection, so it may run getters of the script.
    pub(super) fn of(host: &Host, realm: &Realm, kind: FailureKind, exception: &Exception) -> Self {
        let error = realm.describe(exception);
        let (message, stack, details) = host.describe(realm, exception.value()).unwrap_or_else(|_| {
            // Out of memory, or terminated: what the engine says will do.
            (error.message.clone(), error.stack.clone(), String::new())
        });
        let kind = if error.is_syntax_error && is_of_loading(&error) { FailureKind::Load } else { kind };
        let stack: Vec<String> =
            stack.lines().map(str::trim).filter(|line| is_of_script(line)).map(String::from).collect();
        let place = place(host, &error, &stack);
        Self { agent: AgentName(host.id), kind, message, place, stack, details }
    }

    /// A failure to get at a script at all.
    pub(super) fn load(agent: ThreadId, message: String) -> Self {
        Self::plain(agent, FailureKind::Load, message)
    }

    pub(super) fn internal(agent: ThreadId, message: String) -> Self {
        Self::plain(agent, FailureKind::Internal, message)
    }

    fn plain(agent: ThreadId, kind: FailureKind, message: String) -> Self {
        Self {
            agent: AgentName(agent),
            kind,
            message,
            place: None,
            stack: Vec::new(),
            details: String::new(),
        }
    }
}

/// Whether it is the source text of a file that could not be parsed, and not that of an `eval` or a `JSON.parse`: then
/// the error names a place but no function.
fn is_of_loading(error: &JsError) -> bool {
    error
        .stack
        .lines()
        .next()
        .is_some_and(|line| line.trim_start().starts_with("at ") && !line.ends_with(')'))
}

/// Frames of the host's own scripts and of native functions tell the reader nothing.
fn is_of_script(frame: &str) -> bool {
    !frame.is_empty() && !frame.contains("(waitword:") && !frame.ends_with("(native)")
}

fn place(host: &Host, error: &JsError, stack: &[String]) -> Option<Place> {
    let (file, line, column) = match stack.first().and_then(|frame| place_in_frame(frame)) {
        Some((file, line, column)) => (file.to_owned(), line, column),
        None => (error.file.clone()?, error.line?, error.column),
    };
    let text = sources::line(host, &file, line);
    // The engine counts bytes.
    let column = column.map(|bytes| match &text {
        Some(text) => {
            let before = text.as_bytes().get(..bytes.saturating_sub(1) as usize).unwrap_or(text.as_bytes());
            String::from_utf8_lossy(before).chars().count() as u32 + 1
        }
        None => bytes,
    });
    Some(Place { file, line, column, text })
}
