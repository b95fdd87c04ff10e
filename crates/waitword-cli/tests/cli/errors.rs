//! Bad input: each mistake gets a message that says where it is, and an exit code.

use crate::program::{ended, folder, run, run_files, run_with, waitword};

#[test]
fn a_missing_file() {
    run_with("missing", &[], &[("main.js", "")], &[]).with_code(0).quietly();
    ended(waitword().args(["run", "no-such-file.js"]))
        .with_code(1)
        .complained(&["cannot find no-such-file.js", "check the name"]);
}

#[test]
fn a_directory_and_a_file_that_is_no_text() {
    let folder = folder("no_text");
    std::fs::write(folder.join("latin1.js"), b"'\xe9'").unwrap();
    for (name, complaint) in [(".", "is a directory"), ("latin1.js", "not UTF-8 text (at byte 1)")] {
        ended(waitword().current_dir(&folder).args(["run", name])).with_code(1).complained(&[complaint]);
    }
}

#[test]
fn a_syntax_error_in_a_script_shows_its_line() {
    run("syntax_script", "let x = 1;\nlet é = \"ü\"; let y = = 2;\n").with_code(1).printed(&[]).complained(
        &["SyntaxError", "main.js:2:22\n", "2 | let é = \"ü\"; let y = = 2;\n  |                      ^\n"],
    );
}

#[test]
fn a_syntax_error_in_a_module_shows_its_line() {
    run("syntax_module", "import 'node:path';\nexport const y = 1;\nlet y = 3;\n")
        .with_code(1)
        .complained(&["SyntaxError", "main.js:3:", "3 | let y = 3;"]);
}

#[test]
fn a_syntax_error_in_what_is_imported_or_required() {
    let bad = "\n\nlet a = [1, 2;\n";
    run_files("syntax_imported", &[("main.mjs", "import './bad.mjs';"), ("bad.mjs", bad)])
        .with_code(1)
        .complained(&["bad.mjs:3:14\n", "3 | let a = [1, 2;"]);
    run_files("syntax_required", &[("main.js", "require('./bad');"), ("bad.js", bad)])
        .with_code(1)
        .complained(&["bad.js:3:14\n", "3 | let a = [1, 2;"]);
}

#[test]
fn an_import_that_is_not_there() {
    run_files("import_missing", &[("main.mjs", "import './lib';"), ("lib.js", "")])
        .with_code(1)
        .complained(&["cannot find './lib'", "did you mean './lib.js'?"]);
    run_files("import_name", &[("main.mjs", "import { nope } from 'node:worker_threads';")])
        .with_code(1)
        .complained(&["'nope'", "while loading", "main.mjs"]);
    run_files("import_package", &[("main.mjs", "import 'lodash';")]).with_code(1).complained(&[
        "No module named 'lodash', imported by /",
        "import_package/main.mjs. Built in",
        "node:worker_threads",
    ]);
    run_files("require_package", &[("main.js", "require('./lib');"), ("lib.js", "require('lodash');")])
        .with_code(1)
        .complained(&["No module named 'lodash', required by /", "require_package/lib.js. Built in"]);
}

#[cfg(unix)]
mod no_text {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    const NO_TEXT: &[u8] = b"caf\xe9";

