//! The examples end by themselves, and are right about what they report.

use std::env;
use std::process::Command;

#[test]
fn threads_and_tasks_lose_no_count() {
    reports("async_lock", "total 12000 of 12000");
}

#[test]
fn what_the_service_has_answered_is_in_the_file() {
    reports("web_service", "total 1600 of 1600: all saved");
}

#[test]
fn no_frame_is_lost_by_waits_that_are_given_up() {
    reports("decoder", "each frame was seen once");
}

#[test]
fn a_thread_and_a_task_see_the_end_of_the_work() {
    reports("progress_bar", "200 of 200 pieces, 17984 primes: all done");
}

/// Runs an example, which ends well and has this to say.
#[track_caller]
fn reports(example: &str, what: &str) {
    // Cargo builds the examples before the tests, next to the folder of the tests.
    let tests = env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).unwrap().join("examples").join(example);
    let path = path.with_extension(env::consts::EXE_EXTENSION);
    let ran = Command::new(&path).output();
    let ran = ran.unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo test` without `--test` builds it", path.display())
    });
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && stdout.contains(what), "{ran:?}");
}
