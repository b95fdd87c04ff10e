//! Checks the contents and metadata of each published crate, as crates.io and docs.rs show them; the `Cargo.lock` of a program that depends on
//! it; and the error on a target that the crate cannot be built for. `cargo xtask package` checks that the packages build by themselves.

use std::path::{Path, PathBuf};

use super::*;
use crate::files::texts;
use crate::line::quoted;
use crate::tool::has_library;

#[path = "../../../crates/waitword/tests/common/skip.rs"]
mod skip;

fn all() -> Vec<Value> {
    let krates = published().unwrap();
    assert!(krates.len() > 4, "all crates but a few are published");
    krates
}

fn folder(krate: &Value) -> &Path {
    Path::new(text(krate, "manifest_path")).parent().unwrap()
}

#[test]
fn a_published_crate_says_what_it_is() {
    let mut faults = Vec::new();
    for krate in all() {
        let name = text(&krate, "name");
        let words = |key: &str| {
            list(&krate[key]).iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        let is_there = |key: &str| !krate[key].is_null();
        let (keywords, categories) = (words("keywords"), words("categories"));
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        // https://crates.io/category_slugs
        let slugs = "api-bindings asynchronous command-line-utilities concurrency database development-tools filesystem \
                     wasm web-programming";
        let is_library = list(&krate["targets"]).iter().any(|target| target["kind"][0] == "lib");
        let page = format!("https://docs.rs/{name}");
        for (holds, what) in [
            (
                (20..=140).contains(&text(&krate, "description").chars().count()),
                "description of 20 to 140 characters",
            ),
            (text(&krate, "license") == "MIT OR Apache-2.0", "license"),
            (text(&krate, "readme") == "README.md", "a README of its own"),
            (is_there("rust_version"), "rust-version"),
            // crates.io takes five keywords of twenty characters at most.
            ((1..=5).contains(&keywords.len()), "one to five keywords"),
            (keywords.iter().all(|it| it.len() <= 20), "keywords of 20 characters at most"),
            (keywords.iter().all(|it| it.chars().all(is_plain)), "keywords in lower case"),
            ((1..=5).contains(&categories.len()), "one to five categories"),
            // Others are refused when it is too late.
            (
                categories.iter().all(|it| slugs.split(' ').any(|slug| slug == it)),
                "categories that crates.io has",
            ),
            (!is_library || text(&krate, "documentation") == page, "documentation on docs.rs"),
            (!is_library || krate["metadata"]["docs"]["rs"].is_object(), "package.metadata.docs.rs"),
            // Of what is said to be somewhere it has to be known that it is there.
            (!is_there("repository") && !is_there("homepage"), "no address that is not known"),
        ] {
            faults.extend((!holds).then(|| format!("{name}: {what}")));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_package_has_its_readme_both_licences_and_its_examples() {
    for krate in all() {
        let name = text(&krate, "name");
        let packed = read(&format!("cargo package --list --allow-dirty --offline -p {name}")).unwrap();
        let files: BTreeSet<&str> = packed.lines().collect();
        for file in ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(files.contains(file), "{name} is packed without {file}");
        }
        for example in list(&krate["targets"]).iter().filter(|target| target["kind"][0] == "example") {
            // Cargo leaves out what lies beside the crate's folder, and only warns.
            let path = Path::new(text(example, "src_path")).strip_prefix(folder(&krate)).unwrap();
            assert!(files.contains(path.to_str().unwrap()), "{name} is packed without {}", path.display());
        }
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let [ours, packed] = [&root(), folder(&krate)].map(|at| fs::read(at.join(file)).unwrap());
            assert!(ours == packed, "{name}: another {file} than the project's");
        }
    }
}

/// A clone on Windows has none, but a text file in its place, which would be packed.
#[test]
fn the_tree_has_no_symbolic_links() {
    let list = read("git ls-files --stage").unwrap();
    assert!(list.lines().count() > 100, "that is not all: {list}");
    let links: Vec<&str> = list.lines().filter(|line| line.starts_with("120000 ")).collect();
    assert!(links.is_empty(), "{links:#?}");
}

#[test]
fn an_error_says_whether_its_reasons_are_complete() {
    let krates = all();
    let sources: Vec<_> = names(&krates).map(|name| format!("crates/{name}/src/")).collect();
    let is_source =
        |path: &str| path.ends_with(".rs") && sources.iter().any(|source| path.starts_with(source));
    let mut count = 0;
    for (path, text) in texts().unwrap().iter().filter(|(path, _)| is_source(path)) {
        // The docs and attributes right above the item.
        let mut above = String::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("pub enum ").filter(|name| name.contains("Error")) {
                count += 1;
                let says = above.contains("#[non_exhaustive]") || above.contains("The enum is exhaustive");
                assert!(says, "{path}: {name}");
            }
            match line.starts_with("///") || line.starts_with("#[") {
                true => above += line,
                false => above.clear(),
            }
        }
    }
    assert!(count > 8, "that is not all: {count}");
}

/// The crates' READMEs are doctests of their crates; the project's is a page of none.
#[test]
fn the_examples_of_the_projects_readme_are_those_of_the_crates() {
    let blocks = |page: &Path| -> BTreeSet<String> {
        let page = fs::read_to_string(page).unwrap();
        page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
    };
    let ours = blocks(&root().join("README.md"));
    assert!(!ours.is_empty(), "an example in Rust");
    let of_crates = all().iter().flat_map(|krate| blocks(&folder(krate).join("README.md"))).collect();
    let others: Vec<_> = ours.difference(&of_crates).collect();
    assert!(others.is_empty(), "in no crate's README: {others:#?}");
}

/// What cargo says in a new package that depends on `krate` and on nothing else, and is in nobody's workspace; and its folder.
fn cargo(krate: &str, arguments: &str, flags: &str, source: &str) -> (PathBuf, Result<String, Stop>) {
    let folder = root().join("target/tmp").join(arguments).join(krate);
    // What an earlier run left would be kept: a lockfile is not made anew where there is one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    let path = root().join("crates").join(krate);
    let manifest = format!(
        "[workspace]\n[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\n{krate} = {{ path = {path:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), source).unwrap();
    let within = quoted([folder.to_str().unwrap()]);
    let cargo = format!("RUSTFLAGS='{flags}' CARGO_TARGET_DIR=target cargo {arguments} --offline");
    (folder, read(&format!("cd {within} && {cargo}")))
}

/// A lockfile has the dependencies for every target and every `cfg`, also for those that nobody builds. So a model checker that
/// stands in a manifest under `cfg(...)` is, with all that it depends on, part of what the users of that crate have to read.
#[test]
fn the_lockfile_of_a_user_has_nothing_that_is_not_built() {
    for (krate, expected) in [
        ("waitword-core", vec!["waitword-core"]),
        ("waitword", vec!["pin-project-lite", "waitword", "waitword-core"]),
    ] {
        let (folder, said) = cargo(krate, "generate-lockfile", "", "");
        said.unwrap();
        let lockfile = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
        let names = lockfile.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        assert_eq!(names.filter(|name| *name != "dependent").collect::<Vec<_>>(), expected);
    }
}

/// A user who checks a program of their own sets these for all that it depends on.
#[test]
fn the_cfg_of_a_users_model_checker_is_none_of_ours() {
    // As a rule with locks in statics, which no checker has.
    let uses = "pub static LOCK: waitword::Mutex<u32> = waitword::Mutex::new(0);\n";
    cargo("waitword", "check", "--cfg loom", uses).1.unwrap();
}

#[test]
fn a_target_without_64_bit_atomics_is_refused_with_the_reason() {
    /// It has atomics of 32 bits, and a standard library from rustup.
    const TARGET: &str = "powerpc-unknown-linux-gnu";
    if !has_library(TARGET) {
        let why = format!("its standard library is missing; to get it: rustup target add {TARGET}");
        return skip::skip("the message on a target without 64-bit atomics", &why);
    }
    let (_, said) = cargo("waitword-core", &format!("check --target {TARGET}"), "", "");
    let errors = said.unwrap_err().to_string();
    let first = errors.lines().find(|line| line.starts_with("error"));
    assert!(first.is_some_and(|line| line.contains("atomic operations on 64 bits")), "{errors}");
}

#[test]
fn features_are_asked_for_but_not_those_that_say_they_need_a_newer_rust() {
    let features = serde_json::json!({ "lock_api": [], "lock_api_05": [], "serde": [] });
    let krate = serde_json::json!({ "name": "published", "features": features });
    assert_eq!(super::features(&[krate]), "published/lock_api,published/serde");
}

#[test]
fn a_dependency_that_needs_a_newer_rust_is_named() {
    let packages = [
        ("old", "1.0.0", Some("1.9")),
        ("same", "1.0.0", Some("1.88.0")),
        ("silent", "1.0.0", None),
        ("new", "1.0.0", Some("1.89")),
        ("new", "0.9.0", Some("1.89")),
        ("unused", "1.0.0", Some("1.99")),
    ];
    let packages = packages.map(
        |(name, version, rust)| serde_json::json!({ "name": name, "version": version, "rust_version": rust }),
    );
    let tree = "old v1.0.0\nsame v1.0.0\nsilent v1.0.0\nnew v1.0.0 (proc-macro)\nnew v1.0.0 (*)\n\n";
    assert_eq!(newer(&packages, tree, "1.88"), ["new 1.0.0 (1.89)"]);
}
