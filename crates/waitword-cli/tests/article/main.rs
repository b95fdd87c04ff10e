//! What the article says, checked: our programs for it (`examples/article`), and, where a text of the article is given, its own listings
//! (`listing_runs.rs`). There is one script per statement that it makes (`tests/scripts/article`), which checks itself.

mod listing_runs;
mod listings;
#[path = "../cli/program.rs"]
#[allow(dead_code)]
mod program;
#[path = "../../../waitword/tests/common/skip.rs"]
mod skip;

use std::path::{Path, PathBuf};

use program::{ended, waitword};

#[test]
fn async_lock_loses_no_count() {
    let lines = run(&example("async-lock.js"));
    assert_contains(&lines, "  total 8000 of 8000: nothing lost");
    for agent in ["main", "worker 1", "worker 2", "worker 3"] {
        let row = lines.iter().find(|line| line.trim_start().starts_with(agent));
        assert!(row.is_some_and(|row| row.contains(" 2000 ")), "no row for {agent}: {lines:#?}");
    }
}

#[test]
fn each_worker_holds_the_lock() {
    let lines = run(&example("lock.js"));
    for worker in 1..=3 {
        assert_contains(&lines, &format!("worker {worker} held the lock 8 times"));
    }
    assert_contains(&lines, "one unlock too many: unlock of a lock that is not held");
}

#[test]
fn unlocks_of_the_three_state_lock_notify_only_under_contention() {
    let lines = run(&example("three-states.js"));
    assert_contains(&lines, "main, alone   locked  2000 times, notified     0 times");
    assert_contains(&lines, "total 8000 of 8000");
    assert_contains(&lines, "returned: 42");
    assert_contains(&lines, "threw:    out of ink");
    assert_contains(&lines, "free:     true");
}

/// Runs a script to its end, which is a good one, without complaints; the lines that it printed.
#[track_caller]
fn run(script: &Path) -> Vec<String> {
    let ran = ended(waitword().arg("run").arg(script)).with_code(0).quietly();
    ran.stdout.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_contains(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|line| line == wanted), "no line {wanted:?} in {lines:#?}");
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/article").join(name)
}

fn statement(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/article").join(name)
}
