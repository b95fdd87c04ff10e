//! The example `embed`, in which a Rust thread and a script share a lock, is right about its total.

use std::env;
use std::process::Command;

#[test]
fn a_rust_thread_and_a_script_lose_no_count() {
    // Cargo builds the examples before the tests, next to the folder of the tests.
    let tests = env::current_exe().unwrap();
    let example =
        tests.ancestors().nth(2).unwrap().join("examples/embed").with_extension(env::consts::EXE_EXTENSION);
    let ran = Command::new(&example).output();
    let ran = ran.unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo test` without `--test` builds it", example.display())
    });
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && stdout.contains("total 4000 of 4000"), "{ran:?}");
}
