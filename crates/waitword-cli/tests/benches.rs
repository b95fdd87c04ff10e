//! The programs that are measured beside other engines (`benches/js`) run, and print what the runner expects: the figures of
//! `programs.json`, each at least once, and nothing else. With `--quick` they do little, and what comes out means nothing.

#[path = "cli/program.rs"]
#[allow(dead_code)]
mod program;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use program::{ended, waitword};

#[test]
fn programs_that_are_measured_print_their_figures() {
    let listed = fs::read_to_string(folder().join("programs.json")).unwrap();
    let listed = serde_json::from_str::<Value>(&listed).unwrap();
    for entry in listed.as_array().unwrap() {
        let program = folder().join(entry["name"].as_str().unwrap()).with_extension("js");
        let mut command = waitword();
        command.args(["run", "--main-can-block"]).arg(&program).arg("--quick");
        let ran = ended(&mut command).with_code(0).quietly();
        let printed = ran.stdout.lines().filter_map(figure).collect::<BTreeSet<_>>();
        let expected = entry["figures"].as_array().unwrap().iter().map(|figure| text(&figure["name"]));
        assert_eq!(printed, expected.collect(), "{}: {ran:#?}", program.display());
    }
}

/// What observation costs is measured by a program that is no other engine's.
#[test]
fn the_program_of_what_observation_costs_runs_with_it_and_without() {
    let figures = |options: &[&str]| {
        let mut command = waitword();
        command
            .args(["run", "--main-can-block"])
            .args(options)
            .arg(folder().join("observe/observed.js"))
            .arg("--quick");
        ended(&mut command).with_code(0).quietly().stdout.lines().filter_map(figure).collect::<Vec<_>>()
    };
    let plain = figures(&[]);
    assert_eq!(plain, ["lock and unlock", "notify, nobody waits", "a lock of four workers"]);
    assert_eq!(figures(&["--observe"]), plain);
}

/// The name of a figure, if the line is not one that only asks the runner to look.
#[track_caller]
fn figure(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    if line["mark"].is_string() {
        return None;
    }
    assert!(line["n"].is_u64(), "{line}");
    if line["grownSince"].is_null() {
        assert_eq!(line["unit"], "nanos", "{line}");
        assert!(line["value"].as_f64().is_some_and(|value| value >= 0.0), "{line}");
    }
    Some(text(&line["name"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/js")
}
