//! Checks that what the pages name exists (files, headings, items of the source, recipes), and that no refused phrase is used.
//!
//! `names.rs` decides what a name can mean and whether the tree has it. `words.rs` finds the phrases of `words.txt`. `guide.rs` writes the pages
//! that are rustdoc's as well. `html.rs` follows the links of what `cargo doc` wrote, and those to docs.rs.

mod guide;
mod html;
mod names;
#[cfg(test)]
mod tests;
mod words;

use std::fs;

use crate::files::{Files, pages, texts};
use crate::line::{Stop, none_of, root};

use names::Tree;
use pulldown_cmark::{Event, Parser, Tag};

/// It names what is gone, too.
const HISTORY: &str = "CHANGELOG.md";

/// Checks the pages. With `write`, writes those of the guide before.
pub(crate) fn run(write: bool) -> Result<(), Stop> {
    let mut files = texts()?;
    if write {
        for (path, text) in guide::pages(&files) {
            fs::write(root().join(&path), text).map_err(Stop::at(path))?;
        }
        files = texts()?;
    }
    let faults = faults(&files);
    none_of(&format!("{} faults in the pages", faults.len()), &faults)?;
    let refused = words::faults(&files);
    none_of(&format!("{} phrases that {} refuses", refused.len(), words::PATH), &refused)?;
    println!(
        "{} pages: every file, heading, item and recipe exists; no refused phrase",
        pages(&files).count()
    );
    Ok(())
}

/// Checks the links in what `cargo doc` wrote, and those of the pages to docs.rs.
pub(crate) fn built() -> Result<(), Stop> {
    let files = texts()?;
    html::check(pages(&files).flat_map(|(page, text)| {
        spans(text).filter(|span| span.is_link).map(move |span| (format!("{page}:{}", span.line), span.text))
    }))
}

fn faults(files: &Files) -> Vec<String> {
    let tree = Tree::new(files);
    let mut faults = guide::faults(files);
    for (page, text) in pages(files).filter(|(page, _)| *page != HISTORY) {
        for Span { line, is_link, text } in spans(text) {
            let fault = if is_link { tree.fault_of_link(page, &text) } else { tree.fault_of_code(&text) };
            faults.extend(fault.map(|fault| format!("{page}:{line}: {fault}")));
        }
    }
    faults
}

/// The text between backticks, or the target of a link or a picture.
struct Span {
    line: usize,
    is_link: bool,
    text: String,
}

fn spans(page: &str) -> impl Iterator<Item = Span> {
    Parser::new(page).into_offset_iter().filter_map(|(event, range)| {
        let (is_link, text) = match event {
            Event::Code(code) => (false, code.trim().to_owned()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => (true, dest_url.into()),
            _ => return None,
        };
        Some(Span { line: 1 + page[..range.start].matches('\n').count(), is_link, text })
    })
}
