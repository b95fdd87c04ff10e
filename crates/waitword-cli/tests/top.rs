//! `waitword top` on a terminal, and where there is none.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use std::task::{Context, Waker};
use std::thread;

const WAITWORD: &str = env!("CARGO_BIN_EXE_waitword");

/// A terminal of 80 columns and 24 rows in which a shell runs `commands`: `script` makes one.
fn terminal(commands: &str) -> Child {
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty rows 24 cols 80; {commands}"), "/dev/null"]);
    script
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux has it")
}

/// Reads what the terminal shows until `text` is there.
fn until(terminal: &mut Child, shown: &mut String, text: &str) {
    let out = terminal.stdout.as_mut().unwrap();
    let mut chunk = [0; 4096];
    while !shown.contains(text) {
        let read = out.read(&mut chunk).unwrap();
        assert!(read > 0, "no {text:?} in {shown:?}");
        shown.push_str(&String::from_utf8_lossy(&chunk[..read]));
    }
}

/// Reads until the last line begins, and its first word with it.
fn until_line(terminal: &mut Child, shown: &mut String) {
    let out = terminal.stdout.as_mut().unwrap();
    let mut chunk = [0; 4096];
    let has_word = |shown: &str| shown.split("q quit  ").nth(1).is_some_and(|rest| rest.contains(' '));
    while !has_word(shown) {
        let read = out.read(&mut chunk).unwrap();
        assert!(read > 0, "no last line in {shown:?}");
        shown.push_str(&String::from_utf8_lossy(&chunk[..read]));
    }
}

fn press(terminal: &mut Child, keys: &str) {
    terminal.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
}

/// A word with a waiter, and a socket that says so.
fn with_waiter(test: impl FnOnce(&str)) {
    waitword_observe::enable();
    let word = AtomicU32::new(0);
    let _name = waitword_observe::name(&word, "ready");
    let mut task = pin!(waitword_core::wait_async(&word, 0));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = waitword_observe::serve(&path).unwrap();
    test(path.to_str().unwrap());
    drop(server);
}

/// What switches to the other screen of a terminal and back.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

#[test]
fn keys_are_heard_and_the_terminal_is_restored() {
    with_waiter(|socket| {
        let mut terminal = terminal(&format!("{WAITWORD} top {socket} --every 0.05; echo code $?; stty -a"));
        let mut shown = String::new();
        until(&mut terminal, &mut shown, "\"ready\"");
        assert!(shown.contains(ENTER));
        press(&mut terminal, "\r");
        until(&mut terminal, &mut shown, "details");
        press(&mut terminal, "q");
        until(&mut terminal, &mut shown, "code 0");
        assert!(shown.contains(LEAVE), "{shown:?}");
        // Of a terminal that is raw it would be `-icanon`.
        until(&mut terminal, &mut shown, " icanon");
        drop(terminal.stdin.take());
        terminal.wait().unwrap();
    });
}

#[test]
fn sigterm_restores_the_terminal() {
    with_waiter(|socket| {
        let line = format!("sh -c 'echo number $$.; exec {WAITWORD} top {socket}'; echo code $?");
        let mut terminal = terminal(&line);
        let mut shown = String::new();
        until(&mut terminal, &mut shown, "\"ready\"");
        let number = shown.split("number ").nth(1).and_then(|rest| rest.split('.').next());
        let number: i32 = number.unwrap().parse().unwrap();
        // SAFETY: the shell above says `code` only when this process has ended, and it has not.
        assert_eq!(unsafe { libc::kill(number, libc::SIGTERM) }, 0);
        until(&mut terminal, &mut shown, "code 143");
        assert!(shown.contains(LEAVE), "{shown:?}");
        drop(terminal.stdin.take());
        terminal.wait().unwrap();
    });
}

/// One report, and then the end.
#[test]
fn the_end_of_the_program_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let report = waitword_observe::report().to_json() + "\n";
    let serves = thread::spawn(move || listener.accept().unwrap().0.write_all(report.as_bytes()));
    let mut terminal = terminal(&format!("{WAITWORD} top {} --every 0.05; echo code $?", path.display()));
    let mut shown = String::new();
    until(&mut terminal, &mut shown, "q quit  s sort");
    serves.join().unwrap().unwrap();
    // What has not changed on the screen is not written again, unless it is drawn anew.
    while !shown.contains("q quit  nobody") {
        shown.clear();
        press(&mut terminal, "\u{c}");
        until_line(&mut terminal, &mut shown);
    }
    until(&mut terminal, &mut shown, "the program has ended (this is the last report)");
    press(&mut terminal, "q");
    until(&mut terminal, &mut shown, "code 0");
    drop(terminal.stdin.take());
    terminal.wait().unwrap();
}

#[test]
fn without_a_terminal_or_a_report_it_says_so() {
    let output = Command::new(WAITWORD).args(["top", "/no/such"]).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "error: this is no terminal; use: waitword report /no/such\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));

    let mut terminal = terminal(&format!("{WAITWORD} top /no/such; echo code $?"));
    let mut shown = String::new();
    until(&mut terminal, &mut shown, "code 1");
    assert!(shown.contains("there is no such socket") && !shown.contains(ENTER), "{shown:?}");
    drop(terminal.stdin.take());
    terminal.wait().unwrap();
}
