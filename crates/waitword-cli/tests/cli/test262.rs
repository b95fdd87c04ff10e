//! `waitword test262`, on small suites that the tests write: the real one is not here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Ran, ended, folder, waitword};

/// What the harness of the real suite promises to tests, as far as these need it.
const HARNESS: [(&str, &str); 4] = [
    ("harness/assert.js", "function assert(ok, message) { if (!ok) throw new Test262Error(message); }"),
    (
        "harness/sta.js",
        "function Test262Error(message) { this.message = message; }
         Test262Error.prototype.toString = function () { return 'Test262Error: ' + this.message; };",
    ),
    (
        "harness/doneprintHandle.js",
        "function $DONE(error) { print(error ? 'Test262:AsyncTestFailure:' + error : 'Test262:AsyncTestComplete'); }",
    ),
    ("harness/answer.js", "var answer = 42;"),
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

/// The last line, with the totals.
fn total(ran: &Ran) -> &str {
    ran.stdout.lines().last().unwrap_or_default()
}

/// Runs tests that all have to pass, in as many cases as given.
#[track_caller]
fn all_pass(test: &str, cases: usize, tests: &[(&str, &str)]) {
    let ran = test262(&suite(test, tests), &["suite"]).with_code(0).quietly();
    assert_eq!(ran.stdout, format!("{cases} passed, 0 failed, 0 skipped\n"));
}

/// Runs one test that has to fail in each of its cases, with this error.
#[track_caller]
fn fails(test: &str, text: &str, error: &str) {
    let ran = test262(&suite(test, &[("test/a.js", text)]), &["suite"]).with_code(1).quietly();
    assert!(ran.stdout.starts_with("failed test/a.js (") && total(&ran).starts_with("0 passed"), "{ran:#?}");
    assert!(ran.stdout.lines().nth(1).unwrap().contains(error), "no {error:?} in {ran:#?}");
}

#[test]
fn the_flags_say_in_which_mode_a_test_runs() {
    let strict = "(function () { return this === undefined; })()";
    let once = "assert(typeof seen == 'undefined'); var seen = true;";
    all_pass(
        "modes",
        6,
        &[
            ("test/both.js", once),
            ("test/only.js", &format!("/*---\nflags: [onlyStrict]\n---*/\nassert({strict});")),
            ("test/no.js", &format!("/*---\nflags:\n  - noStrict\n---*/\nassert(!{strict});")),
            (
                "test/module.js",
                "/*---\nflags: [module, async]\n---*/\nassert(this === undefined); await 0; $DONE();",
            ),
            (
                "test/raw.js",
                "/*---\nflags: [raw]\n---*/\nif (typeof assert != 'undefined') throw 'harness'; if (this === undefined) throw 1;",
            ),
            // What tests import is no test.
            ("test/broken_FIXTURE.js", "let = ;"),
        ],
    );
}

#[test]
fn the_harness_comes_first_and_what_the_test_includes_after_it() {
    all_pass("includes", 2, &[("test/a.js", "/*---\nincludes: [answer.js]\n---*/\nassert(answer === 42);")]);
    fails("includes_missing", "/*---\nincludes: [none.js]\nflags: [onlyStrict]\n---*/", "harness/none.js");
}

#[test]
fn a_failure_is_listed_with_the_first_line_of_its_error() {
    let here = suite("failure", &[("test/a/bad.js", "assert(false, 'one\\ntwo');"), ("test/a/good.js", "")]);
    let expected = "\
failed test/a/bad.js (sloppy)
    Test262Error: one
failed test/a/bad.js (strict)
    Test262Error: one

Not as expected:
    test/a/bad.js (sloppy): failed, expected: passed
    test/a/bad.js (strict): failed, expected: passed

2 passed, 2 failed, 0 skipped
";
    let ran = test262(&here, &["suite"]).with_code(1).quietly();
    assert_eq!(ran.stdout, expected);
    // One test, by its path in the suite, in the folder of tests, or as the shell completes it.
    for path in ["test/a/good.js", "a/good.js", "suite/test/a/good.js"] {
        test262(&here, &["suite", path]).with_code(0).printed(&["2 passed, 0 failed, 0 skipped"]);
    }
}

#[test]
fn a_negative_test_has_to_throw_its_error_in_its_phase() {
    let negative = |phase: &str, kind: &str, code: &str| {
        format!("/*---\nflags: [noStrict]\nnegative:\n  phase: {phase}\n  type: {kind}\n---*/\n{code}")
    };
    let module = |phase: &str, code: &str| {
        format!("/*---\nflags: [module]\nnegative: {{phase: {phase}, type: SyntaxError}}\n---*/\n{code}")
    };
    all_pass(
        "negative",
        6,
        &[
            ("test/parse.js", &negative("parse", "SyntaxError", "throw 'evaluated'; let = 1, let = 2 +;")),
            ("test/runtime.js", &negative("runtime", "Test262Error", "throw new Test262Error('x');")),
            ("test/module_parse.js", &module("parse", "import './none_FIXTURE.js'; let = ;")),
            ("test/module_link.js", &module("resolution", "import { no } from './empty_FIXTURE.js';")),
            ("test/module_imported.js", &module("resolution", "import './wrong_FIXTURE.js';")),
            ("test/module_runtime.js", &module("runtime", "await 0; throw new SyntaxError();")),
            ("test/empty_FIXTURE.js", ""),
            ("test/wrong_FIXTURE.js", "let = ;"),
        ],
    );
    fails(
        "negative_none",
        &negative("runtime", "TypeError", ""),
        "it threw nothing, expected: TypeError (runtime)",
    );
    fails("negative_kind", &negative("runtime", "TypeError", "throw new RangeError('r')"), "RangeError: r");
    let late = negative("parse", "SyntaxError", "throw new SyntaxError('late')");
    fails("negative_phase", &late, "expected SyntaxError (parse), but got (runtime) SyntaxError: late");
}

#[test]
fn an_async_test_ends_when_it_says_so() {
    let test = |code: &str| format!("/*---\nflags: [async]\n---*/\n{code}");
    let word = "var a = new Int32Array(new SharedArrayBuffer(4));";
    all_pass(
        "async",
        6,
        &[
            ("test/promise.js", &test("Promise.resolve().then($DONE);")),
            ("test/timer.js", &test("setTimeout(() => setTimeout($DONE, 1), 1);")),
            (
                "test/wait.js",
                &test(&format!(
                    "{word} Atomics.waitAsync(a, 0, 0, 1).value.then(o => $DONE(o === 'timed-out' ? 0 : o));"
                )),
            ),
        ],
    );
    fails("async_failure", &test("Promise.reject('no').catch($DONE);"), "no");
    fails("async_never", &test(&format!("{word} Atomics.waitAsync(a, 0, 0);")), "$DONE was not called");
    fails("async_throws", &test("$DONE(); throw new Test262Error('at once');"), "Test262Error: at once");
    fails("module_never", "/*---\nflags: [module]\n---*/\nawait new Promise(() => {});", "cannot be settled");
}

#[test]
fn agents_get_broadcasts_wait_and_report() {
    let child = "
        $262.agent.receiveBroadcast(async (sab, number) => {
          const a = new Int32Array(sab);
          $262.agent.report('got ' + number + ' ' + ($262.agent.monotonicNow() >= 0));
          const blocked = Atomics.wait(a, 0, 0);
          $262.agent.report(blocked);
          const { value } = Atomics.waitAsync(a, 1, 0);
          Atomics.store(a, 2, 1);
          $262.agent.report(await value);
          $262.agent.leaving();
        });";
    let test = format!(
        "$262.agent.start({child:?});
         const a = new Int32Array(new SharedArrayBuffer(16));
         function report() {{
           for (;;) {{ const r = $262.agent.getReport(); if (r !== null) return r; $262.agent.sleep(1); }}
         }}
         assert($262.agent.getReport() === null);
         $262.agent.broadcast(a.buffer, 7n);
         assert(report() === 'got 7 true');
         while (Atomics.notify(a, 0) === 0);
         assert(report() === 'ok');
         while (Atomics.load(a, 2) === 0);
         assert(Atomics.notify(a, 1) === 1);
         assert(report() === 'ok');"
    );
    all_pass("agents", 2, &[("test/a.js", &test)]);
}

#[test]
fn the_error_of_an_agent_is_shown_when_its_test_never_ends() {
    let here = suite(
        "agent_error",
        &[("test/a.js", "/*---\nflags: [raw]\n---*/\n$262.agent.start('null.x'); for (;;);")],
    );
    let ran = test262(&here, &["suite", "--time-limit", "3"]).with_code(1).quietly();
    assert!(ran.stdout.contains("not over after 3s: in agent 1: agent.js:1:"), "{ran:#?}");
    assert_eq!(total(&ran), "0 passed, 1 failed, 0 skipped");
}

#[test]
fn an_endless_test_fails_and_delays_no_other() {
    let raw = |code: &str| format!("/*---\nflags: [raw]\n---*/\n{code}");
    let here = suite(
        "endless",
        &[
            ("test/busy.js", &raw("for (;;);")),
            ("test/asleep.js", &raw("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);")),
            ("test/good.js", &raw("")),
        ],
    );
    let ran = test262(&here, &["suite", "--time-limit", "3", "--jobs", "2"]).with_code(1).quietly();
    assert_eq!(ran.stdout.matches("    not over after 3s\n").count(), 2, "{ran:#?}");
    assert_eq!(total(&ran), "1 passed, 2 failed, 0 skipped");
}

#[test]
fn whether_the_main_agent_can_block_is_up_to_the_flags() {
    let wait = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0)";
    let refused =
        format!("var refused = false; try {{ {wait}; }} catch (e) {{ refused = e instanceof TypeError; }}");
    all_pass(
        "can_block",
        6,
        &[
            ("test/default.js", &format!("assert({wait} === 'timed-out');")),
            (
                "test/true.js",
                &format!("/*---\nflags: [CanBlockIsTrue]\n---*/\nassert({wait} === 'timed-out');"),
            ),
            ("test/false.js", &format!("/*---\nflags: [CanBlockIsFalse]\n---*/\n{refused} assert(refused);")),
        ],
    );
}

