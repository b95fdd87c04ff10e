//! The links in what `cargo doc` wrote: rustdoc leaves a path as it is (`href="crate::…"`) where it finds no page for it, and says
//! nothing, in docs that another crate shows again or where the item is hidden.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::guide::DOCS_RS;
use super::names::resolve;
use crate::line::{Stop, root};
use crate::publish::published;

/// Below the root.
const FOLDER: &str = "target/doc";

/// In the docs of methods and items that come from other crates, whose pages are theirs to mend.
const OF_OTHERS: [&str; 7] = [
    "crate::Span",
    "super::Span::current()",
    "super::Subscriber",
    "dispatcher#setting-the-default-subscriber",
    "futures_core::future::TryFuture",
    "../../std/time/struct.Instant.html",
    "../../std/time/struct.SystemTime.html",
];

/// Follows the links from each crate's first page: what lies there from before is not read.
pub(super) fn check() -> Result<(), Stop> {
    let folder = root().join(FOLDER);
    let first = |krate: &String| folder.join(krate.replace('-', "_")).join("index.html");
    let mut new: Vec<PathBuf> = published()?.iter().map(first).filter(|page| page.exists()).collect();
    if new.is_empty() {
        return Err(Stop::Failed(format!("{FOLDER} is empty; to fill it: cargo doc --workspace --no-deps")));
    }
    let mut pages: BTreeSet<PathBuf> = new.iter().cloned().collect();
    let mut faults = BTreeSet::new();
    while let Some(page) = new.pop() {
        let text = fs::read_to_string(&page).map_err(Stop::at(page.display()))?;
        for link in links(&text).filter(|link| !OF_OTHERS.contains(link)) {
            let Some(file) = file(&page, link) else { continue };
            if !file.exists() {
                let page = page.strip_prefix(&folder).unwrap_or(&page);
                faults.insert(format!("{}: {link}", page.display()));
            } else if file.extension().is_some_and(|end| end == "html") && pages.insert(file.clone()) {
                new.push(file);
            }
        }
    }
    if faults.is_empty() {
        println!("the links of {} pages in {FOLDER} lead somewhere", pages.len());
        return Ok(());
    }
    let list = faults.iter().map(String::as_str).collect::<Vec<_>>().join("\n  ");
    Err(Stop::Failed(format!("{} links in {FOLDER} lead nowhere\n  {list}", faults.len())))
}

/// Looks for what links (with the places where they stand) will lead to on docs.rs once the crates are published there.
pub(super) fn check_docs_rs(pages: impl Iterator<Item = (String, String)>) -> Result<(), Stop> {
    let published = published()?;
    let mut faults = Vec::new();
    let mut count = 0;
    for (place, link) in pages {
        let Some(path) = link.strip_prefix(DOCS_RS) else { continue };
        let (krate, rest) = path.split_once('/').unwrap_or((path, ""));
        if !krate.starts_with("waitword") {
            continue;
        }
        count += 1;
        let (page, anchor) = rest.split_once('#').unwrap_or((rest, ""));
        let is_there = published.iter().any(|name| name == krate)
            && match page.strip_prefix("latest/") {
                None => page.is_empty(),
                Some(page) => fs::read_to_string(root().join(FOLDER).join(page))
                    .is_ok_and(|text| anchor.is_empty() || text.contains(&format!("id=\"{anchor}\""))),
            };
        if !is_there {
            faults.push(format!("{place}: {link}"));
        }
    }
    if faults.is_empty() {
        println!("{count} links of the Markdown to docs.rs lead to what is in {FOLDER}");
        return Ok(());
    }
    Err(Stop::Failed(format!(
        "{} links to docs.rs lead to nothing in {FOLDER}\n  {}",
        faults.len(),
        faults.join("\n  ")
    )))
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// What a link of a page leads to, if that is a file.
fn file(page: &Path, link: &str) -> Option<PathBuf> {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = ["http:", "https:", "mailto:", "data:"].iter().any(|scheme| link.starts_with(scheme));
    // A script of rustdoc's own writes some.
    if path.is_empty() || is_elsewhere || link.contains("${") {
        return None;
    }
    Some(resolve(page, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_rustdoc_left_is_a_file_that_is_not_there() {
        let page = Path::new("/doc/one/two/index.html");
        let text = r##"<a class="fn" href="../fn.f.html#a">f</a><a href="crate::g">g</a><a href="#x"><a href="https://x">"##;
        let files: Vec<_> = links(text).map(|link| file(page, link)).collect();
        let files: Vec<_> = files.iter().map(|file| file.as_deref().and_then(Path::to_str)).collect();
        assert_eq!(files, [Some("/doc/one/fn.f.html"), Some("/doc/one/two/crate::g"), None, None]);
    }
}
