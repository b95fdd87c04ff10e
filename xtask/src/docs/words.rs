//! Phrases that are not to come back. `words.txt` has them, each with what to write instead.
//!
//! Checks the pages, the declarations for TypeScript, and below `src` the documentation and the messages: all lines except plain comments, because
//! code has no such phrases. Tests are left out. A phrase is compared word by word, ignoring case, also across the end of a line. Punctuation
//! ends a phrase; quotes, emphasis and the marks of documentation do not.

use std::collections::BTreeMap;

use crate::files::Files;

pub(super) const PATH: &str = "xtask/src/docs/words.txt";
const LIST: &str = include_str!("words.txt");

/// One line of the list.
#[derive(Debug)]
struct Phrase<'a> {
    /// For each word what it may be.
    words: Vec<Vec<&'a str>>,
    instead: &'a str,
}

/// Each phrase that a file contains, with its place.
pub(super) fn faults(files: &Files) -> Vec<String> {
    faults_by(LIST, files)
}

fn faults_by(list: &str, files: &Files) -> Vec<String> {
    let phrases = phrases(list);
    let mut by_first_word: BTreeMap<&str, Vec<&Phrase<'_>>> = BTreeMap::new();
    for phrase in &phrases {
        for first in &phrase.words[0] {
            by_first_word.entry(first).or_default().push(phrase);
        }
    }
    let mut faults = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_checked(path)) {
        let text = text.to_ascii_lowercase().replace("\\n", "  ");
        let words = words(&text);
        for (at, (first, line)) in words.iter().enumerate() {
            for phrase in by_first_word.get(first).into_iter().flatten() {
                let here = words[at..].iter().map(|(word, _)| *word).take(phrase.words.len());
                let found: Vec<&str> = here
                    .zip(&phrase.words)
                    .filter(|(word, is)| is.contains(word))
                    .map(|(word, _)| word)
                    .collect();
                if found.len() == phrase.words.len() {
                    let found = found.join(" ");
                    faults.push(format!("{path}:{line}: \"{found}\"; write instead: {}", phrase.instead));
                }
            }
        }
    }
    faults
}

/// The lines of the list, without comments and empty ones.
fn phrases<'a>(list: &'a str) -> Vec<Phrase<'a>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let phrase = |line: &'a str| {
        let (words, instead) = line.split_once(" -> ").unwrap_or((line, ""));
        let words = words.split_whitespace().map(|word| word.split('/').collect()).collect();
        Phrase { words, instead: instead.trim() }
    };
    lines.map(phrase).collect()
}

/// Whether the phrases are refused in this file.
fn is_checked(path: &str) -> bool {
    let is_source = [".rs", ".js", ".mjs"].iter().any(|end| path.ends_with(end))
        && path.contains("src/")
        && !path.ends_with("tests.rs")
        && !path.contains("/tests/");
    // This folder has the list, and tests of it.
    (is_source || path.ends_with(".md") || path.ends_with(".d.ts")) && !path.starts_with("xtask/src/docs/")
}

/// The words of a text, each with its line. A punctuation mark is a word, too.
fn words(text: &str) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        rest = ["///", "//!", "* "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
        if rest.starts_with("//") {
            continue;
        }
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '\'';
            let end = match is_word(first) {
                true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                false => first.len_utf8(),
            };
            let (word, others) = rest.split_at(end);
            if !first.is_whitespace() && !"`*_\"\\".contains(first) {
                words.push((word.trim_matches('\''), at + 1));
            }
            rest = others;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "# what is refused\n\nhas/have the value alone -> holds it exclusively\nlet on -> released\n";

    fn faults(path: &str, text: &str) -> Vec<String> {
        faults_by(LIST, &[(path.to_owned(), text.to_owned())])
    }

    #[test]
    fn a_phrase_is_found_in_pages_docs_and_messages_also_across_lines() {
        let found = "\"has the value alone\"; write instead: holds it exclusively";
        for (path, text, line) in [
            ("README.md", "One\n\nHas the *value* alone.", 3),
            ("crates/one/src/lib.rs", "/// One that has\n/// the value alone", 1),
            ("crates/one/src/lib.rs", "    f(\"it \\\n has the value alone\\n\")", 2),
            ("packages/one/index.d.ts", "/**\n * It has the value\n * alone. */", 2),
        ] {
            assert_eq!(faults(path, text), [format!("{path}:{line}: {found}")], "{text}");
        }
        assert_eq!(
            faults("a.md", "They have the value alone and are let on."),
            [
                "a.md:1: \"have the value alone\"; write instead: holds it exclusively",
                "a.md:1: \"let on\"; write instead: released",
            ]
        );
    }

    #[test]
    fn other_words_are_no_fault() {
        for (path, text) in [
            ("README.md", "It has the value, alone. Let one, let only, outlet on."),
            ("crates/one/src/lib.rs", "    // has the value alone"),
            ("crates/one/tests/laws.rs", "/// has the value alone"),
            ("crates/one/src/lock/tests.rs", "/// has the value alone"),
            ("xtask/src/docs/words.txt", "has the value alone"),
        ] {
            assert_eq!(faults(path, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn each_line_of_the_list_says_what_to_write() {
        let phrases = phrases(super::LIST);
        assert!(phrases.len() > 20, "that is not all: {phrases:?}");
        for phrase in &phrases {
            assert!(!phrase.instead.is_empty(), "{phrase:?}");
            assert!(phrase.words.iter().flatten().all(|word| *word == word.to_lowercase()), "{phrase:?}");
        }
    }
}
