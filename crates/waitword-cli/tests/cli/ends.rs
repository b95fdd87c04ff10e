//! Ends that come from outside (Ctrl-C, a reader that goes away), and what a script says and hears of its own.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::program::{finish, folder, run, waitword};

const BLOCKED: &str = r#"
    const { Worker } = require("worker_threads");
    const word = new Int32Array(new SharedArrayBuffer(4));
    const source = "const { parentPort, workerData } = require('worker_threads');" +
      "parentPort.postMessage(0); Atomics.wait(workerData, 0, 0);";
    new Worker(source, { eval: true, workerData: word }).on("message", () => console.log("blocked"));
    setInterval(() => {}, 1000);
"#;

#[test]
fn interrupt_ends_a_program_with_blocked_workers() {
    let folder = folder("interrupt");
    fs::write(folder.join("main.js"), BLOCKED).unwrap();
    let mut command = waitword();
    command.current_dir(&folder).args(["run", "main.js"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "blocked\n");
    // What Ctrl-C sends.
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    const SIGINT: i32 = 2;
    assert_eq!(child.wait().unwrap().signal(), Some(SIGINT));
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let folder = folder("closed_output");
    // A worker prints, so that the end has to reach the main agent; which is busy.
    let script = r#"
        const { Worker } = require("worker_threads");
        new Worker("for (;;) console.log('line');", { eval: true });
        for (;;);
    "#;
    fs::write(folder.join("main.js"), script).unwrap();
    let mut command = waitword();
    command.current_dir(&folder).args(["run", "main.js"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = [0; 5];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"line\n");
    finish(child).with_code(141).quietly();
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_an_error() {
    let folder = folder("full_output");
    fs::write(folder.join("main.js"), "console.log('line');").unwrap();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = waitword();
    command.current_dir(&folder).args(["run", "main.js"]).stdout(full).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
        .with_code(1)
        .complained(&["cannot write to the standard output", "main.js:1:"]);
}

#[test]
fn exit_code_of_the_script_is_that_of_the_process() {
    run("exit_code", "process.exitCode = 3;").with_code(3).quietly();
    run("exit_call", "try { process.exit(4); } finally { console.log('never'); }")
        .with_code(4)
        .printed(&[])
        .quietly();
    run("exit_in_promise", "new Promise(() => process.exit(5)); console.log('never');")
        .with_code(5)
        .printed(&[])
        .quietly();
    run(
        "exit_in_async",
        "(async () => { await 1; try { process.exit(5); } finally { console.log('never'); } })();",
    )
    .with_code(5)
    .printed(&[])
    .quietly();
    run("exit_in_exit", "process.on('exit', () => process.exit(6));").with_code(6).quietly();
    run("throw_in_exit", "process.on('exit', () => { throw new Error('late'); });")
        .with_code(1)
        .complained(&["late"]);
}

/// As `tests/node` has it, which needs Node.
#[test]
fn a_program_is_notified_of_its_end_and_of_uncaught_errors() {
    run("hears_exit", "process.on('exit', (code) => console.log('exit', code)); throw new Error('x');")
        .with_code(1)
        .printed(&["exit 1"])
        .complained(&["Error: x"]);
    run(
        "hears_worker",
        r#"
        const { Worker } = require("worker_threads");
        process.on("uncaughtException", (error, origin) => console.log(error.message, origin));
        new Worker("throw new Error('of a worker')", { eval: true });
        "#,
    )
    .with_code(0)
    .printed(&["of a worker uncaughtException"])
    .quietly();
    run(
        "hears_before_exit",
        r#"
        let rounds = 0;
        process.on("beforeExit", (code) => {
          console.log("before", code);
          if (rounds++ < 1) setTimeout(() => console.log("more"));
        });
        "#,
    )
    .with_code(0)
    .printed(&["before 0", "more", "before 0"])
    .quietly();
}
