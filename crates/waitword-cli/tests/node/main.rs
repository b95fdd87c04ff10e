//! The same programs on Node: those of this folder, whose output has to be the same to the letter, and those of the points
//! (`tests/points`), but for the checks in which Node is known to be wrong (`deviations.txt`).
//!
//! Skipped where there is no `node`, or one that is older than these programs need.

#[path = "../cli/program.rs"]
#[allow(dead_code)]
mod program;
#[path = "../points/scripts.rs"]
mod scripts;
#[path = "../../../waitword/tests/common/skip.rs"]
mod skip;

mod deviations;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deviations::Deviations;
use program::{Ran, ended};
use scripts::{run_here, scripts};
use skip::skip;

/// `SharedArrayBuffer.prototype.grow`, `Array.prototype.toSpliced`.
const OLDEST: u32 = 20;

#[test]
fn programs_print_what_they_print_on_node() {
    if is_skipped() {
        return;
    }
    for script in scripts(&folder()) {
        let (here, node) = (run_here(&script), run_on_node(&script));
        assert_eq!(here.stdout, node.stdout, "{}: {here:#?}\non Node: {node:#?}", script.display());
        assert_eq!(here.code, node.code, "{}: {here:#?}\non Node: {node:#?}", script.display());
    }
}

#[test]
fn checks_of_the_points_come_out_as_on_node() {
    if is_skipped() {
        return;
    }
    let deviations = Deviations::read(&folder().join("deviations.txt"));
    for script in scripts(&scripts::folder()) {
        let (here, node) = (run_here(&script), run_on_node(&script));
        let [ours, theirs] = [&here, &node].map(|ran| deviations.without(&script, &ran.stdout));
        assert_eq!(ours, theirs, "{}: {here:#?}\non Node: {node:#?}", script.display());
    }
    deviations.all_were_met();
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node")
}

fn run_on_node(script: &Path) -> Ran {
    let mut node = Command::new("node");
    // Warnings about what is experimental in one version or another are no output.
    node.arg("--no-warnings").arg(script).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(&mut node)
}

/// Whether there is no Node to compare with, which is said.
fn is_skipped() -> bool {
    let asked = Command::new("node").arg("--version").output();
    let version = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let major = |version: &str| version.strip_prefix('v')?.split('.').next()?.parse::<u32>().ok();
    let why = match version {
        Err(error) => format!("cannot start node: {error}"),
        Ok(version) => match major(&version) {
            Some(OLDEST..) => return false,
            _ => format!("node is {version:?}, and {OLDEST} is needed"),
        },
    };
    skip("the comparison with Node", &why);
    true
}
