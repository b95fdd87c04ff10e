//! What each crate that is published brings along, as crates.io and docs.rs show it; what a program that depends on it finds in its
//! `Cargo.lock`; and what it is told on a target that the crate cannot be built for. Whether the packages build by themselves is asked
//! by `cargo xtask package`.

#[path = "../../crates/waitword/tests/common/skip.rs"]
mod skip;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// What cargo prints, and its complaints if it fails.
fn run(folder: &Path, arguments: &[&str], rustflags: Option<&str>) -> Result<String, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).arg("--offline").current_dir(folder);
    if let Some(flags) = rustflags {
        cargo.env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", folder.join("target"));
    }
    let output = cargo.output().unwrap();
    let [printed, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    if output.status.success() { Ok(printed) } else { Err(errors) }
}

fn cargo(arguments: &[&str]) -> String {
    run(&root(), arguments, None).unwrap_or_else(|errors| panic!("cargo {}: {errors}", arguments.join(" ")))
}

/// The members of the workspace without `publish = false`.
fn published() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let published: Vec<Value> = packages.filter(|package| package["publish"].is_null()).cloned().collect();
    assert!(published.len() > 4, "all crates but a few are published");
    published
}

/// What is wrong with a crate's manifest, if anything.
fn faults(package: &Value) -> Vec<String> {
    let words = |key: &str| {
        let list = package[key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut faults = Vec::new();
    let mut check = |holds: bool, fault: &str| {
        if !holds {
            faults.push(format!("{}: {fault}", package["name"]));
        }
    };
    let description = package["description"].as_str().unwrap_or_default();
    check((20..=140).contains(&description.chars().count()), "description of 20 to 140 characters");
    check(package["license"] == "MIT OR Apache-2.0", "license");
    check(package["readme"] == "README.md", "a README of its own");
    check(package["rust_version"].is_string(), "rust-version");
    // crates.io takes five keywords of twenty characters at most.
    let keywords = words("keywords");
    check((1..=5).contains(&keywords.len()), "one to five keywords");
    let is_keyword = |word: &String| {
        word.len() <= 20 && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    check(keywords.iter().all(is_keyword), "keywords in lower case, of 20 characters at most");
    // Others are refused when it is too late. https://crates.io/category_slugs
    let known = [
        "api-bindings",
        "asynchronous",
        "command-line-utilities",
        "concurrency",
        "database",
        "development-tools",
        "wasm",
        "web-programming",
    ];
    let categories = words("categories");
    check((1..=5).contains(&categories.len()), "one to five categories");
    check(categories.iter().all(|slug| known.contains(&slug.as_str())), "categories that crates.io has");
    let is_library = package["targets"].as_array().unwrap().iter().any(|target| target["kind"][0] == "lib");
    if is_library {
        let page = format!("https://docs.rs/{}", package["name"].as_str().unwrap());
        check(package["documentation"] == page.as_str(), "documentation on docs.rs");
        check(package["metadata"]["docs"]["rs"].is_object(), "package.metadata.docs.rs");
    }
    // Of what is said to be somewhere it has to be known that it is there.
    check(package["repository"].is_null() && package["homepage"].is_null(), "no address that is not known");
    faults
}

#[test]
fn a_published_crate_says_what_it_is() {
    let faults: Vec<String> = published().iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_package_has_its_readme_both_licences_and_its_examples() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let list = cargo(&["package", "--list", "--allow-dirty", "-p", name]);
        let files: BTreeSet<&str> = list.lines().collect();
        for file in ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(files.contains(file), "{name} is packed without {file}");
        }
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let targets = package["targets"].as_array().unwrap().iter();
        for example in targets.filter(|target| target["kind"][0] == "example") {
            // Cargo leaves out what lies beside the crate's folder, and only warns.
            let path = Path::new(example["src_path"].as_str().unwrap()).strip_prefix(folder).unwrap();
            assert!(files.contains(path.to_str().unwrap()), "{name} is packed without {}", path.display());
        }
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let [ours, packed] = [root(), folder.to_owned()].map(|at| fs::read(at.join(file)).unwrap());
            assert!(ours == packed, "{name}: another {file} than the project's");
        }
    }
}

/// A clone on Windows has none, but a text file in its place, which would be packed.
#[test]
fn the_tree_has_no_symbolic_links() {
    let list = Command::new("git").args(["ls-files", "--stage"]).current_dir(root()).output().unwrap().stdout;
    let list = String::from_utf8(list).unwrap();
    assert!(list.lines().count() > 100, "that is not all: {list}");
    let links: Vec<&str> = list.lines().filter(|line| line.starts_with("120000 ")).collect();
    assert!(links.is_empty(), "{links:#?}");
}

