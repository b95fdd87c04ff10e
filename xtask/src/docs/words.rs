//! The words that `GLOSSARY.md` has replaced, counted.
//!
//! A tree is not renamed in a day. So this is a ratchet: `xtask/old_words.txt` has how often each word stands in each folder of the
//! root. More than that is a fault; fewer is progress, which `cargo xtask docs --update` writes down, and which cannot be lost again.
//! Counted by folders of the root, not of the crates, so that moving a file from crate to crate changes nothing.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::line::root;

/// An old word, with the start of which a word of the text has to begin, and what to write instead.
const WORDS: [(&str, &str); 12] = [
    ("in line", "enqueued, queued, in the queue"),
    ("line up", "enqueue"),
    ("newcomer", "barging acquirer"),
    ("overtak", "barge"),
    ("patience", "stall timeout"),
    ("limbo", "detached"),
    ("verdict", "outcome"),
    ("call_one", "signal_one"),
    ("those who", "the waiters, the readers, ..."),
    ("whoever", "the waiter, the notifier, the holder, ..."),
    ("who waits", "the waiter"),
    ("sweep", "watchdog, watchdog pass"),
];

const COUNTS: &str = "xtask/old_words.txt";

type Counts = BTreeMap<(String, String), usize>;

/// What stands in `files` more often than it may. With `update`, and if there is no such thing, the counts are written
/// anew; and so they are where they are missing.
pub(super) fn check(files: &[(String, String)], update: bool) -> Result<Vec<String>, String> {
    let path = root().join(COUNTS);
    let failed = |error: std::io::Error| format!("{COUNTS}: {error}");
    let found = count(files);
    if update && !path.exists() {
        fs::write(&path, print(&found)).map_err(failed)?;
    }
    let allowed = parse(&fs::read_to_string(&path).map_err(failed)?);
    let faults = faults(&found, &allowed, files);
    let fewer = allowed.iter().filter(|(key, allowed)| found.get(*key).unwrap_or(&0) < *allowed).count();
    if faults.is_empty() && fewer > 0 {
        if update {
            fs::write(&path, print(&found)).map_err(failed)?;
        } else {
            println!("{fewer} counts of old words are lower than in {COUNTS}: cargo xtask docs --update");
        }
    }
    Ok(faults)
}

fn faults(found: &Counts, allowed: &Counts, files: &[(String, String)]) -> Vec<String> {
    let mut faults = Vec::new();
    for ((word, area), &count) in found {
        let allowed = *allowed.get(&(word.clone(), area.clone())).unwrap_or(&0);
        if count > allowed {
            let instead = WORDS.iter().find(|(old, _)| old == word).map_or("", |(_, instead)| instead);
            let places = places(files, word, area);
            faults.push(format!(
                "{area}: `{word}` stands here {count} times, {allowed} are left from before; write: {instead}\n    {}",
                places.join("\n    ")
            ));
        }
    }
    faults
}

/// Where a word stands: the first few places, by page and line.
fn places(files: &[(String, String)], word: &str, area: &str) -> Vec<String> {
    let here = files.iter().filter(|(path, _)| area_of(path) == Some(area));
    let places = here.flat_map(|(path, text)| {
        let lines = text.lines().enumerate().filter(|(_, line)| occurrences(line, word) > 0);
        lines.map(move |(index, line)| format!("{path}:{}: {}", index + 1, line.trim()))
    });
    places.take(20).collect()
}

/// The folder of the root that a file is in; `None` if its words are not counted.
fn area_of(path: &str) -> Option<&str> {
    let kind = path.rsplit_once('.').map_or("", |(_, kind)| kind);
    let is_prose = ["js", "md", "mjs", "pml", "rs", "sh", "toml"].contains(&kind);
    // The glossary, and this file, have to name them.
    let is_list = path == "GLOSSARY.md" || path.starts_with("xtask/src/docs/");
    (is_prose && !is_list).then(|| path.split_once('/').map_or(".", |(area, _)| area))
}

fn count(files: &[(String, String)]) -> Counts {
    let mut counts = Counts::new();
    for (path, text) in files {
        let Some(area) = area_of(path) else { continue };
        for (word, _) in WORDS {
            let count = occurrences(text, word);
            if count > 0 {
                *counts.entry((word.to_owned(), area.to_owned())).or_default() += count;
            }
        }
    }
    counts
}

/// How often `word` begins a word of `text`, whatever the case, and whether blanks or underscores separate its parts.
fn occurrences(text: &str, word: &str) -> usize {
    let plain = |text: &str| text.to_lowercase().replace('_', " ");
    let (text, word) = (plain(text), plain(word));
    let begins = |&(at, _): &(usize, &str)| !text[..at].ends_with(|c: char| c.is_alphanumeric());
    text.match_indices(&word).filter(begins).count()
}

fn parse(text: &str) -> Counts {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let (word, area, count) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
        Some(((word.to_owned(), area.to_owned()), count))
    };
    text.lines().filter_map(line).collect()
}

fn print(counts: &Counts) -> String {
    let mut text = String::from(
        "# Old word, folder, how often: `xtask/src/docs/words.rs`. Written by `cargo xtask docs --update`.\n",
    );
    for ((word, area), count) in counts {
        let _ = writeln!(text, "{word}\t{area}\t{count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> (String, String) {
        (path.to_owned(), text.to_owned())
    }

    #[test]
    fn old_words_are_counted_whatever_separates_and_follows_them() {
        assert_eq!(occurrences("In line, in_line, inline, within line", "in line"), 2);
        assert_eq!(occurrences("Overtaking is overtaken; undertake", "overtak"), 2);
    }

    #[test]
    fn more_than_before_is_a_fault_that_says_where_and_what_to_write() {
        let files = [file("crates/a.rs", "// the limbo\n"), file("docs/b.md", "limbo")];
        let found = count(&files);
        let allowed = parse("# comment\nlimbo\tdocs\t1\n");
        let faults = faults(&found, &allowed, &files);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].contains("write: detached") && faults[0].contains("crates/a.rs:1"), "{faults:?}");
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let counts = count(&[file("crates/a.rs", "limbo limbo"), file("README.md", "who waits")]);
        assert_eq!(parse(&print(&counts)), counts);
        assert_eq!(counts[&("who waits".to_owned(), ".".to_owned())], 1);
    }
}
