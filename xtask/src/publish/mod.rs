//! Checks that the published crates build by themselves, and with the oldest Rust that they promise. The tests check the rest of their packages.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::line::{Stop, none_of, read, root, run, succeeds};
use crate::skips::SKIPS;

/// The workspace's `rust-version`.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// The version of the workspace, and so of all its crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The feature whose dependency needs a newer Rust than [`OLDEST`], as its documentation says.
const NEWER: &str = "lock_api_05";

/// Where the packages are unpacked, below the root.
const UNPACKED: &str = "target/unpacked";

/// Packs every crate in the order of their dependencies, and checks the packages against each other.
///
/// Does not use cargo's `--verify`, which unpacks the packages into cargo's home as if they came from a registry. There a version never
/// changes, so it would build against the first packages that it saw.
pub(crate) fn package() -> Result<(), Stop> {
    let krates = published()?;
    run(&format!("cargo package --no-verify --offline --allow-dirty {}", packages(&krates)))?;
    // With today's times, because those in a package are always the same.
    let unpack = format!("tar -xzmf target/package/$krate-{VERSION}.crate -C {UNPACKED}");
    let each = names(&krates).collect::<Vec<_>>().join(" ");
    run(&format!("rm -rf {UNPACKED} && mkdir {UNPACKED} && for krate in {each}; do {unpack} || exit; done"))?;
    // A workspace of the packages, whose dependencies on each other are patched from crates.io to these.
    let patch = |krate| format!("{krate} = {{ path = \"{krate}-{VERSION}\" }}\n");
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"*-{VERSION}\"]\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n[patch.crates-io]\n{}",
        names(&krates).map(patch).collect::<String>()
    );
    fs::write(root().join(UNPACKED).join("Cargo.toml"), manifest).map_err(Stop::at(UNPACKED))?;
    // In the repository's target folder, where the dependencies have been checked with the same profile.
    let what = "--workspace --all-features --lib --bins --examples";
    run(&format!("cd {UNPACKED} && cp ../../Cargo.lock . && cargo check {what} --offline --target-dir .."))
}

/// Builds the published crates with the oldest Rust and all features except [`NEWER`]. If that Rust is not installed, checks that no dependency
/// declares a newer one. (For the standard library, clippy's `incompatible_msrv` checks it in every `cargo clippy`.)
pub(crate) fn msrv() -> Result<(), Stop> {
    // Some crates promise a newer Rust.
    let (krates, newer_krates): (Vec<_>, Vec<_>) =
        published()?.into_iter().partition(|krate| text(krate, "rust_version") == OLDEST);
    let what = format!("--features {} {}", features(&krates), packages(&krates));
    let newer_krates = newer_krates.iter().map(|krate| text(krate, "name")).collect::<Vec<_>>();
    println!("not checked, because they need a newer Rust: {NEWER}, {}", newer_krates.join(", "));
    if succeeds(&format!("cargo +{OLDEST} --version")) {
        return run(&format!("cargo +{OLDEST} check {what} --target-dir target/msrv"));
    }
    let why = format!("this toolchain is missing; to get it: rustup toolchain install {OLDEST}");
    SKIPS.skip(&format!("cargo +{OLDEST} check"), why);
    let tree =
        read(&format!("cargo tree --offline {what} --edges normal,build --prefix none --format '{{p}}'"))?;
    // For this platform only: of the packages for others, not even the manifests need to be present.
    let host = read("rustc --print host-tuple")?;
    let metadata = metadata(&format!("--all-features --filter-platform {}", host.trim()))?;
    none_of(
        &format!("dependencies that need a newer Rust than {OLDEST}"),
        &newer(list(&metadata["packages"]), &tree, OLDEST),
    )?;
    println!("no dependency declares that it needs a newer Rust");
    Ok(())
}

/// All features of these crates except [`NEWER`], as the argument of `--features`.
fn features(krates: &[Value]) -> String {
    let of = |krate: &Value| {
        let names = krate["features"].as_object().into_iter().flat_map(|features| features.keys());
        let name = text(krate, "name");
        names
            .filter(|feature| *feature != NEWER)
            .map(|feature| format!("{name}/{feature}"))
            .collect::<Vec<_>>()
    };
    krates.iter().flat_map(of).collect::<Vec<_>>().join(",")
}

/// The packages in the output of `cargo tree` (lines `name v1.2.3 (…)`) whose `rust-version` is above `oldest`.
fn newer(packages: &[Value], tree: &str, oldest: &str) -> Vec<String> {
    let built: BTreeSet<Vec<&str>> = tree.lines().map(|line| line.split(' ').take(2).collect()).collect();
    let minor = |version: &str| {
        version.split('.').take(2).map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>()
    };
    let mut newer = Vec::new();
    for package in packages {
        let [name, version, needs] = ["name", "version", "rust_version"].map(|key| text(package, key));
        if minor(needs) > minor(oldest) && built.contains(&vec![name, &format!("v{version}")]) {
            newer.push(format!("{name} {version} ({needs})"));
        }
    }
    newer
}

pub(crate) fn metadata(arguments: &str) -> Result<Value, Stop> {
    let line = format!("cargo metadata --format-version 1 --offline {arguments}");
    serde_json::from_str(&read(&line)?).map_err(|error| Stop::Failed(format!("{line}: {error}")))
}

/// The elements of a list in JSON.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text under a key in JSON.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Cargo's metadata of the workspace's published crates.
pub(crate) fn published() -> Result<Vec<Value>, Stop> {
    let metadata = metadata("--no-deps")?;
    Ok(list(&metadata["packages"]).iter().filter(|package| package["publish"].is_null()).cloned().collect())
}

pub(crate) fn names(krates: &[Value]) -> impl Iterator<Item = &str> {
    krates.iter().map(|krate| text(krate, "name"))
}

/// `-p NAME` for each.
fn packages(krates: &[Value]) -> String {
    names(krates).map(|name| format!("-p {name}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
