//! Workers as threads of a process: one that is somewhere else when it is terminated, and what several print at once.

use std::io::{BufRead, BufReader};

use crate::program::{finish, prepared, run};

/// What its thread is in here is a write to a pipe that nobody reads, until the test does.
#[test]
fn a_thread_that_comes_back_finds_nobody_and_counts_until_then() {
    let files = [
        ("main.js", include_str!("programs/comes_back.js")),
        ("worker.js", include_str!("programs/comes_back_worker.js")),
    ];
    let mut child =
        prepared("native_back", &["--max-workers", "1", "--timeout", "60"], &files, &[]).spawn().unwrap();
    let mut complaints = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!([(); 2].map(|()| complaints.next().unwrap()), ["1", "ERR_WORKER_INIT_FAILED"]);
    // Reads what the worker writes.
    let ran = finish(child).with_code(3);
    assert_eq!(ran.stdout.len(), (1 << 20) + 1);
    assert_eq!(complaints.filter(|line| line != "ERR_WORKER_INIT_FAILED").collect::<Vec<_>>(), ["0", "lock"]);
}

#[test]
fn lines_of_several_workers_never_mix() {
    let ran = run("whole_lines", &[], include_str!("programs/whole_lines.js")).with_code(0).quietly();
    assert_eq!(ran.stdout.lines().count(), 800);
    for line in ran.stdout.lines() {
        assert_eq!(line.len(), 300, "{line}");
        assert!(line.bytes().all(|byte| byte == line.as_bytes()[0]), "{line}");
    }
}
