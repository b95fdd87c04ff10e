//! What the pages name exists: files, items of the source, recipes.
//!
//! `markdown.rs` takes a page apart, `names.rs` says what a name can mean and whether the tree has it. `html.rs` follows the
//! links of what `cargo doc` wrote.

mod html;
mod markdown;
mod names;

use std::fs;
use std::path::Path;

use crate::line::{Line, root};

pub(crate) use html::check as built;
use markdown::spans;
use names::Tree;

/// It tells of what was, too.
const HISTORY: &str = "CHANGELOG.md";

pub(crate) fn run() -> Result<(), String> {
    let files = texts()?;
    let tree = Tree::new(&files);
    let mut faults = Vec::new();
    let mut names = 0;
    for (page, text) in files.iter().filter(|(path, _)| path.ends_with(".md") && path != HISTORY) {
        for span in spans(text) {
            names += 1;
            let fault = tree.fault(page, &span.what);
            faults.extend(fault.map(|fault| format!("{page}:{}: {fault}", span.line)));
        }
    }
    if faults.is_empty() {
        println!("{names} code spans and links lead somewhere");
        return Ok(());
    }
    Err(format!("{} faults in the pages\n  {}", faults.len(), faults.join("\n  ")))
}

/// All files that git tracks, or would, with their texts, which are empty where they are not UTF-8.
fn texts() -> Result<Vec<(String, String)>, String> {
    let list = Line::new("git ls-files --cached --others --exclude-standard --deduplicate");
    let list = list.read().map_err(|stop| stop.to_string())?;
    let root = root();
    let is_there = |path: &&str| fs::symlink_metadata(root.join(Path::new(path))).is_ok();
    let read = |path: &str| (path.to_owned(), fs::read_to_string(root.join(path)).unwrap_or_default());
    Ok(list.lines().filter(is_there).map(read).collect())
}
