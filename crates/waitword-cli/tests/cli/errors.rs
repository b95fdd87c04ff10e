//! Bad input: each mistake gets a message that says where it is, and an exit code.

use crate::program::{ended, folder, waitword};

#[test]
fn a_missing_file() {
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
