//! Checks the links in the output of `cargo doc`. If the item of a link is hidden, or its docs are shown again by another crate, rustdoc may
//! find no page for it. Then it leaves the path (`href="crate::…"`), without a warning.

use std::collections::BTreeSet;
use std::fs;

use crate::files::resolve;
use crate::line::{Stop, none_of, root};
use crate::publish::{names, published};

/// The site with the docs of the published crates.
pub(super) const DOCS_RS: &str = "https://docs.rs/";

/// Below the root.
const FOLDER: &str = "target/doc";

/// Links in the docs of methods and items that come from other crates, which we cannot fix.
const OF_OTHERS: [&str; 11] = [
    "crate::Span",
    "super::Span::current()",
    "super::Subscriber",
    "dispatcher#setting-the-default-subscriber",
    "futures_core::future::TryFuture",
    "TryFuture::Ok",
    "TryFuture::Error",
    "std::future::Future",
    "std::future::Future::Output",
    "../../std/time/struct.Instant.html",
    "../../std/time/struct.SystemTime.html",
];

/// Follows the links from each published crate's first page, so pages of an earlier build are not read. Checks also that the docs have the
/// targets of the Markdown's links to docs.rs, which are given with their places.
pub(super) fn check(links_of_markdown: impl Iterator<Item = (String, String)>) -> Result<(), Stop> {
    let krates = published()?;
    let path = |page: &str| root().join(FOLDER).join(page);
    let mut pages: BTreeSet<String> =
        names(&krates).map(|krate| krate.replace('-', "_") + "/index.html").collect();
    pages.retain(|page| path(page).exists());
    let mut new: Vec<String> = pages.iter().cloned().collect();
    if new.is_empty() {
        return Err(Stop::Failed(format!("{FOLDER} is empty; to fill it: cargo doc --workspace --no-deps")));
    }
    let mut faults = BTreeSet::new();
    while let Some(page) = new.pop() {
        let text = fs::read_to_string(path(&page)).map_err(Stop::at(&page))?;
        for link in links(&text).filter(|link| !OF_OTHERS.contains(link)) {
            let Some(file) = file(&page, link) else { continue };
            if !path(&file).exists() {
                faults.insert(format!("{page}: {link}"));
            } else if file.ends_with(".html") && pages.insert(file.clone()) {
                new.push(file);
            }
        }
    }
    let is_there = |krate: &str, rest: &str| {
        let (page, anchor) = rest.split_once('#').unwrap_or((rest, ""));
        let has_anchor = |text: String| anchor.is_empty() || text.contains(&format!("id=\"{anchor}\""));
        names(&krates).any(|name| name == krate)
            && match page.strip_prefix("latest/") {
                None => page.is_empty(),
                Some(page) => fs::read_to_string(path(page)).is_ok_and(has_anchor),
            }
    };
    for (place, link) in links_of_markdown {
        let Some(item) = link.strip_prefix(DOCS_RS).filter(|item| item.starts_with("waitword")) else {
            continue;
        };
        let (krate, rest) = item.split_once('/').unwrap_or((item, ""));
        if !is_there(krate, rest) {
            faults.insert(format!("{place}: {link}"));
        }
    }
    let faults: Vec<String> = faults.into_iter().collect();
    none_of(&format!("{} links whose target is missing in {FOLDER}", faults.len()), &faults)?;
    println!(
        "{} pages in {FOLDER}: every link has a target, and so have the Markdown's links to docs.rs",
        pages.len()
    );
    Ok(())
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// The target of a page's link, if it is a file.
fn file(page: &str, link: &str) -> Option<String> {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = ["http:", "https:", "mailto:", "data:"].iter().any(|scheme| link.starts_with(scheme));
    // rustdoc's script writes links with `${`.
    (!path.is_empty() && !is_elsewhere && !link.contains("${")).then(|| resolve(page, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_rustdoc_left_is_a_file_that_is_not_there() {
        let text = r##"<a class="fn" href="../fn.f.html#a">f</a><a href="crate::g">g</a><a href="#x"><a href="https://x">"##;
        let files: Vec<_> = links(text).filter_map(|link| file("one/two/index.html", link)).collect();
        assert_eq!(files, ["one/fn.f.html", "one/two/crate::g"]);
    }
}
