//! Actors, locks, sites and durations, in few columns. Names come from programs and scripts, so they may be of any length and have any
//! character.

use std::fmt;
use std::time::Duration;

use crate::model::{Actor, Deed, LockName, Site};

/// The longest line.
const WIDTH: usize = 100;

/// Columns of a duration in a list.
const TIME: usize = 7;

const NAME: usize = 20;

const TYPE: usize = 28;

const SITE: usize = 40;

/// Formats a duration in the unit that gives the most readable number, rounded down: `850 us`, `1.2 s`, `12 min`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(waitword_observe::short_duration(Duration::from_millis(1_290)), "1.2 s");
/// ```
pub fn short_duration(duration: Duration) -> String {
    let tenths = |unit: u128| {
        let tenths = duration.as_millis() / (unit / 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match duration.as_secs() {
        0 if duration.as_millis() == 0 => format!("{} us", duration.as_micros()),
        0 => format!("{} ms", duration.as_millis()),
        1..10 => format!("{} s", tenths(1_000)),
        seconds @ 10..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", tenths(3_600_000)),
    }
}

/// The text without what would move a terminal's cursor, cut after `columns`.
pub(crate) fn clean(text: &str, columns: usize) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if escaped.chars().count() <= columns {
        return escaped;
    }
    let cut: String = escaped.chars().take(columns - 1).collect();
    cut + "…"
}

/// As in reports: `thread "alpha"`, `thread 3`, `task 14`, `agent 2`, `worker 2`.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |name: &String| format!("\"{}\"", clean(name, NAME));
        f.pad(&match self {
            Self::Thread { name: Some(name), .. } => format!("thread {}", quoted(name)),
            Self::Thread { id, name: None } => format!("thread {id}"),
            Self::Task { number, name: None } => format!("task {number}"),
            Self::Task { number, name: Some(name) } => format!("task {number} {}", quoted(name)),
            Self::Agent { number, name: None } => format!("agent {number}"),
            Self::Agent { name: Some(name), .. } | Self::BlockedAgent { name, .. } => clean(name, NAME),
        })
    }
}

/// As in reports: `Mutex<Accounts>`, `Mutex<Accounts> "accounts"`, `Mutex at 0x7f3a10`, `AsyncLock at block 1 +64`.
impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = match &self.type_name {
            Some(name) => clean(&short_type(name), TYPE),
            None => self.kind.to_string(),
        };
        if let Some(name) = &self.name {
            text += &format!(" \"{}\"", clean(name, NAME));
        }
        match self.place {
            Some(place) => text += &format!(" at {place}"),
            None if has_address(self) => text += &format!(" at {}", self.address),
            None => {}
        }
        f.pad(&text)
    }
}

/// Always with the address.
pub(super) fn lock_with_address(lock: &LockName) -> String {
    if has_address(lock) || lock.place.is_some() {
        lock.to_string()
    } else {
        format!("{lock} at {}", lock.address)
    }
}

/// Whether nothing but the address identifies the lock.
fn has_address(lock: &LockName) -> bool {
    lock.name.is_none() && lock.type_name.is_none() && lock.address.0 != 0
}

/// `1 waiter`, `2 waiters`.
pub(crate) fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// `Mutex<alloc::vec::Vec<shop::db::Pool>>` as `Mutex<Vec<db::Pool>>`: the last two names of a path, and the last one if the path is of one
/// of Rust's own libraries.
pub(crate) fn short_type(type_name: &str) -> String {
    let mut short = String::with_capacity(type_name.len());
    let is_path = |c: char| c.is_alphanumeric() || "_:{}#".contains(c);
    let mut rest = type_name;
    while let Some(first) = rest.chars().next() {
        let end = match is_path(first) {
            true => rest.find(|c| !is_path(c)).unwrap_or(rest.len()),
            false => rest.find(is_path).unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(end);
        let names: Vec<&str> = part.split("::").collect();
        let is_ours = matches!(names[0], "std" | "alloc" | "core" | "hashbrown");
        let kept = if is_ours { 1 } else { 2 };
        short += &names[names.len().saturating_sub(kept)..].join("::");
        rest = after;
    }
    short
}

/// `src/pay.rs:41`; of a long path, only the end.
pub(super) fn site(site: Option<&Site>) -> String {
    let Some(site) = site else { return "an unknown site".to_owned() };
    let line = format!(":{}", site.line_and_column());
    let file = clean(&site.file, usize::MAX);
    let room = SITE - line.len();
    let excess = file.chars().count().saturating_sub(room);
    if excess == 0 {
        return file + &line;
    }
    let end: String = file.chars().skip(excess + 1).collect();
    // From the next folder on, if there is one.
    let end = end.find(['/', '\\']).map_or(end.as_str(), |slash| &end[slash..]);
    format!("…{end}{line}")
}

/// `, found no waiter`, `, woke 3`; empty if it is not a notify.
pub(super) fn woken(deed: &Deed) -> String {
    match deed.woken {
        None => String::new(),
        Some(0) => ", found no waiter".to_owned(),
        Some(woken) => format!(", woke {woken}"),
    }
}

/// Breaks a line between words at [`WIDTH`]. The first line keeps its indentation; the others have that of `indent`.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let words = text.trim_start();
    let mut lines = vec![" ".repeat(text.len() - words.len())];
    for word in words.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        let is_start = line.trim_start().is_empty();
        if is_start {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("{:indent$}{word}", ""));
        }
    }
    lines.join("\n")
}

