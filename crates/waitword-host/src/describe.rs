//! What a script threw, as a failure that an embedder can show.

use waitword_quickjs::{Exception, JsError, Realm, place_in_frame};

use crate::agent_host::Host;
use crate::agent_name::AgentName;
use crate::failure::{Failure, FailureKind, OUT_OF_MEMORY, Place};
use crate::sources;

/// Describes what a script threw. Uses the host's own inspection, so it may run getters of the script.
pub(crate) fn failure(host: &Host, realm: &Realm, kind: FailureKind, exception: &Exception) -> Failure {
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
    Failure { agent: AgentName(host.id), kind, message, place, stack, details }
}

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