#[test]
fn the_object_262_has_all_that_the_suite_asks_for() {
    all_pass(
        "object_262",
        1,
        &[(
            "test/a.js",
            "/*---\nflags: [noStrict]\n---*/
            const other = $262.createRealm();
            assert(other.global !== $262.global && $262.global === this);
            assert(other.evalScript('var inside = Array; inside') === other.global.inside);
            assert(other.global.Array !== Array && other.global.$262 === other);
            assert($262.evalScript('let lexical = 1; lexical + 1') === 2 && lexical === 1);
            let early; try { $262.evalScript('let = ;'); } catch (e) { early = e; }
            assert(early instanceof SyntaxError);
            const buffer = new ArrayBuffer(8);
            assert($262.detachArrayBuffer(buffer) === null && buffer.detached);
            let shared; try { $262.detachArrayBuffer(new SharedArrayBuffer(8)); } catch (e) { shared = e; }
            assert(shared instanceof TypeError);
            assert($262.gc() === undefined);
            assert(typeof $262.IsHTMLDDA === 'undefined' && $262.IsHTMLDDA() === null);
            for (const name of ['print', '$262']) {
              const p = Object.getOwnPropertyDescriptor(globalThis, name);
              assert(p.writable && p.configurable && !p.enumerable, name);
            }",
        )],
    );
}

