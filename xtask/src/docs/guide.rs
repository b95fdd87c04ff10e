//! Writes the guide to `docs/`, for readers of the repository.
//!
//! A page of the guide is a module without items whose docs are files of its crate's folder `docs`. A site that shows the repository would show
//! such a file unchanged: with paths of items as links, and with the lines of examples that rustdoc hides. The page that is written here has
//! links to docs.rs instead, and not these lines.

use std::collections::{BTreeMap, BTreeSet};

use super::html::DOCS_RS;
use crate::files::{Files, is_source, pages as all_pages, resolve};

/// The beginning of each page.
const WRITTEN: &str = "<!-- Written by `cargo xtask docs --write`";

/// Path and text of each page, made from the sources.
pub(super) fn pages(files: &Files) -> BTreeMap<String, String> {
    let modules: Vec<Module> = files.iter().flat_map(|(path, text)| modules(path, text, files)).collect();
    let items = items(files);
    let page = |Module { path, docs, page, .. }: &Module| {
        let krate = path.split('/').nth(1).unwrap_or_default();
        let link = |item: &str| {
            let name = item.rsplit("::").next();
            let page =
                modules.iter().find(|module| name == Some(&module.name)).map(|module| module.page.clone());
            page.unwrap_or_else(|| format!("{DOCS_RS}{krate}/latest/{}", page_of_item(&items, krate, item)))
        };
        let header = format!("{WRITTEN} from {path}: edit what that includes. -->\n\n");
        (format!("docs/{page}"), header + &shown(docs, link))
    };
    modules.iter().map(page).collect()
}

/// Pages that differ from their sources, that have no source, or that show lines that rustdoc would hide.
pub(super) fn faults(files: &Files) -> Vec<String> {
    let guide = pages(files);
    let files: BTreeMap<&str, &str> = all_pages(files).collect();
    let mut faults = Vec::new();
    for (path, text) in &guide {
        if files.get(path.as_str()) != Some(&text.as_str()) {
            faults.push(format!("{path} differs from its source; to write it: cargo xtask docs --write"));
        }
    }
    for (path, text) in files {
        if text.starts_with(WRITTEN) && !guide.contains_key(path) {
            faults.push(format!("{path} has no source any more; remove the page"));
        }
        for (at, _) in lines_of_rust(text).enumerate().filter(|(_, line)| is_hidden(line) && !is_source(path))
        {
            let fault = "rustdoc hides this line, but a site that shows the repository does not";
            faults.push(format!("{path}:{}: {fault}", at + 1));
        }
    }
    faults
}

/// A module that is a page.
struct Module {
    /// The path of the file that declares it.
    path: String,
    name: String,
    docs: String,
    page: String,
}

/// The modules of a file whose docs come from the folder `docs`.
fn modules(path: &str, text: &str, files: &Files) -> Vec<Module> {
    let mut found = Vec::new();
    let (mut docs, mut is_page) = (String::new(), false);
    for line in text.lines() {
        let between = |start, end| line.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        if let Some(line) = line.strip_prefix("///") {
            docs += &format!("{}\n", line.strip_prefix(' ').unwrap_or(line));
        } else if let Some(file) = between("#[doc = include_str!(\"", "\")]") {
            let file = resolve(path, file);
            is_page |= is_source(&file);
            docs.extend(files.iter().filter(|(path, _)| *path == file).map(|(_, text)| text.as_str()));
        } else if !line.starts_with("#[") {
            let docs = std::mem::take(&mut docs);
            if let Some(name) = between("pub mod ", " {}").filter(|_| is_page) {
                let page = format!("{}.md", name.replace('_', "-"));
                found.push(Module { path: path.to_owned(), name: name.to_owned(), docs, page });
            }
            is_page = false;
        }
    }
    found
}

/// Kinds and names of the crates' public items: what a line declares after its `pub`.
fn items(files: &Files) -> BTreeSet<(&str, &str)> {
    let sources = files.iter().filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/"));
    let lines = sources.flat_map(|(_, text)| text.lines()).filter_map(|line| line.strip_prefix("pub "));
    let declared = lines.filter_map(|line| {
        let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let mut words = words.filter(|word| !["", "async", "unsafe"].contains(word));
        match (words.next()?, words.next()?) {
            ("const", "fn") => Some(("fn", words.next()?)),
            ("const", name) => Some(("constant", name)),
            other => Some(other),
        }
    });
    declared.collect()
}

/// Page and anchor of an item, such as `crate::Mutex::lock`, below its crate's folder: rustdoc names its page by its kind.
fn page_of_item(items: &BTreeSet<(&str, &str)>, krate: &str, item: &str) -> String {
    let (path, anchor) = item.split_once('#').map_or((item, None), |(path, anchor)| (path, Some(anchor)));
    let mut page = krate.replace('-', "_");
    let mut names = path.split("::").skip(1);
    while let Some(name) = names.next() {
        let kinds = ["struct", "enum", "trait", "type", "fn", "constant", "static"];
        let declared = kinds.into_iter().find(|kind| items.contains(&(kind, name)));
        // Guards and futures are declared by macros.
        let Some(kind) = declared.or(name.starts_with(char::is_uppercase).then_some("struct")) else {
            page += &format!("/{name}");
            continue;
        };
        // A method is on the page of its type.
        let anchor = names.next().map(|name| format!("#method.{name}")).or(anchor.map(|it| format!("#{it}")));
        return format!("{page}/{kind}.{name}.html{}", anchor.unwrap_or_default());
    }
    page + "/index.html"
}

/// The docs for a site: with links to docs.rs and the name of the language, without hidden lines.
fn shown(docs: &str, link: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (line, is_rust) in lines_of_rust(docs).filter(|line| !is_hidden(line)) {
        let mut parts = line.split("](crate::");
        text += parts.next().unwrap_or_default();
        for part in parts {
            let (item, rest) = part.split_once(')').unwrap_or((part, ""));
            text += &format!("]({}){rest}", link(&format!("crate::{item}")));
        }
        // The last line of a block does not count as Rust.
        text += if is_rust && line == "```" { "rust\n" } else { "\n" };
    }
    text
}

/// Each line, and whether it is in a block of Rust. The last line of the block is not.
fn lines_of_rust(page: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut block = None;
    page.lines().map(move |line| {
        block = match (line.strip_prefix("```"), block) {
            (Some(_), Some(_)) => None,
            (Some(language), None) => Some(language.is_empty() || language.starts_with("rust")),
            (None, block) => block,
        };
        (line, block == Some(true))
    })
}

/// Whether rustdoc would hide a line.
fn is_hidden((line, is_rust): &(&str, bool)) -> bool {
    *is_rust && (*line == "#" || line.starts_with("# "))
}
