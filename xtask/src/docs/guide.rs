//! The guide for readers of the repository: what rustdoc shows on a page of its own, written to `docs/`.
//!
//! A module without items, whose docs are files of its crate's folder `docs`, is a page of the guide. A site that shows the repository
//! shows such a file as it is: with paths of items for links, and with the lines of the examples that rustdoc hides. In the page that
//! is written here, items are links to docs.rs, and these lines are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::names::{is_source, resolve};

/// Where the docs of the published crates are.
pub(super) const DOCS_RS: &str = "https://docs.rs/";

/// What a page begins with.
const WRITTEN: &str = "<!-- Written by `cargo xtask docs --write`";

/// Path and text of each page that the sources stand for.
pub(super) fn pages(files: &[(String, String)]) -> BTreeMap<String, String> {
    let modules: Vec<Module> = files.iter().flat_map(|(path, text)| modules(path, text, files)).collect();
    let items = Items::new(files);
    let page = |module: &Module| {
        let text = shown(&module.docs, |item| module.link(item, &modules, &items));
        let header = format!("{WRITTEN} from {}: edit what that includes. -->\n\n", module.path);
        (format!("docs/{}", module.page()), header + &text)
    };
    modules.iter().map(page).collect()
}

/// Whether a page was written here, whatever stands in the sources now.
pub(super) fn is_written(page: &str) -> bool {
    page.starts_with(WRITTEN)
}

/// The numbers of the lines that rustdoc would hide.
pub(super) fn hidden_lines(page: &str) -> impl Iterator<Item = usize> {
    let lines = lines_of_rust(page).zip(1..);
    lines.filter_map(|((line, is_rust), number)| (is_rust && is_hidden(line)).then_some(number))
}

/// A module that is a page.
struct Module {
    /// Of the file that declares it.
    path: String,
    name: String,
    docs: String,
}

/// The modules of a file whose docs come from the folder `docs`.
fn modules(path: &str, text: &str, files: &[(String, String)]) -> Vec<Module> {
    let mut found = Vec::new();
    let (mut docs, mut is_page) = (String::new(), false);
    for line in text.lines() {
        let included =
            line.strip_prefix("#[doc = include_str!(\"").and_then(|rest| rest.strip_suffix("\")]"));
        if let Some(line) = line.strip_prefix("///") {
            docs += &format!("{}\n", line.strip_prefix(' ').unwrap_or(line));
        } else if let Some(file) = included {
            let file = resolve(Path::new(path), file).to_string_lossy().replace('\\', "/");
            is_page |= is_source(&file);
            docs.extend(files.iter().filter(|(path, _)| *path == file).map(|(_, text)| text.as_str()));
        } else if !line.starts_with("#[") {
            let name = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(" {}"));
            let module =
                |name: &str| Module { path: path.to_owned(), name: name.to_owned(), docs: docs.clone() };
            found.extend(name.filter(|_| is_page).map(module));
            docs.clear();
            is_page = false;
        }
    }
    found
}

impl Module {
    fn page(&self) -> String {
        format!("{}.md", self.name.replace('_', "-"))
    }

    /// What `item`, such as `crate::Mutex::lock`, leads to.
    fn link(&self, item: &str, modules: &[Module], items: &Items) -> String {
        let krate = self.path.split('/').nth(1).unwrap_or_default();
        let name = item.rsplit("::").next();
        let page = modules.iter().find(|module| name == Some(&module.name));
        page.map_or_else(|| format!("{DOCS_RS}{krate}/latest/{}", items.page(krate, item)), Module::page)
    }
}

/// The kinds of the public items, by which rustdoc names their pages.
struct Items<'a>(BTreeSet<(&'a str, &'a str)>);

impl<'a> Items<'a> {
    fn new(files: &'a [(String, String)]) -> Self {
        let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/");
        let lines = files.iter().filter(|(path, _)| is_source(path)).flat_map(|(_, text)| text.lines());
        Self(lines.filter_map(|line| declared(line.strip_prefix("pub ")?)).collect())
    }

