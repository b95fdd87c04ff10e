//! Made-up trees, and what is wrong with their pages.

use super::*;

fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect()
}

const SOURCES: [(&str, &str); 3] = [
    (
        "crates/lock/src/raw/mod.rs",
        "impl Mutex { fn lock_async() {} } fn a_long_name_of_a_test() {} // only_a_comment",
    ),
    ("crates/lock/docs/guide.md", "[an item](crate::Mutex::lock_async)\n```\n# hidden\n```\n"),
    ("results/one.txt", ""),
];

/// Each name stands in a line of its own.
fn faults_of_page(text: &str) -> Vec<String> {
    faults(&files(&[&SOURCES[..], &[("docs/page.md", text)]].concat()))
}

#[test]
fn what_is_there_is_no_fault() {
    let page = "
        # A part
        ## `code` – and, more
        ## A part
        Files, by the end of their path: `crates/lock/src/raw/mod.rs` `raw/` `mod.rs` `results/*.txt` `/dev/stdin` `built-ins/Atomics`
        Items: `Mutex::lock_async` `lock_async()` `a_long_name_…` `…_of_a_test` `…_of_a_…` `tokio::sync::Gone` `plain`
        `mod.rs::a_long_name_of_a_test`, recipes: `cargo xtask loom --deep` `cargo xtask --help`
        [one](../results/one.txt) ![two](page.md#a-part) [three](#a-part-1) [four](#code--and-more) [five](https://example.org/gone.md)
        - <a id=\"six\"></a>**six**: [six](#six)
        ```sh
        `no_code` [no link](no)
        # shown
        ```";
    let page = page.replace("\n        ", "\n");
    assert_eq!(faults_of_page(&page), Vec::<String>::new());
}

#[test]
fn what_is_gone_is_a_fault() {
    for (name, fault) in [
        ("`results/*.svg`", "there is no file or folder"),
        ("`raw/other.rs`", "there is no file or folder"),
        ("`aw/mod.rs`", "there is no file or folder"),
        ("`gone.rs`", "there is no file or folder"),
        ("`Mutex::lock_asink`", "the sources have no lock_asink"),
        ("`only_on_this_page`", "the sources have no"),
        ("`only_a_comment`", "the sources have no"),
        ("`a_short_…`", "the sources have no"),
        ("`LOUD_NAME`", "the sources have no"),
        ("`` LOUD_NAME ``", "the sources have no"),
        ("`mod.rs::another_test`", "the sources have no another_test"),
        ("`cargo xtask loam`", "is not a recipe"),
        ("`cargo xtask loom --deeper`", "is not a recipe"),
        ("[](page.md#another-part)", "has no such heading"),
        ("[](#a-part-2)", "has no such heading"),
        ("[](../results/one.txt#L1)", "has no such heading"),
        ("![](gone.md)", "leads nowhere"),
        ("[](results/one.txt)", "leads nowhere"),
        ("[](crate::Mutex::lock_async)", "works only in rustdoc"),
        ("[](../crates/lock/docs/guide.md)", "leads to a source of rustdoc"),
        ("```rust\n# use a::B;\n```", "rustdoc hides this line"),
    ] {
        let faults = faults_of_page(&format!("# A part\n## A part\n{name}\n"));
        let line = if name.contains('\n') { 4 } else { 3 };
        let is_it =
            |found: &String| found.starts_with(&format!("docs/page.md:{line}: ")) && found.contains(fault);
        assert!(matches!(&faults[..], [found] if is_it(found)), "{name}: {faults:?}");
    }
}

#[test]
fn a_page_of_the_guide_has_links_that_lead_somewhere_and_no_hidden_lines() {
    let guide = "#[doc = include_str!(\"../docs/which_lock.md\")]\n/// ```toml\n/// # a comment\n/// ```\npub mod which_lock {}\n\n\
        #[doc = include_str!(\"../docs/bounds.md\")]\npub mod bounds {}\n\n\
        #[doc = include_str!(\"../README.md\")]\npub mod no_page {}\n\n/// Has a page.\npub struct Lock;\n";
    let which = "A [`Lock`](crate::Lock), [`get`](crate::Lock::get), [why](crate::Lock#why), [c](crate::part::wait), \
        [`Guard`](crate::Guard::map), [m](crate::part::all), [bounds](crate::guide::bounds), [x](page.md).\n\n\
        ```\n# use a::B;\n#\n#[test]\nlet one = 1;\n```\n";
    let sources = [
        ("crates/a-lock/src/guide.rs", guide),
        ("crates/a-lock/docs/which_lock.md", which),
        ("crates/a-lock/docs/bounds.md", "```text\n# shown\n```\n"),
        ("crates/a-lock/docs/page.md", ""),
        ("crates/a-lock/src/part.rs", "pub const unsafe fn wait() {}\npub mod all {\n    pub fn all() {}\n"),
    ];
    let on = "https://docs.rs/a-lock/latest/a_lock";
    let expected = format!(
        "A [`Lock`]({on}/struct.Lock.html), [`get`]({on}/struct.Lock.html#method.get), [why]({on}/struct.Lock.html#why), \
        [c]({on}/part/fn.wait.html), [`Guard`]({on}/struct.Guard.html#method.map), [m]({on}/part/all/index.html), \
        [bounds](bounds.md), [x](page.md).\n\n```rust\n#[test]\nlet one = 1;\n```\n```toml\n# a comment\n```\n"
    );
    let pages = guide::pages(&files(&sources));
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["docs/bounds.md", "docs/which-lock.md"]);
    assert!(pages["docs/bounds.md"].ends_with("-->\n\n```text\n# shown\n```\n"));
    let (header, page) = pages["docs/which-lock.md"].split_once("\n\n").unwrap();
    assert!(header.ends_with(" from crates/a-lock/src/guide.rs: edit what that includes. -->"), "{header}");
    assert_eq!(page, expected);

    // Written once, and edited by hand or left since.
    let (mut bounds, left) = (pages["docs/bounds.md"].clone(), format!("{header}\n"));
    bounds += "more\n";
    let tree = [&sources[..], &[("docs/bounds.md", &bounds), ("docs/left.md", &left)]].concat();
    let of_guide = guide::faults(&files(&tree));
    let expected = ["docs/bounds.md differs", "docs/which-lock.md differs", "docs/left.md has no source"];
    assert!(
        of_guide.iter().zip(expected).all(|(fault, expected)| fault.starts_with(expected)),
        "{of_guide:#?}"
    );
    assert_eq!(of_guide.len(), 3);
}
