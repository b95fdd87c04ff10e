//! Uncaught errors: the script's handlers handle them, or the agent ends, with a failure that an embedder can show.

use crate::agent_host::Host;
use crate::agent_name::AgentName;
use crate::ended::{Failure, FailureKind, OUT_OF_MEMORY, Place};
use crate::sources;
use waitword_quickjs::{Exception, JsError, PromiseState, Realm, Value, place_in_frame};

use super::{EventLoop, Stop};

impl EventLoop<'_> {
    /// Whether the main module failed and the script handled that.
    pub(crate) fn has_failed(&self, promise: Option<&Value>) -> Result<bool, Stop> {
        match promise.map(|promise| self.realm().promise_state(promise)) {
            Some(PromiseState::Rejected(reason)) => {
                let origin = "unhandledRejection";
                self.uncaught_of(FailureKind::Uncaught, &reason, origin).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Passes an uncaught error to the script's listener, or else ends the agent.
    pub(crate) fn uncaught(&self, kind: FailureKind, exception: &Exception) -> Result<(), Stop> {
        self.uncaught_of(kind, exception, "uncaughtException")
    }

    fn uncaught_of(&self, kind: FailureKind, exception: &Exception, origin: &str) -> Result<(), Stop> {
        if self.stopped().is_some() || exception.is_uncatchable() {
            return Err(self.stop(kind, exception));
        }
        let realm = self.realm();
        let heard = realm
            .string(origin)
            .and_then(|origin| self.host.call(realm, "uncaught", &[exception.value().clone(), origin]));
        match heard {
            Ok(is_heard) if realm.to_bool(&is_heard) => Ok(()),
            Ok(_) => Err(self.stop(kind, exception)),
            Err(inner) => Err(self.stop(kind, &inner)),
        }
    }

    /// The reason why the agent stops after this exception.
    pub(crate) fn stop(&self, kind: FailureKind, exception: &Exception) -> Stop {
        if let Some(stop) = self.stopped() {
            return stop;
        }
        let kind = if exception.is_uncatchable() { FailureKind::Internal } else { kind };
        let failure = failure(self.host, self.realm(), kind, exception);
        let thrown = self.host.pack_error(self.realm(), failure.kind, exception.value());
        Stop::Failed(Box::new(failure), thrown)
    }

    /// Whether the agent has to stop, because of itself or of others.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        let exit = self.host.exit.get().map(Stop::Exit);
        let spent = || Stop::Failed(Box::new(Failure::out_of_memory(self.host.id)), None);
        exit.or_else(|| self.agent.is_terminated().then_some(Stop::Terminated))
            .or_else(|| self.agent.runtime().is_out_of_memory().then(spent))
    }
}

/// Describes what a script threw. Uses the host's own inspection, so it may run getters of the script.
fn failure(host: &Host, realm: &Realm, kind: FailureKind, exception: &Exception) -> Failure {
    let error = realm.describe(exception);
    let (message, stack, details) = host.describe(realm, exception.value()).unwrap_or_else(|_| {
        // Out of memory, or terminated: the engine's own description is used.
        (error.message.clone(), error.stack.clone(), String::new())
    });
    // Without memory even for an error, the engine throws null.
    let is_null = exception.value().is_null() && realm.memory_budget().is_some();
    let message = if is_null { OUT_OF_MEMORY.to_owned() } else { message };
    let kind = if message == OUT_OF_MEMORY { FailureKind::OutOfMemory } else { kind };
    let stack: Vec<&str> = stack.lines().map(str::trim).filter(|frame| is_of_source(frame)).collect();
    let place = place(host, &error, &stack);
    // The parser's errors have a position without a function, the loader's none at all.
    let is_of_loading = exception.value().is_error() && stack.iter().all(|frame| !frame.ends_with(')'));
    let kind = if is_of_loading && kind == FailureKind::Uncaught { FailureKind::Load } else { kind };
    let frames = stack.iter().filter(|frame| frame.ends_with(')'));
    let stack = frames.map(|frame| with_characters(host, frame)).collect();
    Failure { agent: AgentName(host.id), kind, message, place, stack, details }
}

/// Whether a line of a stack refers to source text of a file, and not to an `eval`, as `at <input>:1:4` does.
fn is_of_source(frame: &str) -> bool {
    !frame.is_empty() && !frame.starts_with("at <input>")
}

fn place(host: &Host, error: &JsError, stack: &[&str]) -> Option<Place> {
    let (file, line, column) = match stack.first() {
        Some(frame) => place_in_frame(frame)?,
        None => (error.file.as_deref()?, error.line?, error.column),
    };
    // An error of the host, with no script on the stack. The host's own files mean nothing to the reader.
    if file.starts_with("waitword:") {
        return None;
    }
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

/// Converts a column in bytes of UTF-8, as the engine counts, into one in characters. Both count from 1.
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
