//! The files of snapshots, without a suite. How they are compared is in `tests/scripts/test262`.

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

#[test]
fn what_is_written_is_read() {
    assert_eq!(snapshot().to_string(), TEXT);
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
