//! What the pages name exists: files, items of the source, recipes.
//!
//! `names.rs` says what a name can mean and whether the tree has it. `html.rs` follows the links of what `cargo doc` wrote.

mod html;
mod names;

use std::fs;
use std::path::Path;

use crate::line::{Line, Stop, root};

pub(crate) use html::check as built;
use names::{Tree, What};
use pulldown_cmark::{Event, Parser, Tag};

/// It tells of what was, too.
const HISTORY: &str = "CHANGELOG.md";

pub(crate) fn run() -> Result<(), Stop> {
    let files = texts()?;
    let tree = Tree::new(&files);
    let mut faults = Vec::new();
    let mut names = 0;
    for (page, text) in files.iter().filter(|(path, _)| path.ends_with(".md") && path != HISTORY) {
        for (line, what) in spans(text) {
            names += 1;
            let fault = tree.fault(page, &what);
            faults.extend(fault.map(|fault| format!("{page}:{line}: {fault}")));
        }
    }
    if faults.is_empty() {
        println!("{names} code spans and links lead somewhere");
        return Ok(());
    }
    Err(Stop::Failed(format!("{} faults in the pages\n  {}", faults.len(), faults.join("\n  "))))
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