    /// Page and anchor of an item below its crate's folder.
    fn page(&self, krate: &str, item: &str) -> String {
        let (path, anchor) = item.split_once('#').map_or((item, None), |(path, anchor)| (path, Some(anchor)));
        let mut page = krate.replace('-', "_");
        let mut names = path.split("::").skip(1);
        while let Some(name) = names.next() {
            let kinds = ["struct", "enum", "trait", "type", "fn", "constant", "static"];
            let declared = kinds.into_iter().find(|kind| self.0.contains(&(kind, name)));
            // Macros declare guards and futures.
            let Some(kind) = declared.or(name.starts_with(char::is_uppercase).then_some("struct")) else {
                page += &format!("/{name}");
                continue;
            };
            page += &format!("/{kind}.{name}.html");
            // What is below an item is on its page.
            let anchor = names.next().map(|name| format!("method.{name}")).or(anchor.map(str::to_owned));
            return page + &anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        }
        page + "/index.html"
    }
}

/// What a line declares after its `pub`: kind and name.
fn declared(line: &str) -> Option<(&str, &str)> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let mut words = words.filter(|word| !["", "async", "unsafe"].contains(word));
    match (words.next()?, words.next()?) {
        ("const", "fn") => Some(("fn", words.next()?)),
        ("const", name) => Some(("constant", name)),
        other => Some(other),
    }
}

/// The docs as a site shows them: with other links, with the name of the language, without what is hidden.
fn shown(docs: &str, link: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (line, is_rust) in lines_of_rust(docs) {
        if is_rust && is_hidden(line) {
            continue;
        }
        let mut parts = line.split("](crate::");
        text += parts.next().unwrap_or_default();
        for part in parts {
            let (item, rest) = part.split_once(')').unwrap_or((part, ""));
            text += &format!("]({}){rest}", link(&format!("crate::{item}")));
        }
        // The end of a block is no Rust.
        text += if is_rust && line == "```" { "rust\n" } else { "\n" };
    }
    text
}

/// Each line, and whether it is of a block of Rust, whose last line is not.
fn lines_of_rust(page: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut block = None;
    page.lines().map(move |line| {
        let fence = line.strip_prefix("```");
        block = match (fence, block) {
            (Some(_), Some(_)) => None,
            (Some(language), None) => Some(language.is_empty() || language.starts_with("rust")),
            (None, block) => block,
        };
        (line, block == Some(true))
    })
}

fn is_hidden(line: &str) -> bool {
    line == "#" || line.starts_with("# ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_links_that_lead_somewhere_and_no_hidden_lines() {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let guide = "#[doc = include_str!(\"../docs/which_lock.md\")]\n/// ```toml\n/// # a comment\n/// ```\npub mod which_lock {}\n\n\
            #[doc = include_str!(\"../docs/bounds.md\")]\npub mod bounds {}\n\n\
            #[doc = include_str!(\"../README.md\")]\npub mod no_page {}\n\n/// Has a page.\npub struct Lock;\n";
        let which = "A [`Lock`](crate::Lock), [`get`](crate::Lock::get), [why](crate::Lock#why), [c](crate::part::wait), \
            [`Guard`](crate::Guard::map), [m](crate::part::all), [bounds](crate::guide::bounds), [x](#x).\n\n```\n# use a::B;\n#[test]\nlet one = 1;\n```\n";
        let files = [
            file("crates/a-lock/src/guide.rs", guide),
            file("crates/a-lock/docs/which_lock.md", which),
            file("crates/a-lock/docs/bounds.md", "```text\n# shown\n```\n"),
            file(
                "crates/a-lock/src/part.rs",
                "pub const unsafe fn wait() {}\npub mod all {\n    pub fn all() {}\n",
            ),
        ];
        let pages = pages(&files);
        assert_eq!(pages.keys().collect::<Vec<_>>(), ["docs/bounds.md", "docs/which-lock.md"]);
        assert!(pages["docs/bounds.md"].ends_with("-->\n\n```text\n# shown\n```\n"));
        let on = "https://docs.rs/a-lock/latest/a_lock";
        let expected = format!(
            "{WRITTEN} from crates/a-lock/src/guide.rs: edit what that includes. -->\n\n\
            A [`Lock`]({on}/struct.Lock.html), [`get`]({on}/struct.Lock.html#method.get), [why]({on}/struct.Lock.html#why), \
            [c]({on}/part/fn.wait.html), \
            [`Guard`]({on}/struct.Guard.html#method.map), [m]({on}/part/all/index.html), [bounds](bounds.md), [x](#x).\n\n\
            ```rust\n#[test]\nlet one = 1;\n```\n```toml\n# a comment\n```\n"
        );
        assert_eq!(pages["docs/which-lock.md"], expected);
        assert!(is_written(&expected));
        assert_eq!(hidden_lines(which).collect::<Vec<_>>(), [4]);
        assert_eq!(hidden_lines(&expected).next(), None);
    }
}
