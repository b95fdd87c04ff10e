//! `waitword top` on a terminal, and where there is none.

#![cfg(target_os = "linux")]

#[path = "cli/program.rs"]
#[allow(dead_code)]
mod program;

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use program::{ended, waitword};

const WAITWORD: &str = env!("CARGO_BIN_EXE_waitword");

/// How long a test waits for a text on the terminal.
const LIMIT: Duration = Duration::from_secs(60);

/// A terminal of 80 columns and 24 rows in which a shell runs some commands: `script` makes one. It ends when this is dropped.
struct Terminal {
    script: Child,
    output: Receiver<Vec<u8>>,
    /// What it has shown so far.
    shown: String,
}

impl Terminal {
    fn new(commands: &str) -> Self {
        let mut script = Command::new("script");
        script.args(["-qec", &format!("stty rows 24 cols 80; {commands}"), "/dev/null"]).env("TERM", "xterm");
        let mut script =
            script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("util-linux has it");
        let mut out = script.stdout.take().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut chunk) {
                let _ = sender.send(chunk[..read].to_vec());
            }
        });
        Self { script, output, shown: String::new() }
    }

    /// Reads what it shows until `text` is there.
    #[track_caller]
    fn until(&mut self, text: &str) {
        self.until_shown(text, |shown| shown.contains(text));
    }

    #[track_caller]
    fn until_shown(&mut self, what: &str, is_shown: impl Fn(&str) -> bool) {
        let end = Instant::now() + LIMIT;
        while !is_shown(&self.shown) {
            let chunk = self.output.recv_timeout(end.saturating_duration_since(Instant::now()));
            let chunk = chunk.unwrap_or_else(|error| panic!("no {what:?}, {error}, in {:?}", self.shown));
            self.shown.push_str(&String::from_utf8_lossy(&chunk));
        }
    }

    fn press(&mut self, keys: &str) {
        self.script.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
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
        let line = format!("{WAITWORD} top {socket} --every 0.05; echo code $?; stty -a");
        let mut terminal = Terminal::new(&line);
        terminal.until("\"ready\"");
        assert!(terminal.shown.contains(ENTER));
        terminal.press("\r");
        terminal.until("details");
        terminal.press("q");
        terminal.until("code 0");
        assert!(terminal.shown.contains(LEAVE), "{:?}", terminal.shown);
        // Of a terminal that is raw it would be `-icanon`.
        terminal.until(" icanon");
    });
}

#[test]
fn sigterm_restores_the_terminal() {
    with_waiter(|socket| {
        let line = format!("sh -c 'echo number $$.; exec {WAITWORD} top {socket}'; echo code $?");
        let mut terminal = Terminal::new(&line);
        terminal.until("\"ready\"");
        let number = terminal.shown.split("number ").nth(1).and_then(|rest| rest.split('.').next());
        let number: i32 = number.unwrap().parse().unwrap();
        // SAFETY: the shell above says `code` only when this process has ended, and it has not.
        assert_eq!(unsafe { libc::kill(number, libc::SIGTERM) }, 0);
        terminal.until("code 143");
        assert!(terminal.shown.contains(LEAVE), "{:?}", terminal.shown);
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
    let line = format!("{WAITWORD} top {} --every 0.05; echo code $?", path.display());
    let mut terminal = Terminal::new(&line);
    terminal.until("q quit  s sort");
    serves.join().unwrap().unwrap();
    // What has not changed on the screen is not written again, unless it is drawn anew.
    let end = Instant::now() + LIMIT;
    while !terminal.shown.contains("q quit  connection refused") {
        assert!(Instant::now() < end, "{:?}", terminal.shown);
        terminal.shown.clear();
        terminal.press("\u{c}");
        // Until the last line begins, and its first word with it.
        terminal.until_shown("last line", |shown| {
            shown.split("q quit  ").nth(1).is_some_and(|rest| rest.contains(' '))
        });
    }
    terminal.until("the program has ended (this is the last report)");
    terminal.press("q");
    terminal.until("code 0");
}

#[test]
fn without_a_terminal_or_a_report_it_says_so() {
    let ran = ended(waitword().args(["top", "/no/such"])).with_code(1).printed(&[]);
    assert_eq!(ran.stderr, "error: the output is not a terminal: use waitword report /no/such\n");

    let mut terminal = Terminal::new(&format!("{WAITWORD} top /no/such; echo code $?"));
    terminal.until("code 1");
    let shown = &terminal.shown;
    assert!(shown.contains("no such socket") && !shown.contains(ENTER), "{shown:?}");
}
