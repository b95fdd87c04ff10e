//! The files of the repository, with their texts.

use std::fs;
use std::path::{Component, Path};

use crate::line::{Stop, read, root};

/// The path below the root, and the text, of each file.
pub(crate) type Files = [(String, String)];

/// All files that git tracks or does not ignore, with their texts. A text that is not UTF-8 is empty.
pub(crate) fn texts() -> Result<Vec<(String, String)>, Stop> {
    let list = read("git ls-files --cached --others --exclude-standard --deduplicate")?;
    let is_there = |path: &&str| fs::symlink_metadata(root().join(path)).is_ok();
    let file = |path: &str| (path.to_owned(), fs::read_to_string(root().join(path)).unwrap_or_default());
    Ok(list.lines().filter(is_there).map(file).collect())
}

pub(crate) fn pages(files: &Files) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter(|(path, _)| path.ends_with(".md")).map(|(path, text)| (&**path, &**text))
}

/// Whether only rustdoc shows this file as intended.
pub(crate) fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.split('/').nth(2) == Some("docs")
}

/// Resolves a path that stands on a page.
pub(crate) fn resolve(page: &str, path: &str) -> String {
    let mut found = Path::new(page).parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            part => found.push(part),
        }
    }
    found.to_string_lossy().replace('\\', "/")
}
