//! The messages for a program that failed, timed out or came to a standstill.

use std::fmt::Write as _;
use std::io::Write as _;

use waitword_observe::Report;

use waitword_host::{AbandonedWait, Activity, AliveAgent, Ended, Failure, FailureKind, Place};

/// The most abandoned waits that are listed one by one.
const LISTED: usize = 20;

/// Writes how a program ended to standard error, unless it ended well. `hung` is the report from the time when the program was found to
/// hang, if it was observed.
pub(crate) fn show(ended: &Ended, hung: Option<&Report>) {
    let mut text = String::new();
    if let Some(failure) = &ended.failure {
        text += &failure_text(failure);
    }
    if ended.is_timed_out {
        text += TIMED_OUT;
        text += &waits_text(&ended.abandoned, hung);
        text += &alive_text(ended);
    } else if ended.is_standstill {
        text += &standstill_text(ended, hung);
    }
    if ended.is_awaiting {
        text += "note: the main module still awaits a promise that can never be settled\n";
    }
    // Ignored: without a reader of standard error, the exit code still reports the failure.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

const TIMED_OUT: &str =
    "error: timed out: allow more with --timeout, or check what was still running or waiting\n";

/// Reports a program that was ended from outside.
pub(crate) fn show_killed(hung: Option<&Report>) {
    let waits = waits_text(&[], hung);
    let text = format!("{TIMED_OUT}{waits}note: the engine was in an operation that it cannot interrupt\n");
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn failure_text(failure: &Failure) -> String {
    let mut text = String::from("error: ");
    text += match failure.kind {
        FailureKind::Load => "cannot load the program",
        FailureKind::Uncaught => "uncaught exception",
        FailureKind::UnhandledRejection => "unhandled rejection of a promise",
        FailureKind::OutOfMemory => "out of memory",
        FailureKind::Internal => "internal error of the host",
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, " in {}", failure.agent);
    text += &indented(&failure.message);
    if let Some(place) = &failure.place {
        text += &excerpt(place);
    }
    for frame in &failure.stack {
        let _ = writeln!(text, "    {frame}");
    }
    if !failure.details.is_empty() {
        text += &indented(&failure.details);
    }
    let is_of_memory =
        ["out of memory", "memory for a SharedArrayBuffer"].iter().any(|end| failure.message.ends_with(end));
    if is_of_memory || failure.kind == FailureKind::OutOfMemory {
        text += "  help: raise --memory-limit (each agent) or --total-memory (all agents), or keep fewer values alive\n";
    } else if failure.message.contains("too many workers") {
        text += "  help: the limit is set by --max-workers\n";
    } else if failure.message.ends_with("memory for another agent") {
        text += "  help: the limit is set by --total-memory\n";
    } else if failure.message.contains("too many pending waits") {
        text += "  help: the limit is set by --max-waits\n";
    }
    text
}

/// The position in the source text, the line itself, and a mark below the column.
fn excerpt(place: &Place) -> String {
    let Place { file, line, column, text } = place;
    let column_text = column.map(|column| format!(":{column}")).unwrap_or_default();
    let mut shown = format!("  --> {file}:{line}{column_text}\n");
    let Some(text) = text else { return shown };
    let number = line.to_string();
    let (text, mark) = window(text, column.unwrap_or(1) as usize - 1);
    let _ = writeln!(shown, "{:w$} |\n{number} | {text}", "", w = number.len());
    if column.is_some() {
        let _ = writeln!(shown, "{:w$} | {mark}^", "", w = number.len());
    }
    shown
}

/// The most characters of a source line that are shown, because some files consist of one line.
const WINDOW: usize = 100;

/// The part of a line around a position, and the space in front of the mark below it.
fn window(line: &str, position: usize) -> (String, String) {
    let characters: Vec<char> = line.trim_end().chars().collect();
    let position = position.min(characters.len());
    let start = if characters.len() <= WINDOW { 0 } else { position.saturating_sub(WINDOW / 2) };
    let end = characters.len().min(start + WINDOW);
    // Tabs stay tabs, so that the mark is below the character whatever the terminal's tab width.
    let space = characters[start..position].iter().map(|c| if *c == '\t' { '\t' } else { ' ' }).collect();
    (characters[start..end].iter().collect(), space)
}

fn standstill_text(ended: &Ended, hung: Option<&Report>) -> String {
    let waits = &ended.abandoned;
    let mut text = match ended.exit_code {
        1 if waits.iter().any(|wait| wait.is_blocked) => {
            String::from("error: deadlock: no agent can continue\n")
        }
        _ if waits.is_empty() => {
            String::from("note: ended: all agents wait for messages, and no agent is left to send one\n")
        }
        _ => String::from("note: ended: no agent is left that could notify these waits\n"),
    };
    text += &waits_text(waits, hung);
    text
}

/// The abandoned waits; or, for an observed program, its report, which contains more.
fn waits_text(waits: &[AbandonedWait], hung: Option<&Report>) -> String {
    if let Some(report) = hung {
        return report.to_string();
    }
    let mut text = String::new();
    let listed = &waits[..waits.len().min(LISTED)];
    let blocks = numbered(listed);
    for wait in listed {
        text += &wait_text(wait, blocks.iter().position(|block| *block == wait.block));
    }
    if waits.len() > LISTED {
        let _ = writeln!(text, "  ... and {} more", waits.len() - LISTED);
    }
    text
}

/// The live agents that the list of waits does not contain.
fn alive_text(ended: &Ended) -> String {
    let line = |alive: &AliveAgent| {
        let mut waits = ended.abandoned.iter().filter(|wait| wait.agent == alive.agent);
        let what = match alive.activity {
            Activity::Running => "still running",
            Activity::Sleeping if waits.next().is_none() => "sleeps until a timer or a message",
            // A wait without a timeout is in the list of waits.
            Activity::Blocked if !waits.any(|wait| wait.is_blocked) => "Atomics.wait with a timeout",
            _ => return None,
        };
        Some(format!("  {}: {what}\n", alive.agent))
    };
    let lines: Vec<String> = ended.alive.iter().filter_map(line).collect();
    let mut text = lines[..lines.len().min(LISTED)].concat();
    if lines.len() > LISTED {
        let _ = writeln!(text, "  ... and {} more agents", lines.len() - LISTED);
    }
    text
}

fn wait_text(wait: &AbandonedWait, block: Option<usize>) -> String {
    let function = if wait.is_blocked { "Atomics.wait" } else { "Atomics.waitAsync" };
    let place = wait.place.as_ref().map(|place| format!("\n      at {place}")).unwrap_or_default();
    let block = block.map_or(0, |index| index + 1);
    format!("  {}: {function} on byte {} of SharedArrayBuffer {block}{place}\n", wait.agent, wait.byte_index)
}

/// The blocks in the order of their first mention, for numbers, which are easier to compare than addresses.
fn numbered(waits: &[AbandonedWait]) -> Vec<usize> {
    let mut blocks = Vec::new();
    for wait in waits {
        if !blocks.contains(&wait.block) {
            blocks.push(wait.block);
        }
    }
    blocks
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_stands_below_the_column() {
        let place = Place { file: "a.js".into(), line: 12, column: Some(5), text: Some("let é = ;".into()) };
        assert_eq!(excerpt(&place), "  --> a.js:12:5\n   |\n12 | let é = ;\n   |     ^\n");
    }

    #[test]
    fn mark_follows_tabs_and_may_stand_behind_the_line() {
        assert_eq!(window("\tx(", 2), ("\tx(".into(), "\t ".into()));
        assert_eq!(window("ab", 9), ("ab".into(), "  ".into()));
    }

    #[test]
    fn long_lines_are_cut_around_the_column() {
        let line = format!("{}!{}", "a".repeat(5_000), "b".repeat(5_000));
        let (shown, mark) = window(&line, 5_000);
        assert_eq!(shown.chars().count(), WINDOW);
        assert_eq!(shown.chars().nth(mark.len()), Some('!'));
    }

    #[test]
    fn place_without_column_or_text() {
        let place = Place { file: "a.js".into(), line: 3, column: None, text: Some("x".into()) };
        assert_eq!(excerpt(&place), "  --> a.js:3\n  |\n3 | x\n");
        assert_eq!(excerpt(&Place { text: None, ..place }), "  --> a.js:3\n");
    }
}
