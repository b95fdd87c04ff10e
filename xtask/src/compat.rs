//! Runs the tests of parking_lot and async-lock on their replacements in `compat/`. The tests come from the sources that cargo unpacks in its home;
//! nothing of them is in this repository.
//!
//! A suite becomes a package in `target/compat`: the files of the original's `tests/`; the test modules in its `src/`, as integration tests;
//! and its documentation, whose examples are tests, too.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::line::{self, Stop, read, root};
use crate::publish::{list, text};

const FOLDER: &str = "target/compat";

struct Suite {
    krate: &'static str,
    version: &'static str,
    /// Below the root.
    ours: &'static str,
    features: &'static [&'static str],
    edits: &'static [Edit],
}

/// An edit of a test that uses something private in the original, or absent here: the text, its replacement, and the reason.
type Edit = (&'static str, &'static str, &'static str);

const SUITES: [Suite; 3] = [
    Suite {
        krate: "parking_lot",
        version: "0.12.5",
        ours: "compat/parking_lot",
        features: &["arc_lock", "deadlock_detection", "serde"],
        edits: &[
            DEADLOCK,
            (
                "wait_while_until_internal(&mut mutex_guard, condition, None)",
                "wait_while_for(&mut mutex_guard, condition, Duration::MAX)",
                PRIVATE,
            ),
            (
                "wait_while_until_internal(&mut mutex_guard, condition, timeout)",
                "wait_while_until(&mut mutex_guard, condition, timeout.unwrap())",
                PRIVATE,
            ),
        ],
    },
    Suite {
        krate: "parking_lot",
        version: "0.13.0",
        ours: "compat/parking_lot-0.13",
        features: &["arc_lock", "deadlock_detection", "serde"],
        edits: &[
            DEADLOCK,
            (
                "attempted to use a condition variable with more than one mutex",
                "waiters with another mutex",
                "our message differs",
            ),
            ("fn test_read_with_waiting_writer", BARGES, READERS),
            ("fn test_rwlock_pending_writer_owns_primary_key", BARGES, READERS),
            ("use super::PARKED_BIT;", "", PRIVATE),
            ("once.0.load(Ordering::Relaxed) & PARKED_BIT == 0", WAITS, PRIVATE),
            ("!unsafe { lock.raw() }.has_parked_threads()", WAITS, PRIVATE),
            ("!unsafe { rwlock.raw() }.has_parked_threads()", WAITS, PRIVATE),
        ],
    },
    Suite {
        krate: "async-lock",
        version: "3.5.0",
        ours: "compat/async-lock",
        features: &["std"],
        edits: &[("    _guard_2 = guard;\n", "", "our `RwLockReadGuardArc` is not covariant")],
    },
];

const DEADLOCK: Edit = ("parking_lot_core::deadlock", "parking_lot::deadlock", "our detector is there");
const PRIVATE: &str = "it is private in the original";
/// For a test of the original in which a reader waits for a waiting writer.
const BARGES: &str = "#[ignore]\n    fn differs";
const READERS: &str =
    "a reader may barge past a waiting writer while others read, and then causes no deadlock";
/// Replaces the check of whether a thread is queued, which it is after 50 ms.
const WAITS: &str = "{ std::thread::sleep(std::time::Duration::from_millis(50)); false }";

pub(crate) fn run() -> Result<(), Stop> {
    let originals = originals()?;
    for suite in &SUITES {
        let is_it = |package: &&Value| package["name"] == suite.krate && package["version"] == suite.version;
        let original = list(&originals["packages"]).iter().find(is_it);
        let original = original.ok_or_else(|| {
            Stop::Failed(format!("cargo's metadata has no {} {}", suite.krate, suite.version))
        })?;
        let folder = format!("{FOLDER}/{}-{}", suite.krate, suite.version);
        write(suite, original, &root().join(&folder)).map_err(Stop::at(&folder))?;
        line::run(&format!("cd {folder} && cargo test --no-fail-fast --target-dir ../target"))?;
    }
    Ok(())
}

/// Cargo's metadata of the originals, whose sources it unpacks.
fn originals() -> Result<Value, Stop> {
    let folder = format!("{FOLDER}/originals");
    let mut manifest = package("originals", "2024") + "[lib]\npath = \"lib.rs\"\n[dependencies]\n";
    for (at, Suite { krate, version, .. }) in SUITES.iter().enumerate() {
        manifest += &format!("original-{at} = {{ package = \"{krate}\", version = \"={version}\" }}\n");
    }
    line::run(&format!("mkdir -p {folder} && touch {folder}/lib.rs"))?;
    fs::write(root().join(&folder).join("Cargo.toml"), manifest).map_err(Stop::at(&folder))?;
    let metadata = read(&format!("cd {folder} && cargo metadata --format-version 1")).map_err(|_| {
        Stop::missing("parking_lot or async-lock in cargo's home", "run this recipe once with a network")
    })?;
    serde_json::from_str(&metadata).map_err(|error| Stop::Failed(format!("cargo metadata: {error}")))
}

fn package(name: &str, edition: &str) -> String {
    format!("[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n")
}

/// Writes the package of a suite anew.
fn write(suite: &Suite, original: &Value, folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let Suite { krate, features, ours, .. } = suite;
    let mut manifest = package("suite", text(original, "edition"));
    manifest += &format!("[features]\ndefault = {features:?}\n");
    features.iter().for_each(|feature| manifest += &format!("{feature} = []\n"));
    let ours = root().join(ours);
    manifest += &format!("[dependencies]\n{krate} = {{ path = {ours:?}, features = {features:?} }}\n");
    // cargo has written each dependency as a section; those of one platform only are elsewhere.
    let theirs = fs::read_to_string(text(original, "manifest_path"))?;
    let for_tests = theirs.split("\n[").filter(|section| section.starts_with("dev-dependencies."));
    for_tests.for_each(|section| manifest += &format!("[{section}\n"));
    let source = Path::new(text(original, "manifest_path")).with_file_name("src");
    let mut docs = String::from("#![allow(dead_code)]\n");
    for file in files(&source)? {
        let code = fs::read_to_string(&file)?;
        docs += &documentation(&code);
        // Tests are at the end of a file; indented test modules need private items.
        if let Some(tests) = code.find("\n#[cfg(test)]\n").map(|at| &code[at..]) {
            let tests = tests.replace("crate::", &format!("{krate}::"));
            put(suite, &folder.join("tests"), &PathBuf::from(file.file_name().unwrap_or_default()), &tests)?;
        }
    }
    put(suite, &folder.join("src"), Path::new("lib.rs"), &docs)?;
    let source = source.with_file_name("tests");
    for file in files(&source)? {
        let below = file.strip_prefix(&source).unwrap_or(&file);
        put(suite, &folder.join("tests"), below, &fs::read_to_string(&file)?)?;
    }
    fs::write(folder.join("Cargo.toml"), manifest)
}

/// Writes a file with the edits of its suite, and prints these.
fn put(suite: &Suite, folder: &Path, file: &Path, text: &str) -> std::io::Result<()> {
    let Suite { krate, version, edits, .. } = suite;
    let mut text = text.to_owned();
    for (from, to, why) in *edits {
        if text.contains(from) {
            println!("{krate} {version}, {}: `{}` replaced: {why}", file.display(), from.trim());
            text = text.replace(from, to);
        }
    }
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(path, text)
}

/// The files of a folder and its subfolders.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

/// The documentation in a source, each on an item of its own.
fn documentation(code: &str) -> String {
    let is_doc =
        |line: &str| line.starts_with("///") || line.starts_with("#[cfg_attr(") && line.contains("doc = ");
    let mut text = String::new();
    let mut lines = code.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        if is_doc(line) {
            text += &format!("{line}\n");
            if !lines.peek().is_some_and(|next| is_doc(next)) {
                text += "const _: () = ();\n";
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_documented_item_becomes_one_with_its_examples() {
        let code = "//! Of the module.\n/// One\n/// ```\n/// two();\n/// ```\npub fn one() {}\n  #[inline]\n  /// Three\n  #[cfg_attr(x, doc = \"```\")]\n  fn";
        let expected = "/// One\n/// ```\n/// two();\n/// ```\nconst _: () = ();\n/// Three\n#[cfg_attr(x, doc = \"```\")]\nconst _: () = ();\n";
        assert_eq!(documentation(code), expected);
    }
}