/// Adds a line of a list, which begins with a duration, as [`wrapped`] breaks it: the lines after it are two columns further in.
pub(super) fn put(text: &mut String, time: &str, what: &str) {
    *text += &wrapped(&format!("  {time:>TIME$}  {what}"), TIME + 6);
    text.push('\n');
}

/// Two lines for each member, the second one below the first.
pub(super) fn member_lines(members: &[(String, [String; 2])]) -> String {
    let wide = members.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines = members.iter().flat_map(|(name, [first, second])| {
        [format!("  {name:wide$}  {first}"), format!("  {:wide$}  {second}", "")]
    });
    lines.map(|line| format!("\n{}", wrapped(&line, wide + 6))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_says_most() {
        let shown = |nanos| short_duration(Duration::from_nanos(nanos));
        let of = [
            (999, "0 us"),
            (850_000, "850 us"),
            (12_900_000, "12 ms"),
            (1_290_000_000, "1.2 s"),
            (9_999_999_999, "9.9 s"),
            (61_000_000_000, "61 s"),
            (720_000_000_000, "12 min"),
            (12_240_000_000_000, "3.4 h"),
        ];
        assert_eq!(of.map(|(nanos, _)| shown(nanos)), of.map(|(_, text)| text));
    }

    #[test]
    fn a_name_cannot_move_the_cursor_or_fill_the_line() {
        let thread = Actor::Thread { id: 1, name: Some("a\u{1b}[2Jb\nc".into()) };
        assert_eq!(thread.to_string(), "thread \"a\\u{1b}[2Jb\\nc\"");
        assert_eq!(clean(&"ä".repeat(40), 24), "ä".repeat(23) + "…");
    }

    #[test]
    fn types_are_shown_with_the_last_names_of_their_paths() {
        let of = [
            ("Mutex<alloc::vec::Vec<(u8, core::option::Option<&str>)>>", "Mutex<Vec<(u8, Option<&str>)>>"),
            ("Mutex<shop::store::db::Pool>", "Mutex<db::Pool>"),
            ("RwLock<alloc::vec::Vec<db::Pool>>", "RwLock<Vec<db::Pool>>"),
            ("Mutex<dyn a::b::Shape + core::marker::Send>", "Mutex<dyn b::Shape + Send>"),
            ("OnceLock<[alloc::string::String; 3]>", "OnceLock<[String; 3]>"),
            ("Mutex<<a::b::C as a::b::D>::E>", "Mutex<<b::C as b::D>::E>"),
            ("LazyLock<a::main::{{closure}}>", "LazyLock<main::{{closure}}>"),
            ("AtomicU32", "AtomicU32"),
        ];
        assert_eq!(of.map(|(long, _)| short_type(long)), of.map(|(_, short)| short));
    }

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        let of = |file: &str| site(Some(&Site { file: file.to_owned().into(), line: 41, column: 1 }));
        assert_eq!(of("src/pay.rs"), "src/pay.rs:41");
        let long = "/home/user/.cargo/registry/src/index/pool-1.2.3/src/checkout.rs";
        assert_eq!(of(long), "…/index/pool-1.2.3/src/checkout.rs:41");
        assert_eq!(of(&"x".repeat(90)).chars().count(), SITE);
    }

    #[test]
    fn lines_break_between_words() {
        let text = format!("{} {} end", "a".repeat(60), "b".repeat(60));
        assert_eq!(wrapped(&text, 2), format!("{}\n  {} end", "a".repeat(60), "b".repeat(60)));
        assert_eq!(wrapped("   a   b", 2), "   a   b");
    }
}
