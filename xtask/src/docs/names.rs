//! What a name on a page can mean, and whether the tree has it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::args::Args;

/// Endings of the files that pages name.
const KINDS: [&str; 11] = ["js", "json", "md", "mjs", "pml", "rs", "sh", "supp", "svg", "toml", "txt"];

/// Files that the tree does not have: those of test262, of a user, and Node's modules whose names have a slash.
const ELSEWHERE: [&str; 11] = [
    "Atomics/",
    "assert/strict",
    "built-ins/",
    "path/posix",
    "path/win32",
    "program.js",
    "staging/",
    "target/",
    "test/",
    "timers/promises",
    "util/types",
];

/// Crates of others: what is below them is theirs.
const FOREIGN: [&str; 12] = [
    "alloc",
    "async_lock",
    "core",
    "event_listener",
    "futures",
    "futures_util",
    "loom",
    "parking_lot",
    "serde",
    "smol",
    "std",
    "tokio",
];

/// Names that are others' without saying so: methods that `coming_from.md` replaces, words of Rust and of Node.
const FOREIGN_ITEMS: [&str; 6] = [
    "RwLock::with_max_readers",
    "current_thread",
    "into_mapped",
    "no_std",
    "node_modules",
    "notify_additional",
];

/// What a page names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Between backticks.
    Code(String),
    /// What a link or a picture leads to.
    Link(String),
}

/// Whether rustdoc alone shows this file as it is meant.
pub(super) fn is_source(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.next() == Some("crates") && folders.nth(1) == Some("docs")
}

pub(super) struct Tree {
    /// Files and folders, each as all ends of its path: `a/b/c.rs`, `b/c.rs`, `c.rs`. A module may move to another folder as
    /// long as what the page says of it is enough to find it.
    ends: BTreeSet<String>,
    /// Every identifier in the sources.
    words: BTreeSet<String>,
    paths: BTreeSet<String>,
    /// What a link can lead to within each page.
    anchors: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    pub(super) fn new(files: &[(String, String)]) -> Self {
        let mut paths = BTreeSet::new();
        let mut words = BTreeSet::new();
        for (path, text) in files {
            let folders = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
            paths.extend(folders.chain([path.clone()]));
            // A page is no proof of what it says, nor are the exceptions above.
            if !path.ends_with(".md") && !path.starts_with("xtask/src/docs/") {
                for line in text.lines() {
                    // Neither is a comment.
                    let code = line.split("//").next().unwrap_or_default();
                    let found = code.split(|c: char| !is_identifier(c)).filter(|word| !word.is_empty());
                    words.extend(found.map(str::to_owned));
                }
            }
        }
        let ends = paths.iter().flat_map(|path| {
            let later = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
            later.chain([path.as_str()]).map(str::to_owned)
        });
        let pages = files.iter().filter(|(path, _)| path.ends_with(".md"));
        let anchors = pages.map(|(path, text)| (path.clone(), anchors(text))).collect();
        Self { ends: ends.collect(), words, paths, anchors }
    }

    /// What is wrong with a name on `page`, if anything is.
    pub(super) fn fault(&self, page: &str, what: &What) -> Option<String> {
        match what {
            What::Link(target) => self.fault_of_link(page, target),
            What::Code(code) if code.starts_with("cargo xtask ") => fault_of_recipe(code),
            What::Code(code) => self.fault_of_code(code),
        }
    }

    fn fault_of_link(&self, page: &str, target: &str) -> Option<String> {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        // `Type::method`
        if file.contains("::") {
            let fault = || {
                format!(
                    "the link to {target} is rustdoc's alone; a site that shows the repository needs one to docs.rs"
                )
            };
            return (!is_source(page)).then(fault);
        }
        // Of other sites nothing can be said here.
        if file.contains(':') {
            return None;
        }
        let path = if file.is_empty() { page.into() } else { resolve(Path::new(page), file) };
        let path = path.to_string_lossy().replace('\\', "/");
        if !path.is_empty() && !self.paths.contains(&path) {
            return Some(format!("the link to {file} leads nowhere"));
        }
        if is_source(&path) && path.ends_with(".md") && !is_source(page) {
            return Some(format!("the link to {file} leads to a source of rustdoc, not to its page in docs"));
        }
        let is_there =
            anchor.is_empty() || self.anchors.get(&path).is_some_and(|anchors| anchors.contains(anchor));
        (!is_there).then(|| format!("the link to {target} leads nowhere: {path} has no such heading"))
    }

    fn fault_of_code(&self, code: &str) -> Option<String> {
        // A test: the file, and in it the function.
        if let Some((file, item)) = code.split_once(".rs::") {
            return self.fault_of_code(&format!("{file}.rs")).or_else(|| self.fault_of_item(item));
        }
        if is_path(code) { self.fault_of_path(code) } else { self.fault_of_item(code) }
    }

    fn fault_of_path(&self, path: &str) -> Option<String> {
        if ELSEWHERE.iter().any(|place| path.starts_with(place)) {
            return None;
        }
        let path = path.trim_start_matches("../").trim_end_matches('/');
        let is_there = match path.split_once('*') {
            Some((before, after)) => {
                self.ends.iter().any(|end| end.starts_with(before) && end.ends_with(after))
            }
            None => self.ends.contains(path),
        };
        (!is_there).then(|| format!("there is no file or folder {path}"))
    }

