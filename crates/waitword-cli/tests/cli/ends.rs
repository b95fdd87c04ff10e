//! Ends that come from outside: Ctrl-C, a reader that goes away.

#![cfg(unix)]

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

use crate::program::{finish, prepared};

const BLOCKED: &str = include_str!("programs/blocked.js");

/// Reads the first line that a program prints, and closes its output.
fn expect(child: &mut Child, line: &str) {
    let mut first = vec![0; line.len()];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(String::from_utf8(first).unwrap(), line);
}

/// Has `command` start its program with this disposition of SIGINT. It would inherit that from the test, which
/// inherits it in turn: a shell starts background jobs with SIGINT ignored, and so do `nohup` and some runners of
/// tests.
fn with_sigint(command: &mut Command, disposition: libc::sighandler_t) -> &mut Command {
    let set = move || {
        // SAFETY: neither disposition is a function, and `signal` is async-signal-safe.
        if unsafe { libc::signal(libc::SIGINT, disposition) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: between fork and exec, `set` does nothing that is not async-signal-safe: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(set) }
}

/// What Ctrl-C sends.
fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn interrupt_ends_a_program_with_blocked_workers() {
    let mut command = prepared("interrupt", &[], &[("main.js", BLOCKED)], &[]);
    let mut child = with_sigint(&mut command, libc::SIG_DFL).spawn().unwrap();
    expect(&mut child, "blocked\n");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGINT));
}

/// As `nohup` and the background jobs of a shell start it: what they ignore, other programs leave ignored too.
#[test]
fn an_interrupt_that_is_ignored_at_the_start_stays_ignored() {
    let script = r#"
        const { Worker } = require("worker_threads");
        new Worker("/dev/stdin").on("exit", (code) => (process.exitCode = code));
        console.log("runs");
    "#;
    let mut command = prepared("interrupt_ignored", &[], &[("main.js", script)], &[]);
    let mut child = with_sigint(command.stdin(Stdio::piped()), libc::SIG_IGN).spawn().unwrap();
    expect(&mut child, "runs\n");
    interrupt(&child);
    // Sent after the signal, so it would come too late for a program that the signal ends.
    child.stdin.take().unwrap().write_all(b"process.exitCode = 3;").unwrap();
    finish(child).with_code(3).quietly();
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    // A worker prints, so that the end has to reach the main agent; which is busy.
    let script = r#"
        const { Worker } = require("worker_threads");
        new Worker("for (;;) console.log('line');", { eval: true });
        for (;;);
    "#;
    let mut child = prepared("closed_output", &[], &[("main.js", script)], &[]).spawn().unwrap();
    expect(&mut child, "line\n");
    finish(child).with_code(141).quietly();
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let files = [("main.js", "console.log('line');")];
    finish(prepared("full_output", &[], &files, &[]).stdout(full).spawn().unwrap())
        .with_code(1)
        .complained(&["cannot write to standard output", "main.js:1:"]);
}
