//! What a program that depends on the published crates finds in its `Cargo.lock`, and that it builds them whatever model checker
//! it uses itself; and what it is told on a target that the crates cannot be built for.
//!
//! A lockfile has the dependencies for every target and every `cfg`, also for those that nobody builds. So a model checker that
//! stands in a manifest under `cfg(...)` is, with all that it depends on, part of what the users of that crate have to read.

#[path = "../../crates/waitword/tests/common/skip.rs"]
mod skip;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A new package that depends on `krate` and on nothing else, and is in nobody's workspace.
fn dependent_on(krate: &str, test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test).join(krate);
    // What an earlier run left would be kept: a lockfile is not made anew where there is one.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let krates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("crates");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\n{krate} = {{ path = {:?} }}\n",
        krates.join(krate)
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/lib.rs"), "").unwrap();
    folder
}

/// Whether it succeeds, and what it tells.
fn run(folder: &Path, arguments: &[&str], rustflags: &str) -> (bool, String) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).arg("--offline").current_dir(folder).env("RUSTFLAGS", rustflags);
    cargo.env("CARGO_TARGET_DIR", folder.join("target"));
    let output = cargo.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn cargo(folder: &Path, arguments: &[&str], rustflags: &str) {
    let (succeeds, errors) = run(folder, arguments, rustflags);
    assert!(succeeds, "cargo {} in {}: {errors}", arguments.join(" "), folder.display());
}

/// The names of all packages in the lockfile, without the package itself.
fn locked(folder: &Path) -> Vec<String> {
    cargo(folder, &["generate-lockfile"], "");
    let lockfile = std::fs::read_to_string(folder.join("Cargo.lock")).unwrap();
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
    std::fs::write(folder.join("src/lib.rs"), uses).unwrap();
    cargo(&folder, &["check"], "--cfg loom");
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
    let (_, errors) = run(&folder, &["check", "--target", TARGET], "");
    let first = errors.lines().find(|line| line.starts_with("error"));
    assert!(first.is_some_and(|line| line.contains("atomic operations on 64 bits")), "{errors}");
}