#[test]
fn modules_and_scripts_import_the_files_beside_them() {
    all_pass(
        "imports",
        3,
        &[
            (
                "test/sub/module.js",
                "/*---\nflags: [module]\n---*/
                import { one } from './one_FIXTURE.js';
                import * as self from '../sub/module.js';
                import data from './data.json' with { type: 'json' };
                export { one as two };
                assert(one === 1 && self.two === 1 && data.three === 3);",
            ),
            (
                "test/sub/script.js",
                "/*---\nflags: [async]\n---*/
                import('./one_FIXTURE.js').then(m => $DONE(m.one - 1), $DONE);",
            ),
            ("test/sub/one_FIXTURE.js", "export const one = 1;"),
            ("test/sub/data.json", "{\"three\": 3}"),
        ],
    );
}

#[test]
fn what_the_engine_lacks_is_skipped() {
    let ran = test262(
        &suite(
            "skipped",
            &[("test/a.js", "/*---\nfeatures: [Temporal]\n---*/\nTemporal.x;"), ("test/b.js", "")],
        ),
        &["suite"],
    );
    ran.with_code(0).quietly().printed(&["2 passed, 0 failed, 2 skipped"]);
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

    // A part of it.
    test262(&here, &["suite", "a/bad.js"]).with_code(0);
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

#[test]
fn mistakes_say_what_to_do_next() {
    let here = suite("mistakes", &[("test/a.js", "")]);
    let mistake = |arguments: &[&str], complaints: &[&str]| {
        let ran = test262(&here, arguments).with_code(2).complained(complaints);
        assert_eq!(ran.stdout, "");
    };
    mistake(&["nowhere"], &["cannot open nowhere", "git clone"]);
    mistake(&["suite/test"], &["no checkout of test262", "it has no harness/assert.js", "git clone"]);
    mistake(&["suite", "test/b"], &["no test/b among the tests", "test/built-ins/Atomics"]);
    mistake(&["suite", "../harness"], &["no ../harness among the tests"]);
    mistake(&["suite", "--update"], &["no snapshot in conformance", "`path test`"]);
    mistake(&["suite", "--snapshots", "none"], &["no folder none", "leave out --snapshots"]);
    mistake(&["suite", "--time-limit", "0"], &["number of seconds above 0"]);
    mistake(&["suite", "--jobs", "0"], &["--jobs"]);
    mistake(&[], &["Usage: waitword test262"]);
    fs::create_dir(here.join("suite/test/empty")).unwrap();
    mistake(&["suite", "empty"], &["no tests at test/empty"]);
    write(&here.join("conformance/x.txt"), "path test\nfailed\n");
    mistake(&["suite"], &["x.txt:2: expected FILE (MODE, …)"]);
}

#[test]
fn help_says_how_to_begin() {
    let here = suite("help", &[]);
    let help = test262(&here, &["--help"]).with_code(0).quietly().stdout;
    for part in ["git clone", "Examples:", "Exit codes:", "--update", "--time-limit", "CanBlockIsFalse"] {
        assert!(help.contains(part), "no {part:?} in {help}");
    }
    assert!(!help.contains("test262-case"));
}
