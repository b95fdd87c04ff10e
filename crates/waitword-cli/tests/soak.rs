//! Long programs whose memory has to stay flat. Ignored by default:
//!
//! ```text
//! cargo test --release -p waitword-cli --test soak -- --ignored --nocapture --test-threads 1
//! ```
//!
//! Each script prints a line after each of its ten rounds, and this reads then how much memory its process has. The last
//! rounds may need a little more than the third one (an allocator is no machine), but not what a leak of a round would be.

#![cfg(target_os = "linux")]

#[path = "cli/program.rs"]
#[allow(dead_code)]
mod program;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

use program::{memory_of, prepared};

#[test]
#[ignore = "ten thousand workers"]
fn ten_thousand_workers_that_are_terminated_in_their_waits_leave_memory_flat() {
    flat("terminated", include_str!("soak/terminated.js"));
}

#[test]
#[ignore = "a million blocks"]
fn a_million_blocks_dropped_with_a_waiter_each_leave_memory_flat() {
    flat("dropped", include_str!("soak/dropped.js"));
}

#[test]
#[ignore = "a million waits"]
fn a_million_notified_waits_that_had_long_deadlines_leave_memory_flat() {
    flat("notified", include_str!("soak/notified.js"));
}

fn flat(test: &str, script: &str) {
    let script = format!("{}{script}", include_str!("soak/mark.js"));
    let mut command = prepared(&format!("soak/{test}"), &[], &[("main.js", &script)], &[]);
    let folder = command.get_current_dir().unwrap().to_owned();
    let start = Instant::now();
    command.stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let mut rounds = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        assert_eq!(line.unwrap(), "mark");
        rounds.push(memory_of(child.id(), "VmRSS").expect("a resident set") >> 20);
        // Whole or not at all, so that the script never reads half of it.
        let part = folder.join("part");
        fs::File::create(&part).unwrap().write_all(b"0").unwrap();
        fs::rename(part, folder.join(format!("mark-{}.json", rounds.len()))).unwrap();
    }
    assert!(child.wait().unwrap().success());
    println!("{test}: MiB after each round: {rounds:?}; {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!(rounds.len(), 10);
    let (early, late) = (rounds[2], rounds[9]);
    assert!(late <= early + early / 4 + 4, "{test}: {rounds:?}");
}
