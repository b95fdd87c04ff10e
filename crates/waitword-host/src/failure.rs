//! What went wrong in a script, as plain data that crosses threads and that a command line can show.

use waitword_quickjs::{Exception, JsError, Realm, place_in_frame};

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
    /// The memory limit was reached, and nobody caught the error; or a script went on until nothing was left.
    OutOfMemory,
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
    pub(crate) fn of(host: &Host, realm: &Realm, kind: FailureKind, exception: &Exception) -> Self {
        let error = realm.describe(exception);
        let (message, stack, details) = host.describe(realm, exception.value()).unwrap_or_else(|_| {
            // Out of memory, or terminated: what the engine says will do.
            (error.message.clone(), error.stack.clone(), String::new())
        });
        // Where there is no memory even for an error, the engine throws null.
        let is_null = exception.value().is_null() && realm.memory_budget().is_some();
        let message = if is_null { OUT_OF_MEMORY.to_owned() } else { message };
        let kind = if message == OUT_OF_MEMORY { FailureKind::OutOfMemory } else { kind };
        let stack: Vec<&str> = stack.lines().map(str::trim).filter(|frame| is_of_source(frame)).collect();
        let place = place(host, &error, &stack);
        // A place without a function is what the parser names; no place at all, what the loader throws.
        let is_of_loading = exception.value().is_error() && stack.iter().all(|frame| !frame.ends_with(')'));
        let kind = if is_of_loading && kind == FailureKind::Uncaught { FailureKind::Load } else { kind };
        let frames = stack.iter().filter(|frame| frame.ends_with(')'));
        let stack = frames.map(|frame| with_characters(host, frame)).collect();
        Self { agent: AgentName(host.id), kind, message, place, stack, details }
    }

    /// A failure to get at a script at all.
    pub(crate) fn load(agent: ThreadId, kind: FailureKind, message: String) -> Self {
        Self::plain(agent, kind, message)
    }

    pub(crate) fn internal(agent: ThreadId, message: String) -> Self {
        Self::plain(agent, FailureKind::Internal, message)
    }

    /// A script that did not stop when it was told that there is no memory.
    pub(crate) fn out_of_memory(agent: ThreadId) -> Self {
        Self::plain(agent, FailureKind::OutOfMemory, format!("{OUT_OF_MEMORY}, also for the error"))
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

/// What the engine throws when there is no memory, as text.
const OUT_OF_MEMORY: &str = "InternalError: out of memory";

/// Whether a line of a stack is about source text that has a file: not `at <input>:1:4`, as in an `eval`.
fn is_of_source(frame: &str) -> bool {
    !frame.is_empty() && !frame.starts_with("at <input>")
}

fn place(host: &Host, error: &JsError, stack: &[&str]) -> Option<Place> {
    let (file, line, column) = match stack.first() {
        Some(frame) => place_in_frame(frame)?,
        None => (error.file.as_deref()?, error.line?, error.column),
    };
    let text = sources::line(host, file, line);
    let column = column.map(|bytes| text.as_deref().map_or(bytes, |text| characters(text, bytes)));
    Some(Place { file: file.to_owned(), line, column, text })
}

/// A line of a stack with the column in characters.
fn with_characters(host: &Host, frame: &str) -> String {
    let counted = place_in_frame(frame).and_then(|(file, line, bytes)| {
        let (text, bytes) = (sources::line(host, file, line)?, bytes?);
        let rest = frame.strip_suffix(&format!(":{bytes})"))?;
        Some(format!("{rest}:{})", characters(&text, bytes)))
    });
    counted.unwrap_or_else(|| frame.to_owned())
}

/// The engine counts columns in bytes of UTF-8, people in characters; both from 1.
fn characters(line: &str, bytes: u32) -> u32 {
    let before = line.as_bytes().get(..bytes.saturating_sub(1) as usize).unwrap_or(line.as_bytes());
    String::from_utf8_lossy(before).chars().count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(characters("let é = x;", 1), 1);
        assert_eq!(characters("let é = x;", 10), 9);
        assert_eq!(characters("é", 100), 2);
    }
}
