//! Snapshots without a suite.

use std::time::Duration;

use super::*;
use crate::test262::outcome::Outcome;
use crate::test262::plan::{Case, Mode};
use crate::test262::run::Tested;

const TEXT: &str = "\
# What `waitword test262` found: every test below these paths passes, but for those listed.
# Written by --update, which keeps the paths, and of each failure the line `because`.

suite test262, commit 0123
path test/a
path test/b/one.js
total 3 passed, 3 failed, 1 skipped

failed test/a/bad.js (sloppy, strict)
    error Test262Error: no (really)
    because the engine is in error

failed test/a/worse.js (strict)
    error TypeError: x
    because ?

skipped test/a/x (new).js (module)
    because the engine has no x
";

fn snapshot() -> Snapshot {
    Snapshot::parse("s.txt".into(), TEXT).unwrap()
}

fn tested(file: &str, mode: Mode, outcome: Outcome) -> Tested {
    Tested { case: Case { file: file.to_owned(), mode }, outcome, time: Duration::ZERO }
}

fn failed() -> Outcome {
    Outcome::Failed("Error: today's".to_owned())
}

/// The results with which the snapshot agrees.
fn as_known() -> Vec<Tested> {
    vec![
        tested("test/a/bad.js", Mode::Sloppy, failed()),
        tested("test/a/bad.js", Mode::Strict, failed()),
        tested("test/a/good.js", Mode::Module, Outcome::Passed),
        tested("test/a/worse.js", Mode::Sloppy, Outcome::Passed),
        tested("test/a/worse.js", Mode::Strict, failed()),
        tested("test/a/x (new).js", Mode::Module, Outcome::Skipped("so".to_owned())),
        tested("test/b/one.js", Mode::Sloppy, Outcome::Passed),
    ]
}

fn differences(paths: &[&str], tested: &[Tested]) -> Vec<String> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    compare(&[snapshot()], &paths, tested)
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(snapshot().to_string(), TEXT);
}

#[test]
fn a_run_that_ends_as_known_has_no_differences_whatever_the_errors_say() {
    assert_eq!(differences(&["test"], &as_known()), [""; 0]);
    assert_eq!(differences(&["test/a", "test/b"], &as_known()), [""; 0]);
}

#[test]
fn each_change_of_an_outcome_is_a_difference() {
    let mut tested = as_known();
    tested[1].outcome = Outcome::Passed;
    tested[2].outcome = failed();
    tested[5].outcome = failed();
    assert_eq!(
        differences(&["test"], &tested),
        [
            "test/a/bad.js (strict): passed, expected: failed",
            "test/a/good.js (module): failed, expected: passed",
            "test/a/x (new).js (module): failed, expected: skipped",
            "s.txt: 3 passed, 4 failed, 0 skipped, expected: 3 passed, 3 failed, 1 skipped",
        ]
    );
}

#[test]
fn a_part_of_what_is_covered_is_compared_without_the_total() {
    let part = &as_known()[..2];
    assert_eq!(differences(&["test/a/bad.js"], part), [""; 0]);
    assert_eq!(
        differences(&["test/a/bad.js"], &part[..1]),
        ["test/a/bad.js (strict): in s.txt, but not in the suite"]
    );
    // A name that merely begins alike is another test.
    assert_eq!(differences(&["test/a/bad"], &[]), [""; 0]);
}

#[test]
fn new_tests_change_the_total_although_they_pass() {
    let mut more = as_known();
    more.push(tested("test/a/new.js", Mode::Strict, Outcome::Passed));
    assert_eq!(differences(&["test"], &more).len(), 1);
}

#[test]
fn what_no_snapshot_covers_has_to_pass_or_be_skipped() {
    let mut more = as_known();
    more.push(tested("test/b/two.js", Mode::Strict, Outcome::Passed));
    more.push(tested("test/b/two.js", Mode::Sloppy, Outcome::Skipped("so".to_owned())));
    assert_eq!(differences(&["test"], &more), [""; 0]);
    more.push(tested("test/b/three.js", Mode::Strict, failed()));
    assert_eq!(differences(&["test"], &more), ["test/b/three.js (strict): failed, expected: passed"]);
}

#[test]
fn an_update_keeps_the_causes_of_what_still_fails() {
    let mut tested = as_known();
    tested[0].outcome = Outcome::Passed;
    let mut snapshot = snapshot();
    snapshot.update("commit 4567", &tested);
    let text = snapshot.to_string();
    for part in [
        "suite test262, commit 4567\npath test/a\npath test/b/one.js\ntotal 4 passed, 2 failed, 1 skipped\n",
        "failed test/a/bad.js (strict)\n    error Error: today's\n    because the engine is in error\n",
        "failed test/a/worse.js (strict)\n    error Error: today's\n    because ?\n",
        "skipped test/a/x (new).js (module)\n    because so\n",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert_eq!(compare(&[snapshot], &["test".to_owned()], &tested), [""; 0]);
}

#[test]
fn a_case_that_failed_and_is_skipped_now_has_one_cause() {
    let mut tested = as_known();
    for tested in &mut tested[..2] {
        tested.outcome = Outcome::Skipped("so".to_owned());
    }
    // One of the two was known to fail, with a cause.
    let mut snapshot = snapshot();
    snapshot.entries.remove(&tested[0].case);
    snapshot.update("commit 4567", &tested);
    let text = snapshot.to_string();
    assert!(text.contains("skipped test/a/bad.js (sloppy, strict)\n    because so\n"), "{text}");
}

#[test]
fn mistakes_in_the_file_are_named_with_their_line() {
    for (text, complaint) in [
        ("path test\nfaild test/a.js (strict)", "s.txt:2: expected suite, path"),
        ("path test\nfailed test/a.js", "s.txt:2: expected FILE (MODE"),
        ("path test\nfailed test/a.js (loose)", "s.txt:2: expected FILE (MODE"),
        ("total many", "s.txt:1: expected three numbers"),
        ("error x\npath test", "s.txt:1: expected"),
        (
            "path test\nskipped test/a.js (strict)\n    error x",
            "s.txt:3: a case that is skipped has no error",
        ),
        ("# nothing", "s.txt covers nothing"),
    ] {
        let error = Snapshot::parse("s.txt".into(), text).unwrap_err();
        assert!(error.contains(complaint), "{text}: {error}");
    }
}
