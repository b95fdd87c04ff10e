//! Bad input: each mistake gets a message that says where it is, and an exit code.

use crate::program::{ended, folder, waitword};

#[test]
fn a_directory_and_a_file_that_is_no_text() {
    let folder = folder("no_text");
    std::fs::write(folder.join("latin1.js"), b"'\xe9'").unwrap();
    for (name, complaint) in [(".", "is a directory"), ("latin1.js", "not UTF-8 text (at byte 1)")] {
        ended(waitword().current_dir(&folder).args(["run", name])).with_code(1).complained(&[complaint]);
    }
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
fn bad_flags_are_usage_errors() {
    for arguments in [&["run", "--no-such-flag", "a.js"][..], &["run"], &["walk"], &[]] {
        ended(waitword().args(arguments)).with_code(2).complained(&["Usage: waitword"]);
    }
}

#[test]
fn a_mistake_in_a_value_is_told_with_what_to_give_instead() {
    ended(waitword().args(["run", ""]))
        .with_code(2)
        .complained(&["the name of the file is empty", "Usage: waitword run [OPTIONS] <FILE> [ARG]..."]);
    let (unit, whole) =
        ("give a number of bytes with K, M or G behind it", "give a whole number, such as 16");
    let (too_little, too_large) = ("greater than 0", "the number is too large");
    for (command, flag, values, advice) in [
        ("run", "--timeout", "0 -1 soon NaN 1e30", too_little),
        ("run", "--memory-limit", "-1 12X", unit),
        ("run", "--memory-limit", "0", too_little),
        ("run", "--memory-limit", "99999999999G 99999999999999999999", too_large),
        ("run", "--total-memory", "-1 much", unit),
        ("run", "--total-memory", "0", too_little),
        ("run", "--total-memory", "99999999999999999999", too_large),
        ("run", "--max-workers", "-1 1.5 16M", whole),
        ("run", "--max-workers", "99999999999999999999", too_large),
        ("run", "--max-waits", "-1", whole),
        ("run", "--max-waits", "99999999999999999999", too_large),
        ("test262", "--jobs", "-1", whole),
        ("test262", "--jobs", "0", too_little),
    ] {
        for value in values.split(' ') {
            let message = format!("invalid value '{value}' for '{flag} <");
            ended(waitword().args([command, flag, value, "a.js"]))
                .with_code(2)
                .complained(&[&message, advice]);
        }
    }
}

#[test]
fn a_file_without_a_command_gets_a_tip() {
    let folder = folder("no_command");
    std::fs::write(folder.join("program"), "1;").unwrap();
    for file in ["missing.js", "missing.mjs", "missing.cjs", "program"] {
        let tip = format!("tip: to run a file: waitword run {file}\n");
        ended(waitword().current_dir(&folder).arg(file)).with_code(2).complained(&[&tip, "Usage: waitword"]);
    }
    ended(waitword().arg("walk")).with_code(2).kept_from(&["to run a file"]);
}

#[test]
fn a_trace_that_cannot_be_written_says_what_to_do() {
    let folder = folder("unwritable");
    std::fs::write(folder.join("a.js"), "").unwrap();
    for (file, advice) in [("missing/x.json", "check the name and the directory"), (".", "name a file in it")]
    {
        ended(waitword().current_dir(&folder).args(["run", "--trace", file, "a.js"]))
            .with_code(1)
            .complained(&["the trace cannot be written to", advice]);
        ended(waitword().current_dir(&folder).args(["trace", "no.sock", "-o", file]))
            .with_code(1)
            .complained(&["cannot be written: ", advice]);
        ended(
            waitword()
                .current_dir(&folder)
                .args(["run", "a.js"])
                .env("WAITWORD_OBSERVE", format!("trace={file}")),
        )
        .complained(&[&format!("waitword: no trace at {file}: "), advice]);
    }
}

/// A line that ends with a backslash cannot be copied out of the middle of a text that was wrapped.
#[test]
fn examples_of_the_help_are_lines_of_their_own() {
    let help = ended(waitword().args(["run", "--help"])).stdout;
    let examples = help.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for example in examples.lines() {
        assert!(example.contains("waitword run ") && example.len() <= 80, "{example:?}");
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
    let parts: [(&str, &[&str]); 3] = [
        (
            "run",
            &[
                "Examples:",
                "--main-can-block",
                "waitword run examples/",
                "--total-memory <SIZE>",
                "--max-workers <N>",
                "[default: 1024]",
                "ERR_WORKER_INIT_FAILED",
            ],
        ),
        ("report", &["WAITWORD_OBSERVE=serve=", "waitword_observe::init()", "--json"]),
        ("test262", &["git clone", "Examples:", "--update", "--time-limit", "CanBlockIsFalse"]),
    ];
    for (command, parts) in parts {
        let help = ended(waitword().args([command, "--help"])).with_code(0).quietly().stdout;
        for part in parts.iter().chain(&["Exit codes:"]) {
            assert!(help.contains(part), "no {part:?} in {help}");
        }
        assert!(!help.contains("test262-case"));
    }
    let version = concat!("waitword ", env!("CARGO_PKG_VERSION"));
    ended(waitword().arg("--version")).with_code(0).printed(&[version]);
}
