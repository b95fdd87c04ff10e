//! Decides what a name on a page can mean, and whether the tree has it.

use std::collections::{BTreeMap, BTreeSet};

use clap::Parser as _;
use clap::error::ErrorKind;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::args::Args;
use crate::files::{Files, is_source, pages, resolve};

/// Extensions of the files that pages name.
const KINDS: &str = "js json md mjs pml rs sh supp svg toml txt";

/// Paths that are not files of this tree: those of test262 and of users, and Node's modules with a slash in their names.
const ELSEWHERE: &str = "Atomics/ assert/strict built-ins/ path/posix path/win32 program.js staging/ target/ test/ timers/promises util/types";

/// Crates of others, whose items are not checked.
const FOREIGN: &str =
    "alloc async_lock core event_listener futures futures_util loom parking_lot serde smol std tokio";

/// Names of others without a crate's name: methods that `coming_from.md` replaces, words of Rust and of Node.
const FOREIGN_ITEMS: &str =
    "RwLock::with_max_readers current_thread into_mapped no_std node_modules notify_additional";

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

pub(super) struct Tree {
    paths: BTreeSet<String>,
    /// Files and folders, each as all ends of its path: `a/b/c.rs`, `b/c.rs`, `c.rs`. A module may move to another folder, as
    /// long as the end on the page still finds it.
    ends: BTreeSet<String>,
    /// Every identifier in the sources.
    words: BTreeSet<String>,
    /// The targets of links within each page.
    anchors: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    pub(super) fn new(files: &Files) -> Self {
        let (mut paths, mut ends, mut words) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (path, text) in files {
            let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
            for path in folders.chain([path.as_str()]) {
                paths.insert(path.to_owned());
                ends.extend(
                    path.match_indices('/').map(|(at, _)| path[at + 1..].to_owned()).chain([path.to_owned()]),
                );
            }
            // Not from pages, from the exceptions above or from comments, which prove nothing.
            if !path.ends_with(".md") && !path.starts_with("xtask/src/docs/") {
                let code = text.lines().filter_map(|line| line.split("//").next());
                words.extend(
                    code.flat_map(|code| code.split(|c| !is_identifier(c)))
                        .filter(|it| !it.is_empty())
                        .map(str::to_owned),
                );
            }
        }
        let anchors = pages(files).map(|(path, text)| (path.to_owned(), anchors(text))).collect();
        Self { paths, ends, words, anchors }
    }

    pub(super) fn fault_of_link(&self, page: &str, target: &str) -> Option<String> {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        // `Type::method`
        if file.contains("::") {
            let why = "works only in rustdoc; a site that shows the repository needs a link to docs.rs";
            return (!is_source(page)).then(|| format!("the link to {target} {why}"));
        }
        // Links to other sites are not checked.
        if file.contains(':') {
            return None;
        }
        let path = if file.is_empty() { page.to_owned() } else { resolve(page, file) };
        if !path.is_empty() && !self.paths.contains(&path) {
            Some(format!("the link to {file} leads nowhere: there is no such file"))
        } else if is_source(&path) && path.ends_with(".md") && !is_source(page) {
            Some(format!("the link to {file} leads to a source of rustdoc; link to its page in docs/"))
        } else if !anchor.is_empty()
            && !self.anchors.get(&path).is_some_and(|anchors| anchors.contains(anchor))
        {
            Some(format!("the link to {target} leads nowhere: {path} has no such heading"))
        } else {
            None
        }
    }

    pub(super) fn fault_of_code(&self, code: &str) -> Option<String> {
        if code.starts_with("cargo xtask ") {
            return fault_of_recipe(code);
        }
        // A test: the file, and the function in it.
        let (file, item) = match code.split_once(".rs::") {
            Some((file, item)) => (Some(format!("{file}.rs")), Some(item)),
            None if is_path(code) => (Some(code.to_owned()), None),
            None => (None, Some(code)),
        };
        file.and_then(|file| self.fault_of_path(&file)).or_else(|| self.fault_of_item(item?))
    }

    fn fault_of_path(&self, path: &str) -> Option<String> {
        if ELSEWHERE.split(' ').any(|place| path.starts_with(place)) {
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
        let is_word =
            |part: &&str| !part.starts_with(|c: char| c.is_ascii_digit()) && part.chars().all(is_identifier);
        let is_name = parts.iter().all(|part| !part.is_empty() && is_word(part));
        let is_of_words = name.trim_matches('_').contains('_')
            && (!name.contains(char::is_uppercase) || !name.contains(char::is_lowercase));
        let is_foreign = is_one_of(FOREIGN, parts[0]) || is_one_of(FOREIGN_ITEMS, name);
        if !is_name || !(parts.len() > 1 || is_of_words) || is_foreign {
            return None;
        }
        let is_meant = |word: &str, part: &str| {
            word.contains(part) && (from || word.starts_with(part)) && (to || word.ends_with(part))
        };
        let has = |part: &str| match from || to {
            true => self.words.iter().any(|word| is_meant(word, part)),
            false => self.words.contains(part),
        };
        let missing = parts.iter().find(|part| !has(part))?;
        Some(format!("the sources have no {missing} (in `{code}`)"))
    }
}

/// The headings of a page, as a site that shows the repository links to them, and its `<a id="…">`.
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
                let anchor = heading.chars().filter(kept).collect::<String>().replace(' ', "-");
                // Equal headings after the first are numbered.
                let mut numbered = (1..).map(|number| format!("{anchor}-{number}"));
                let _ = anchors.insert(anchor.clone()) || numbered.any(|anchor| anchors.insert(anchor));
            }
            Event::InlineHtml(html) => {
                let id = html.strip_prefix("<a id=\"").and_then(|rest| rest.strip_suffix("\">"));
                anchors.extend(id.map(str::to_owned));
            }
            _ => {}
        }
    }
    anchors
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Has a slash or a known extension, and only characters of paths.
fn is_path(code: &str) -> bool {
    let is_plain = code.chars().all(|c| is_identifier(c) || "./-*".contains(c));
    let has_letters = code.contains(|c: char| c.is_ascii_lowercase());
    let is_kind = |(_, kind)| is_one_of(KINDS, kind) && !code.starts_with('*');
    is_plain
        && has_letters
        && !code.starts_with(['/', '-'])
        && (code.contains('/') || code.rsplit_once('.').is_some_and(is_kind))
}

/// Checks that this program accepts the command line.
fn fault_of_recipe(code: &str) -> Option<String> {
    let error = Args::try_parse_from(code.split_whitespace().skip(1)).err()?;
    let is_asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    (!is_asked_for)
        .then(|| format!("`{code}` is not a recipe: {}", error.to_string().lines().next().unwrap_or("")))
}