    #[test]
    fn an_argument_is_named() {
        let argument = OsStr::from_bytes(NO_TEXT);
        ended(waitword().args(["run", "a.js", "x"]).arg(argument))
            .with_code(2)
            .complained(&[r#"argument 2 of the program is no UTF-8: "caf\xE9""#, "Usage: waitword"]);
    }

    /// Also what it imports, requires and starts, and its package.
    #[test]
    fn a_path_works() {
        let folder = folder("path_no_text").join(OsStr::from_bytes(NO_TEXT));
        std::fs::create_dir_all(&folder).unwrap();
        let files = [
            ("package.json", r#"{ "type": "module" }"#),
            (
                "main.js",
                "import { x } from './lib.js'; import { createRequire } from 'node:module'; import { Worker } from 'node:worker_threads'; console.log(x, (await import(new URL('lib.js', import.meta.url))).x, createRequire(import.meta.url)('./lib.cjs')); new Worker(new URL('worker.js', import.meta.url));",
            ),
            ("lib.js", "export const x = 1;"),
            ("lib.cjs", "module.exports = 2;"),
            ("worker.js", "console.log(3);\nnull.x;"),
        ];
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        ended(waitword().arg("run").arg(folder.join("main.js")))
            .with_code(1)
            .printed(&["1 1 2", "3"])
            .complained(&["caf\u{FFFD}e9/worker.js:2:", "2 | null.x;"]);
    }
}

#[test]
fn an_uncaught_exception_shows_stack_line_and_cause() {
    run(
        "uncaught",
        "function inner(o) {\n\treturn o.x.y;\n}\ntry { inner({}); } catch (cause) { throw new Error('outer', { cause }); }\n",
    )
    .with_code(1)
    .complained(&[
        "uncaught exception in main",
        "Error: outer",
        "main.js:4:",
        "at inner",
        "main.js:2:",
        "[cause]: TypeError",
    ]);
}

#[test]
fn an_uncaught_exception_in_a_callback_and_in_a_module() {
    run("uncaught_timer", "setTimeout(() => { null.x; }, 1);")
        .with_code(1)
        .complained(&["TypeError", "main.js:1:20"]);
    run_files("uncaught_module", &[("main.mjs", "await 1;\nnull.x;\n")])
        .with_code(1)
        .complained(&["uncaught exception in main", "main.mjs:2:"]);
}

#[test]
fn anything_can_be_thrown() {
    run("thrown_object", "throw { a: 1 };").with_code(1).complained(&["{ a: 1 }"]);
    run("thrown_string", "throw 'text';").with_code(1).complained(&["'text'"]);
    run("thrown_undefined", "throw undefined;").with_code(1).complained(&["undefined"]);
    run("thrown_hostile", "throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } });")
        .with_code(1);
}

#[test]
fn an_unhandled_rejection_fails_and_a_handled_one_does_not() {
    run("rejection", "async function f() { throw new RangeError('r'); }\nf();\n").with_code(1).complained(&[
        "unhandled rejection",
        "RangeError: r",
        "main.js:1:",
        "at f",
    ]);
    run("rejection_handled", "const p = Promise.reject(1); queueMicrotask(() => p.catch(console.log));")
        .with_code(0)
        .printed(&["1"])
        .quietly();
}

#[test]
fn a_worker_that_throws_is_an_event_of_its_parent() {
    run(
        "worker_error",
        r#"
        const { Worker } = require("worker_threads");
        for (const source of ["null.x", "Promise.reject(new RangeError('r'))", "let = ;", "throw () => {}"]) {
          const worker = new Worker(source, { eval: true });
          worker.on("error", (error) => console.log("error", error instanceof Error, error.name));
          worker.on("exit", (code) => console.log("exit", code));
        }
        new Worker("./no-such-file.js").on("error", (error) => console.log("missing", /cannot find/.test(error.message)));
        "#,
    )
    .with_code(0)
    .quietly()
    .sorted()
    .printed(&[
        "error false undefined",
        "error true RangeError",
        "error true SyntaxError",
        "error true TypeError",
        "exit 1",
        "exit 1",
        "exit 1",
        "exit 1",
        "missing true",
    ]);
}

#[test]
fn a_worker_that_throws_without_a_listener_fails_the_program() {
    run(
        "worker_uncaught",
        r#"
        const { Worker } = require("worker_threads");
        new Worker("function f() {\n  null.x;\n}\nf();", { eval: true }).on("exit", () => console.log("never"));
        "#,
    )
    .with_code(1)
    .printed(&[])
    .complained(&["uncaught exception in worker 1", "TypeError", "[worker eval]:2:", "2 |   null.x;", "at f"]);
}

#[test]
fn the_worker_path_mistake_has_a_hint() {
    run("worker_path", r#"new (require("worker_threads").Worker)("worker.js");"#)
        .with_code(1)
        .complained(&["ERR_WORKER_PATH", "./worker.js"]);
}

#[test]
fn endless_recursion_is_a_range_error() {
    run("recursion", "let depth = 0; (function f() { depth++; f(); })();")
        .with_code(1)
        .complained(&["RangeError"]);
    run(
        "recursion_worker",
        r#"
        const { Worker } = require("worker_threads");
        const worker = new Worker("(function f() { f(); })()", { eval: true });
        worker.on("error", (error) => console.log(error.name));
        "#,
    )
    .with_code(0)
    .printed(&["RangeError"]);
}

#[test]
fn bad_flags_are_usage_errors() {
    for arguments in [&["run", "--no-such-flag", "a.js"][..], &["run"], &["walk"], &[]] {
        ended(waitword().args(arguments)).with_code(2).complained(&["Usage: waitword"]);
    }
}

#[test]
fn a_mistake_in_a_value_is_told_as_one() {
    ended(waitword().args(["run", ""]))
        .with_code(2)
        .complained(&["the name of the file is empty", "Usage: waitword"]);
    for (flag, advice) in [
        ("--timeout", "greater than 0"),
        ("--memory-limit", "a number of bytes"),
        ("--total-memory", "a number of bytes"),
        ("--max-workers", "invalid digit"),
        ("--max-waits", "invalid digit"),
    ] {
        let value = format!("invalid value '-1' for '{flag} <");
        ended(waitword().args(["run", flag, "-1", "a.js"])).with_code(2).complained(&[&value, advice]);
    }
}

/// The help and the page say the same of what a worker needs.
#[test]
fn help_and_page_agree_on_what_an_agent_starts_with() {
    let says = "what each agent starts with (some 600 KiB; 1 MiB has to be left)";
    let help = ended(waitword().args(["run", "--help"])).stdout;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&help).contains(says), "{help}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/host.md");
    assert!(words(&std::fs::read_to_string(page).unwrap()).contains(says));
}

#[test]
fn help_has_examples_and_exit_codes() {
    let help = ended(waitword().args(["run", "--help"])).with_code(0).quietly().stdout;
    for part in ["Examples:", "Exit codes:", "--main-can-block", "waitword run examples/"] {
        assert!(help.contains(part), "no {part:?} in {help}");
    }
    let version = concat!("waitword ", env!("CARGO_PKG_VERSION"));
    ended(waitword().arg("--version")).with_code(0).printed(&[version]);
}

#[test]
fn a_stack_that_names_a_device_is_not_followed() {
    run("device", r#"throw Object.assign(new Error("x"), { stack: "    at f (/dev/zero:1:1)" });"#)
        .with_code(1)
        .complained(&["Error: x", "--> /dev/zero:1:1"]);
}
