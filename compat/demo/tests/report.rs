//! The reports of a program that contains no code for them, and the absence of serde_json from its dependencies.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Returns the lines that the program prints before the first that contains `until`. (A test that waits for ever has failed.)
fn lines(observe: &str, until: &str) -> Vec<String> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_demo"));
    let mut program = program.env("WAITWORD_OBSERVE", observe).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(program.stderr.take().unwrap()).lines().map(Result::unwrap);
    let told = lines.take_while(|line| !line.contains(until)).collect();
    program.kill().unwrap();
    program.wait().unwrap();
    told
}

/// A cycle that contains a task may end in ways that the observer cannot know, so it is reported only after ten seconds.
#[test]
fn a_deadlock_over_threads_and_a_task_is_told_with_its_members_and_their_lines() {
    let told = lines("1", "may still end").join(" ");
    for part in
        ["waitword: cycle of waits", "thread \"import\"", "thread \"audit\"", "task 1", "demo/src/main.rs:"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn json_which_these_locks_lack_is_refused_with_what_to_do() {
    let told =
        lines("trace=x.json,serve=x.sock", "no reports at x.sock: this program is built without JSON; add");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("waitword: no trace at x.json: this program is built without JSON; add"),
        "{told:?}"
    );
}

/// serde_json implements `PartialEq` for strings and numbers, which makes comparisons in other crates ambiguous. The lock files contain the
/// dependencies of all features.
#[test]
fn nobody_gets_serde_json_with_the_locks() {
    for lock in [include_str!("../../Cargo.lock"), include_str!("../../parking_lot-0.13/Cargo.lock")] {
        assert!(lock.contains("name = \"waitword-observe\"") && !lock.contains("name = \"serde_json\""));
    }
}
