//! What the article says, checked: our programs for it (`examples/article`), and, where a text of the article is given, its own listings
//! (`listing_runs.rs`). There is one script per statement that it makes (`tests/scripts/article`), which checks itself.

mod listing_runs;
mod listings;
#[path = "../../../waitword/tests/common/skip.rs"]
mod skip;

use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Only a script that hangs takes this long.
const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn async_lock_loses_no_count() {
    let lines = run(&[], &example("async-lock.js"));
    assert_contains(&lines, "  total 8000 of 8000: nothing lost");
    for agent in ["main", "worker 1", "worker 2", "worker 3"] {
        let row = lines.iter().find(|line| line.trim_start().starts_with(agent));
        assert!(row.is_some_and(|row| row.contains(" 2000 ")), "no row for {agent}: {lines:#?}");
    }
}

#[test]
fn each_worker_holds_the_lock() {
    let lines = run(&[], &example("lock.js"));
    for worker in 1..=3 {
        assert_contains(&lines, &format!("worker {worker} held the lock 8 times"));
    }
    assert_contains(&lines, "one unlock too many: unlock of a lock that is not held");
}

#[test]
fn wait_async_shows_each_result_and_outcome() {
    let expected = "\
at once, without a promise
  the word holds 0, not 1   { async: false, value: 'not-equal' }
  the timeout is 0          { async: false, value: 'timed-out' }

later, by a promise
  notified by this agent    { async: true, value: a promise }
                            then 'ok'
  notified by a worker      { async: true, value: a promise }
                            then 'ok'
  not notified for 20 ms    { async: true, value: a promise }
                            then 'timed-out'

first in, first out: a, b, c and d wait on one word
  notify(1)                 woke a
  notify(2)                 woke b, c
  notify(Infinity)          woke d";
    assert_eq!(run(&[], &example("wait-async.js")).join("\n"), expected);
}

#[test]
fn unlocks_of_the_three_state_lock_notify_only_under_contention() {
    let lines = run(&[], &example("three-states.js"));
    assert_contains(&lines, "main, alone   locked  2000 times, notified     0 times");
    assert_contains(&lines, "total 8000 of 8000");
    assert_contains(&lines, "returned: 42");
    assert_contains(&lines, "threw:    out of ink");
    assert_contains(&lines, "free:     true");
}

#[test]
fn main_can_block_with_the_flag() {
    let lines = run(&["--main-can-block"], &statement("main-may-not-block.mjs"));
    assert!(lines.iter().any(|line| line.starts_with("ok  skipped:")), "{lines:#?}");
}

/// Runs a script about a statement, which reports its checks.
#[track_caller]
fn check(script: &Path, checks: &[String]) {
    assert_eq!(run(&[], script), checks, "{}", script.display());
}

/// Runs the script to its end and returns the lines of its output. Fails on a non-zero exit code, on anything
/// in stderr, and at [`LIMIT`].
#[track_caller]
fn run(flags: &[&str], script: &Path) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_waitword"))
        .arg("run")
        .args(flags)
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("waitword starts");

    // Both pipes close when the program ends: no need to poll for that.
    let stdout = read_all(child.stdout.take().expect("stdout is piped"));
    let stderr = read_all(child.stderr.take().expect("stderr is piped"));
    let ended = stdout.recv_timeout(LIMIT).and_then(|out| Ok((out, stderr.recv_timeout(LIMIT)?)));
    if ended.is_err() {
        child.kill().expect("the child can be killed");
    }
    let status = child.wait().expect("the child can be waited for");
    let (out, err) = ended.unwrap_or_else(|_| panic!("{} hangs", script.display()));

    assert!(status.success(), "{} failed: {status}\n{out}{err}", script.display());
    assert_eq!(err, "", "{} complains", script.display());
    out.lines().map(str::to_owned).collect()
}

fn read_all(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    receiver
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