/// The docs and attributes right above each line that begins with `start`, in the sources of a folder, and the line.
fn items(folder: &Path, start: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(items(&path, start));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for at in (0..lines.len()).filter(|&at| lines[at].starts_with(start)) {
                let is_above = |line: &&&str| line.starts_with("///") || line.starts_with("#[");
                let above = lines[..at].iter().rev().take_while(is_above).count();
                found.push(lines[at - above..=at].join("\n"));
            }
        }
    }
    found
}

#[test]
fn an_error_says_whether_its_reasons_are_complete() {
    let mut count = 0;
    for package in published() {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("src");
        for item in items(&folder, "pub enum ") {
            let name = item.rsplit("pub enum ").next().unwrap();
            if name.contains("Error") {
                count += 1;
                let says = item.contains("#[non_exhaustive]") || item.contains("reasons are complete");
                assert!(says, "{}: {name}", package["name"]);
            }
        }
    }
    assert!(count > 8, "that is not all: {count}");
}

/// The blocks of a page that are marked as Rust.
fn rust_blocks(page: &str) -> Vec<&str> {
    page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The crates' READMEs are doctests of their crates; the project's is a page of none.
#[test]
fn the_examples_of_the_projects_readme_are_those_of_the_crates() {
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let of_crates: Vec<String> = published()
        .iter()
        .map(|package| {
            read(Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("README.md"))
        })
        .collect();
    let page = read(root().join("README.md"));
    let blocks = rust_blocks(&page);
    assert!(!blocks.is_empty(), "an example in Rust");
    for block in blocks {
        assert!(
            of_crates.iter().any(|page| rust_blocks(page).contains(&block)),
            "in no crate's README:\n{block}"
        );
    }
}

/// A new package that depends on `krate` and on nothing else, and is in nobody's workspace.
fn dependent_on(krate: &str, test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test).join(krate);
    // What an earlier run left would be kept: a lockfile is not made anew where there is one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[workspace]\n[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\n{krate} = {{ path = {:?} }}\n",
        root().join("crates").join(krate)
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), "").unwrap();
    folder
}

/// The names of all packages in the lockfile, without the package itself.
///
/// A lockfile has the dependencies for every target and every `cfg`, also for those that nobody builds. So a model checker that
/// stands in a manifest under `cfg(...)` is, with all that it depends on, part of what the users of that crate have to read.
fn locked(folder: &Path) -> Vec<String> {
    run(folder, &["generate-lockfile"], Some("")).unwrap();
    let lockfile = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
    let names = lockfile.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names.filter(|name| *name != "dependent").map(str::to_owned).collect()
}

#[test]
fn the_lockfile_of_a_user_has_nothing_that_is_not_built() {
    assert_eq!(locked(&dependent_on("waitword-core", "lockfile")), ["waitword-core"]);
    assert_eq!(
        locked(&dependent_on("waitword", "lockfile")),
        ["pin-project-lite", "waitword", "waitword-core"]
    );
}

/// A user who checks a program of their own sets these for all that it depends on.
#[test]
fn the_cfg_of_a_users_model_checker_is_none_of_ours() {
    let folder = dependent_on("waitword", "cfg");
    // As a rule with locks in statics, which no checker has.
    let uses = "pub static LOCK: waitword::Mutex<u32> = waitword::Mutex::new(0);\n";
    fs::write(folder.join("src/lib.rs"), uses).unwrap();
    run(&folder, &["check"], Some("--cfg loom")).unwrap();
}

#[test]
fn a_target_without_64_bit_atomics_is_refused_with_the_reason() {
    /// It has atomics of 32 bits, and a standard library from rustup.
    const TARGET: &str = "powerpc-unknown-linux-gnu";
    let library = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let library = String::from_utf8(library.unwrap().stdout).unwrap();
    if !Path::new(library.trim()).is_dir() {
        let why = format!("its standard library is missing; to get it: rustup target add {TARGET}");
        return skip::skip("the message on a target without 64-bit atomics", &why);
    }
    let folder = dependent_on("waitword-core", "targets");
    let errors = run(&folder, &["check", "--target", TARGET], Some("")).unwrap_err();
    let first = errors.lines().find(|line| line.starts_with("error"));
    assert!(first.is_some_and(|line| line.contains("atomic operations on 64 bits")), "{errors}");
}
