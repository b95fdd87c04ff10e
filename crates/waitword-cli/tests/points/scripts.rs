//! The programs in this folder, and how they are run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Ran, ended, waitword};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/points")
}

/// The programs in a folder, by name.
pub(crate) fn scripts(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "js" || end == "mjs")).collect();
    scripts.sort();
    scripts.into_iter()
}

/// Runs a program to its end. Its main agent can block, as on Node, unless it says "The main agent cannot block." itself.
pub(crate) fn run_here(script: &Path) -> Ran {
    let can_block = !fs::read_to_string(script).unwrap().contains("// The main agent cannot block.");
    ended(waitword().arg("run").args(can_block.then_some("--main-can-block")).arg(script))
}
