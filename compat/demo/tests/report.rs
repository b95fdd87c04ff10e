//! What the program prints that nobody wrote a line for.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A cycle with a task in it may end in ways that nobody knows of, so it is told after ten seconds. (A test that waits for ever has failed.)
#[test]
fn a_deadlock_over_threads_and_a_task_is_told_with_its_members_and_their_lines() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_demo"));
    let mut program = program.env("WAITWORD_OBSERVE", "1").stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stderr.take().unwrap()).lines().map(Result::unwrap);
    let is_cycle = |line: &String| line.starts_with("waitword: cycle of waits");
    lines.find(is_cycle).expect("the line of a cycle");
    let told: Vec<String> = lines.by_ref().take_while(|line| !line.contains("may still end")).collect();
    program.kill().unwrap();
    program.wait().unwrap();
    let told = told.join(" ");
    for part in ["thread \"import\"", "thread \"audit\"", "task 1", "demo/src/main.rs:"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
