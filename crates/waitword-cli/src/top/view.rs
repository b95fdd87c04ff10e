//! The screen of `waitword top`.

use std::fmt;

use termion::style::{Bold, Invert, Reset, Underline};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use waitword_observe::{Finding, Holder, Lock, short_duration};

use super::state::{Order, State, longest};

/// A line of the screen, padded to its width.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    look: Look,
}

#[derive(Debug, PartialEq, Eq)]
enum Look {
    Plain,
    Bold,
    Underlined,
    Reversed,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.look {
            Look::Plain => {}
            Look::Bold => write!(f, "{Bold}")?,
            Look::Underlined => write!(f, "{Underline}")?,
            Look::Reversed => write!(f, "{Invert}")?,
        }
        write!(f, "{}{Reset}", self.text)
    }
}

/// The lines of a screen with this number of columns and rows.
pub(super) fn draw(state: &mut State, (columns, rows): (u16, u16)) -> Vec<Line> {
    let (columns, rows) = (usize::from(columns), usize::from(rows));
    let line = |look, text: &str| Line { text: cell(text, columns), look };
    let mut lines = vec![line(Look::Bold, &title(state))];
    let faults: Vec<_> =
        state.report.findings.iter().filter(|finding| finding.is_fault()).map(text_of).collect();
    if !faults.is_empty() {
        let mut found = vec![format!("{:─<columns$}", count(faults.len(), "fault"))];
        found.extend(wrapped(&faults.join("\n"), columns));
        found.push(String::new());
        lines.extend(found.iter().take(rows / 3).map(|text| line(Look::Plain, text)));
    }
    // The last line is reserved for the keys.
    let body = rows.saturating_sub(lines.len() + 1);
    match state.is_detailed {
        true => lines.extend(details(state, columns, body).iter().map(|text| line(Look::Plain, text))),
        false => lines.extend(locks(state, columns, body)),
    }
    lines.resize_with(rows.saturating_sub(1), || line(Look::Plain, ""));
    lines.push(line(Look::Reversed, &keys(state)));
    lines
}

/// A table is kept as it is; other text is wrapped at the width of this screen.
fn text_of(finding: &Finding) -> String {
    match finding {
        Finding::Cycle(_) | Finding::PotentialDeadlock(_) => finding.to_string(),
        _ => finding.to_string().replace("\n  ", " "),
    }
}

/// A text cut or padded to this number of columns, without control characters, which could move the cursor.
fn cell(text: &str, columns: usize) -> String {
    let text = text.replace(char::is_control, "");
    let text = fitting(&text, columns);
    format!("{text}{:1$}", "", columns - text.width())
}

/// The longest prefix of a text that fits into this number of columns.
fn fitting(text: &str, columns: usize) -> &str {
    let mut width = 0;
    let is_beyond = |(_, character): &(usize, char)| {
        width += character.width().unwrap_or(0);
        width > columns
    };
    &text[..text.char_indices().find(is_beyond).map_or(text.len(), |(at, _)| at)]
}

/// The lines of a text, wrapped between words, or within a word that is longer than a line.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    // So that every character fits.
    let columns = columns.max(2);
    let mut lines = Vec::new();
    for line in text.lines() {
        let (line, mut rest) = (line.replace(char::is_control, ""), String::new());
        for word in line.split_inclusive(' ') {
            if !rest.is_empty() && rest.width() + word.trim_end().width() > columns {
                lines.push(std::mem::take(&mut rest));
            }
            rest += word;
            while rest.trim_end().width() > columns {
                let next = rest.split_off(fitting(&rest, columns).len());
                lines.push(std::mem::replace(&mut rest, next));
            }
        }
        lines.push(rest);
    }
    lines
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn title(state: &State) -> String {
    let report = &state.report;
    // The name comes from another program, and its control characters could move the cursor.
    let program: String = report.process.program.as_deref().unwrap_or("unknown").escape_debug().collect();
    let snapshot = &report.snapshot;
    let [waiters, locks] = [count(snapshot.waiters(), "waiter"), count(snapshot.locks.len(), "lock")];
    let holders = if snapshot.holders.is_none() { ", holders not recorded" } else { "" };
    format!("{program} (process {}): {waiters} at {locks}{holders}", report.process.id)
}

/// The last line: the error, or the keys.
fn keys(state: &State) -> String {
    if let Some(error) = &state.error {
        return format!("q quit  {error} (this is the last report)");
    }
    let order = match state.order {
        Order::Waiters => "waiters",
        Order::Longest => "longest wait",
        Order::Name => "name",
    };
    let enter = if state.is_detailed { "back" } else { "details" };
    let pause = if state.is_paused { "PAUSED, p resume" } else { "p pause" };
    format!("q quit  s sort: {order}  {pause}  enter {enter}  up/down")
}

/// As many locks as fit, the chosen one among them.
fn locks(state: &State, columns: usize, rows: usize) -> Vec<Line> {
    let half = columns.saturating_sub("WAITERS LONGEST  ".len()).div_ceil(2);
    let line = |look, waiters: &str, longest: &str, name: &str, holder: &str| {
        let name = cell(name, half);
        Line { text: cell(&format!("{waiters:>7} {longest:>7} {name} {holder}"), columns), look }
    };
    let chosen = state.chosen();
    let row = |(at, lock): (usize, &&Lock)| {
        let look = if Some(at) == chosen { Look::Reversed } else { Look::Plain };
        let age = longest(lock).map_or_else(|| "-".to_owned(), short_duration);
        line(look, &lock.waiting().to_string(), &age, &lock.name.to_string(), &held_by(state, lock))
    };
    let header = line(Look::Underlined, "WAITERS", "LONGEST", "LOCK", "HELD BY");
    let first = chosen.map_or(0, |chosen| (chosen + 2).saturating_sub(rows));
    std::iter::once(header).chain(state.locks().iter().enumerate().skip(first).map(row)).take(rows).collect()
}

/// The holder, or the number of holders.
fn held_by(state: &State, lock: &Lock) -> String {
    let holders: Vec<&Holder> = state.report.snapshot.holders_of(lock.name.address).collect();
    let [holder] = holders[..] else {
        return if holders.is_empty() { "-".to_owned() } else { format!("{} holders", holders.len()) };
    };
    let held = holder.held.map(|held| format!(", {}", short_duration(held))).unwrap_or_default();
    let site = holder.site.as_ref().map(|site| format!(" {site}")).unwrap_or_default();
    format!("{}{held}{site}", holder.actor)
}

fn details(state: &mut State, columns: usize, rows: usize) -> Vec<String> {
    let locks = state.locks();
    let Some(lock) = state.chosen().map(|chosen| locks[chosen]) else {
        state.is_detailed = false;
        return Vec::new();
    };
    let text = wrapped(&state.report.snapshot.describe(lock, usize::from(u16::MAX)), columns);
    // So that the last line stays visible.
    state.scroll = state.scroll.min(text.len().saturating_sub(1));
    let border = format!("{:─<columns$}", "details");
    std::iter::once(border).chain(text.into_iter().skip(state.scroll)).take(rows).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
