//! That the published crates build by themselves, and with the oldest Rust that they promise.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::line::{Line, Stop, root};
use crate::skips::SKIPS;

/// The workspace's `rust-version`.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// The workspace's, which is that of all its crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Features whose own dependency needs a newer Rust than [`OLDEST`], as their documentation says.
const NEWER: [&str; 1] = ["lock_api_05"];

/// Where the packages are unpacked, below the root.
const UNPACKED: &str = "target/unpacked";

/// Packs every crate in the order of their dependencies, and checks the packages against each other.
///
/// Not by cargo's own `--verify`: that unpacks the packages into cargo's home as if they came from a registry, where a version
/// never changes, and so builds against the first ones that it saw.
pub(crate) fn package() -> Result<(), Stop> {
    let krates = published()?;
    let packages = krates.iter().flat_map(|krate| ["-p", krate]);
    let pack = Line::new("cargo package --no-verify --offline --allow-dirty").args(packages);
    pack.run()?;

    let folder = root().join(UNPACKED);
    let failed = Stop::at(UNPACKED);
    for krate in &krates {
        let unpacked = folder.join(format!("{krate}-{VERSION}"));
        if unpacked.exists() {
            fs::remove_dir_all(&unpacked).map_err(&failed)?;
        }
    }
    fs::create_dir_all(&folder).map_err(&failed)?;
    for krate in &krates {
        // With today's times, for those in a package are always the same.
        let line = format!("tar -xzmf target/package/{krate}-{VERSION}.crate -C {UNPACKED}");
        Line::new(&line).run()?;
    }
    fs::write(folder.join("Cargo.toml"), workspace(&krates)).map_err(&failed)?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(&failed)?;
    // In the target of the repository, where what the packages depend on has been checked with the same profile.
    Line::new("cargo check --workspace --all-features --lib --bins --examples --offline --target-dir ..")
        .within(UNPACKED)
        .run()
}

/// A workspace of the packages, each of which finds the others where it looks for them on crates.io.
fn workspace(krates: &[String]) -> String {
    let mut members = String::new();
    let mut patches = String::new();
    for krate in krates {
        members.push_str(&format!("    \"{krate}-{VERSION}\",\n"));
        patches.push_str(&format!("{krate} = {{ path = \"{krate}-{VERSION}\" }}\n"));
    }
    let profile = "[profile.dev]\ndebug = \"line-tables-only\"";
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n{profile}\n\n[patch.crates-io]\n{patches}"
    )
}

/// Builds the published crates with the oldest Rust, where it is installed, with all features but those of [`NEWER`]. Where it is not, at least
/// no dependency may ask for a newer one; of the standard library, clippy's `incompatible_msrv` asks it in every `cargo clippy`.
pub(crate) fn msrv() -> Result<(), Stop> {
    let krates = published()?;
    let features = features(&metadata(&["--no-deps"])?, &krates);
    let packages: Vec<&str> = krates.iter().flat_map(|krate| ["-p", krate]).collect();
    println!("without {}, which need a newer Rust", NEWER.join(", "));
    if Line::new(&format!("cargo +{OLDEST} --version")).succeeds() {
        return Line::new(&format!("cargo +{OLDEST} check --features {features} --target-dir target/msrv"))
            .args(packages)
            .run();
    }
    let why = format!("this toolchain is missing; to get it: rustup toolchain install {OLDEST}");
    SKIPS.skip(&format!("cargo +{OLDEST} check"), why);
    let tree = format!("cargo tree --offline --features {features} --edges normal,build --prefix none");
    let tree = Line::new(&tree).args(["--format", "{p}"]).args(packages);
    let built = built(&tree.read()?);
    // Of other platforms' packages not even the manifests need to be there.
    let host = Line::new("rustc --print host-tuple").read()?;
    let newer = newer(&metadata(&["--all-features", "--filter-platform", host.trim()])?, &built, OLDEST);
    if !newer.is_empty() {
        return Err(Stop::Failed(format!("need a newer Rust than {OLDEST}: {}", newer.join(", "))));
    }
    println!("none of {} packages says that it needs a newer one", built.len());
    Ok(())
}

/// All features of these crates but those of [`NEWER`], as `--features` expects them.
fn features(metadata: &Value, krates: &[String]) -> String {
    let mut features = Vec::new();
    for package in list(&metadata["packages"]) {
        let Some(krate) = package["name"].as_str().filter(|name| krates.iter().any(|krate| krate == name))
        else {
            continue;
        };
        let names = package["features"].as_object().into_iter().flat_map(|features| features.keys());
        features
            .extend(names.filter(|name| !NEWER.contains(&&***name)).map(|name| format!("{krate}/{name}")));
    }
    features.join(",")
}

pub(crate) fn metadata(arguments: &[&str]) -> Result<Value, Stop> {
    let line = Line::new("cargo metadata --format-version 1 --offline").args(arguments.iter().copied());
    let text = line.read()?;
    serde_json::from_str(&text).map_err(|error| Stop::Failed(format!("{line}: {error}")))
}

/// The elements of a list in JSON.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The names of the workspace's crates that are published.
pub(crate) fn published() -> Result<Vec<String>, Stop> {
    let metadata = metadata(&["--no-deps"])?;
    let published = list(&metadata["packages"]).iter().filter(|package| package["publish"].is_null());
    Ok(published.filter_map(|package| package["name"].as_str()).map(str::to_owned).collect())
}

/// Name and version of each package in what `cargo tree` prints: `name v1.2.3 (…)`.
fn built(tree: &str) -> BTreeSet<(String, String)> {
    let package = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some((name.to_owned(), rest.split(' ').next()?.to_owned()))
    };
    tree.lines().filter_map(package).collect()
}

/// Those of `built` whose `rust-version` is above `oldest`.
fn newer(metadata: &Value, built: &BTreeSet<(String, String)>, oldest: &str) -> Vec<String> {
    let parts =
        |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    let mut newer = Vec::new();
    for package in list(&metadata["packages"]) {
        let [name, version, needs] = ["name", "version", "rust_version"].map(|key| package[key].as_str());
        let (Some(name), Some(version), Some(needs)) = (name, version, needs) else { continue };
        let is_newer =
            parts(needs)[..2.min(parts(needs).len())] > parts(oldest)[..2.min(parts(oldest).len())];
        if is_newer && built.contains(&(name.to_owned(), version.to_owned())) {
            newer.push(format!("{name} {version} ({needs})"));
        }
    }
    newer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_asked_for_but_not_those_that_say_they_need_a_newer_rust() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "published", "features": { "lock_api": [], "lock_api_05": [], "serde": [] } },
            { "name": "ours", "features": { "test": [] } },
        ]});
        assert_eq!(features(&metadata, &["published".to_owned()]), "published/lock_api,published/serde");
    }

    #[test]
    fn a_dependency_that_needs_a_newer_rust_is_named() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "old", "version": "1.0.0", "rust_version": "1.9" },
            { "name": "same", "version": "1.0.0", "rust_version": "1.88.0" },
            { "name": "silent", "version": "1.0.0", "rust_version": null },
            { "name": "new", "version": "1.0.0", "rust_version": "1.89" },
            { "name": "new", "version": "0.9.0", "rust_version": "1.89" },
            { "name": "unused", "version": "1.0.0", "rust_version": "1.99" },
        ]});
        let tree = "old v1.0.0\nsame v1.0.0\nsilent v1.0.0\nnew v1.0.0 (proc-macro)\nnew v1.0.0 (*)\n\n";
        assert_eq!(newer(&metadata, &built(tree), "1.88"), ["new 1.0.0 (1.89)"]);
    }
}