    /// `a::b`, and names of several words: `snake_case`, `LOUD_CASE`; an ellipsis stands for a beginning or an end.
    fn fault_of_item(&self, code: &str) -> Option<String> {
        let name = code.strip_suffix("()").unwrap_or(code);
        let (from, to) = (name.starts_with(['…', '_']), name.ends_with('…'));
        let name = name.trim_matches('…');
        let parts: Vec<&str> = name.split("::").collect();
        let is_name = parts.iter().all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && part.chars().all(is_identifier)
        });
        let is_of_words = name.trim_matches('_').contains('_')
            && (!name.contains(char::is_uppercase) || !name.contains(char::is_lowercase));
        let is_foreign = FOREIGN.contains(&parts[0]) || FOREIGN_ITEMS.contains(&name);
        if !is_name || !(parts.len() > 1 || is_of_words) || is_foreign {
            return None;
        }
        let has = |part: &&str| match (from, to) {
            (false, false) => self.words.contains(*part),
            _ => self.words.iter().any(|word| {
                word.contains(*part) && (from || word.starts_with(*part)) && (to || word.ends_with(*part))
            }),
        };
        let missing = parts.iter().find(|part| !has(part))?;
        Some(format!("the sources have no {missing}, which `{code}` names"))
    }
}

/// The headings of a page, as a site that shows the repository links to them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading = None;
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| *heading += &text),
            Event::End(TagEnd::Heading(_)) => {
                let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
                let heading = heading.take().unwrap_or_default().to_lowercase();
                let anchor: String = heading.chars().filter(kept).collect::<String>().replace(' ', "-");
                let mut numbered = (1..).map(|number| format!("{anchor}-{number}"));
                let is_new = anchors.insert(anchor.clone());
                // Of headings that are alike, the later ones have numbers.
                let _ = is_new || numbered.any(|anchor| anchors.insert(anchor));
            }
            _ => {}
        }
    }
    anchors
}

/// What a path on a page leads to.
pub(super) fn resolve(page: &Path, path: &str) -> PathBuf {
    let mut found = page.parent().unwrap_or(page).to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            part => found.push(part),
        }
    }
    found
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// With a slash or a known ending, and nothing in it that paths have not.
fn is_path(code: &str) -> bool {
    let is_plain = code.chars().all(|c| is_identifier(c) || "./-*".contains(c));
    let has_letters = code.contains(|c: char| c.is_ascii_lowercase());
    let kind = code.rsplit_once('.').map(|(_, kind)| kind);
    is_plain
        && has_letters
        && !code.starts_with(['/', '-'])
        && (code.contains('/') || kind.is_some_and(|kind| KINDS.contains(&kind) && !code.starts_with('*')))
}

/// The command line has to be one that this program takes.
fn fault_of_recipe(code: &str) -> Option<String> {
    let error = Args::try_parse_from(code.split_whitespace().skip(1)).err()?;
    let is_asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    (!is_asked_for)
        .then(|| format!("`{code}` is no recipe: {}", error.to_string().lines().next().unwrap_or("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        Tree::new(&[
            file("docs/page.md", "`only_on_a_page`\n\n# A part\n\n## `code` – and, more\n\n## A part\n"),
            file("crates/lock/docs/guide.md", ""),
            file(
                "crates/lock/src/raw/mod.rs",
                "impl Mutex { fn lock_async() {} } fn a_long_name_of_a_test() {}",
            ),
            file("results/one.txt", ""),
        ])
    }

    #[track_caller]
    fn check(what: What, is_right: bool) {
        assert_eq!(tree().fault("docs/page.md", &what).is_none(), is_right, "{what:?}");
    }

    #[test]
    fn code_is_a_file_an_item_of_the_sources_or_a_recipe() {
        for (code, is_right) in [
            // Files, by the end of their path.
            ("crates/lock/src/raw/mod.rs", true),
            ("raw/", true),
            ("mod.rs", true),
            ("results/*.txt", true),
            ("results/*.svg", false),
            ("raw/other.rs", false),
            ("aw/mod.rs", false),
            ("gone.rs", false),
            ("/dev/stdin", true),
            ("built-ins/Atomics", true),
            // Items of the sources, and not those on pages.
            ("Mutex::lock_async", true),
            ("Mutex::lock_asink", false),
            ("lock_async()", true),
            ("only_on_a_page", false),
            ("renamed_since", false),
            ("a_long_name_…", true),
            ("…_of_a_test", true),
            ("…_of_a_…", true),
            ("a_short_…", false),
            ("LOUD_NAME", false),
            ("tokio::sync::Gone", true),
            ("mod.rs::a_long_name_of_a_test", true),
            ("mod.rs::another_test", false),
            ("plain", true),
            // Recipes of this program.
            ("cargo xtask loom --deep", true),
            ("cargo xtask --help", true),
            ("cargo xtask loam", false),
            ("cargo xtask loom --deeper", false),
        ] {
            check(What::Code(code.to_owned()), is_right);
        }
    }

    #[test]
    fn links_are_relative_to_their_page() {
        for (target, is_right) in [
            ("../results/one.txt", true),
            ("page.md#a-part", true),
            ("#a-part-1", true),
            ("#code--and-more", true),
            ("https://example.org/gone.md", true),
            ("page.md#another-part", false),
            ("#a-part-2", false),
            ("../results/one.txt#L1", false),
            ("crate::Mutex::lock_async", false),
            ("../crates/lock/docs/guide.md", false),
            ("results/one.txt", false),
            ("gone.md", false),
        ] {
            check(What::Link(target.to_owned()), is_right);
        }
        let item = What::Link("crate::Mutex::lock_async".to_owned());
        assert_eq!(tree().fault("crates/lock/docs/guide.md", &item), None);
    }
}
