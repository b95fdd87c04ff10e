//! The example `async_lock`, the article with threads and tasks, is right about its total.

use std::env;
use std::process::Command;

#[test]
fn threads_and_tasks_lose_no_count() {
    // Cargo builds the examples before the tests, next to the folder of the tests.
    let tests = env::current_exe().unwrap();
    let example = tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/async_lock")
        .with_extension(env::consts::EXE_EXTENSION);
    let ran = Command::new(&example).output();
    let ran = ran.unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo test` without `--test` builds it", example.display())
    });
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && stdout.contains("total 12000 of 12000"), "{ran:?}");
}
