//! What the pages name exists: files, headings, items of the source, recipes.
//!
//! `names.rs` says what a name can mean and whether the tree has it. `guide.rs` writes the pages that rustdoc has, too. `html.rs` follows the
//! links of what `cargo doc` wrote, and those to docs.rs.

mod guide;
mod html;
mod names;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::line::{Line, Stop, root};

use names::{Tree, What};
use pulldown_cmark::{Event, Parser, Tag};

/// It tells of what was, too.
const HISTORY: &str = "CHANGELOG.md";

/// Checks the pages, after writing those of the guide if `write` says so.
pub(crate) fn run(write: bool) -> Result<(), Stop> {
    let mut files = texts()?;
    let guide = guide::pages(&files);
    if write {
        for (path, text) in &guide {
            fs::write(root().join(path), text).map_err(Stop::at(path))?;
        }
        files = texts()?;
    }
    let mut faults = faults_of_guide(&files, &guide);
    let tree = Tree::new(&files);
    let mut names = 0;
    for (page, text) in pages(&files).filter(|(path, _)| *path != HISTORY) {
        for (line, what) in spans(text) {
            names += 1;
            let fault = tree.fault(page, &what);
            faults.extend(fault.map(|fault| format!("{page}:{line}: {fault}")));
        }
        if !names::is_source(page) {
            let fault = "rustdoc hides this line, a site that shows the repository does not";
            faults.extend(guide::hidden_lines(text).map(|line| format!("{page}:{line}: {fault}")));
        }
    }
    if faults.is_empty() {
        println!("{names} code spans and links lead somewhere");
        return Ok(());
    }
    Err(Stop::Failed(format!("{} faults in the pages\n  {}", faults.len(), faults.join("\n  "))))
}

/// The links in what `cargo doc` wrote, and those of the pages to what it will be on docs.rs.
pub(crate) fn built() -> Result<(), Stop> {
    html::check()?;
    let files = texts()?;
    let links = pages(&files).flat_map(|(page, text)| {
        spans(text).filter_map(move |(line, what)| match what {
            What::Link(target) => Some((format!("{page}:{line}"), target)),
            What::Code(_) => None,
        })
    });
    html::check_docs_rs(links)
}

fn pages(files: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let pages = files.iter().filter(|(path, _)| path.ends_with(".md"));
    pages.map(|(path, text)| (path.as_str(), text.as_str()))
}

/// Pages that are not what their sources say, or have none.
fn faults_of_guide(files: &[(String, String)], guide: &BTreeMap<String, String>) -> Vec<String> {
    let files: BTreeMap<&str, &str> = pages(files).collect();
    let is_other =
        |(path, text): &(&String, &String)| files.get(path.as_str()).copied() != Some(text.as_str());
    let other = guide.iter().filter(is_other);
    let other = other
        .map(|(path, _)| format!("{path} is not what its source says; `cargo xtask docs --write` writes it"));
    let is_left = |(path, text): &(&&str, &&str)| guide::is_written(text) && !guide.contains_key(**path);
    let left =
        files.iter().filter(is_left).map(|(path, _)| format!("{path} has no source any more; remove it"));
    other.chain(left).collect()
}

/// The code spans and the links of a page, and the lines that they begin in.
fn spans(page: &str) -> impl Iterator<Item = (usize, What)> {
    Parser::new(page).into_offset_iter().filter_map(|(event, range)| {
        let what = match event {
            Event::Code(code) => What::Code(code.trim().to_owned()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                What::Link(dest_url.into())
            }
            _ => return None,
        };
        Some((page[..range.start].lines().count().max(1), what))
    })
}

/// All files that git tracks, or would, with their texts, which are empty where they are not UTF-8.
fn texts() -> Result<Vec<(String, String)>, Stop> {
    let list = Line::new("git ls-files --cached --others --exclude-standard --deduplicate");
    let list = list.read()?;
    let root = root();
    let is_there = |path: &&str| fs::symlink_metadata(root.join(Path::new(path))).is_ok();
    let read = |path: &str| (path.to_owned(), fs::read_to_string(root.join(path)).unwrap_or_default());
    Ok(list.lines().filter(is_there).map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_links_are_found_outside_of_blocks() {
        let page = "A `name` and [`code`](docs/page.md#part), ![a picture](one.svg)\n\n```sh\n`no` [no](no)\n```\nx ``a ` b``";
        let expected = [
            (1, What::Code("name".into())),
            (1, What::Link("docs/page.md#part".into())),
            (1, What::Code("code".into())),
            (1, What::Link("one.svg".into())),
            (6, What::Code("a ` b".into())),
        ];
        assert_eq!(spans(page).collect::<Vec<_>>(), expected);
    }
}
