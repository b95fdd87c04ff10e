//! `waitword test262`, on small suites that the tests write: the real one is not here. What one run shows is in `tests/scripts/test262`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Ran, ended, folder, waitword};

/// What the harness of the real suite promises to tests, as far as these need it.
const HARNESS: [(&str, &str); 2] = [
    ("harness/assert.js", "function assert(ok, message) { if (!ok) throw new Test262Error(message); }"),
    (
        "harness/sta.js",
        "function Test262Error(message) { this.message = message; }
         Test262Error.prototype.toString = function () { return 'Test262Error: ' + this.message; };",
    ),
];

/// A suite with these tests, in a folder of its own: `suite`, beside which a test can put its snapshots.
fn suite(test: &str, tests: &[(&str, &str)]) -> PathBuf {
    let here = folder(&format!("test262_{test}"));
    for (name, text) in HARNESS.iter().chain(tests) {
        write(&here.join("suite").join(name), text);
    }
    here
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Runs `waitword test262` in the folder around the suite.
fn test262(here: &Path, arguments: &[&str]) -> Ran {
    ended(waitword().current_dir(here).arg("test262").args(arguments))
}

#[test]
fn snapshots_are_written_compared_and_kept_with_their_causes() {
    let here = suite("snapshots", &[("test/a/bad.js", "throw new TypeError('t');"), ("test/a/good.js", "")]);
    let snapshot = here.join("conformance/a.txt");
    write(&snapshot, "path test/a\n");
    let read = || fs::read_to_string(&snapshot).unwrap();
    test262(&here, &["suite", "--update"]).with_code(0).quietly();
    let written = read();
    let failure = "failed test/a/bad.js (sloppy, strict)\n    error TypeError: t\n    because ?\n";
    assert!(written.contains("path test/a\ntotal 2 passed, 2 failed, 0 skipped\n"), "{written}");
    assert!(written.contains(failure), "{written}");

    // By hand.
    fs::write(&snapshot, written.replace("because ?", "because it is meant to")).unwrap();
    let ran = test262(&here, &["suite"]).with_code(0).quietly();
    assert!(ran.stdout.contains("    TypeError: t\n    because it is meant to\n"), "{ran:#?}");
    test262(&here, &["suite", "--update"]).with_code(0);
    assert_eq!(read(), written.replace("because ?", "because it is meant to"));

    // A part of it, by its path in the suite, in the folder of tests, or as the shell completes it.
    for path in ["test/a/bad.js", "a/bad.js", "suite/test/a/bad.js"] {
        let ran = test262(&here, &["suite", path]).with_code(0).quietly();
        assert!(ran.stdout.ends_with("0 passed, 2 failed, 0 skipped\n"), "{ran:#?}");
    }
    test262(&here, &["suite", "a/bad.js", "--update"]).with_code(2).complained(&["leave out the paths"]);

    // A change for the better is a change.
    write(&here.join("suite/test/a/bad.js"), "");
    let ran = test262(&here, &["suite"]).with_code(1).quietly();
    assert!(ran.stdout.contains("test/a/bad.js (sloppy): passed, expected: failed"), "{ran:#?}");
    // So is a test that is gone.
    fs::remove_file(here.join("suite/test/a/bad.js")).unwrap();
    let ran = test262(&here, &["suite"]).with_code(1).quietly();
    assert!(
        ran.stdout.replace('\\', "/").contains("bad.js (strict): in conformance/a.txt, but not in the suite"),
        "{ran:#?}"
    );
}

#[test]
fn json_has_every_test() {
    let here = suite("json", &[("test/bad.js", "throw 'a\\u2028\\\\\"';"), ("test/good.js", "")]);
    let ran = test262(&here, &["suite", "--json"]).with_code(1).quietly();
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!([&report["passed"], &report["failed"], &report["skipped"]], [2, 2, 0]);
    assert_eq!(report["asExpected"], false);
    assert_eq!(report["differences"].as_array().unwrap().len(), 2);
    let test = |index: usize| report["tests"][index].as_object().unwrap();
    assert_eq!(test(0)["file"], "test/bad.js");
    assert_eq!([&test(0)["mode"], &test(1)["mode"]], ["sloppy", "strict"]);
    assert_eq!([&test(0)["outcome"], &test(2)["outcome"]], ["failed", "passed"]);
    assert_eq!(test(0)["detail"], "a\u{2028}\\\"");
}
