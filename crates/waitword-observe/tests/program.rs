//! The example as its user meets it: what it prints, and what the environment changes.

#![cfg(feature = "json")]
#![cfg(unix)]

#[path = "common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use tempfile::TempDir;
use waitword_observe::{Finding, Report};

/// Cargo builds the examples with the tests, beside them.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    folder.join("examples/stuck")
}

fn command(observe: &str) -> Command {
    let mut command = Command::new(example());
    command
        .env("WAITWORD_OBSERVE", observe)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The running example, which ends when it is dropped. It runs when it has printed its number.
struct Stuck(Child);

impl Stuck {
    fn start(observe: &str) -> Self {
        let mut child = command(observe).arg("--stay").spawn().unwrap();
        let mut number = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut number).unwrap();
        assert_eq!(number.trim(), child.id().to_string());
        Self(child)
    }

    fn errors(&mut self) -> BufReader<ChildStderr> {
        BufReader::new(self.0.stderr.take().unwrap())
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A folder for a socket, or for what is in its way. It goes when it is dropped.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    (folder, path)
}

/// What is served there.
fn served(path: &Path) -> String {
    let mut json = String::new();
    UnixStream::connect(path).unwrap().read_to_string(&mut json).unwrap();
    json
}

/// Without what differs from run to run, columns among it.
fn masked(text: &str) -> String {
    common::masked(text).lines().map(common::in_one_line).collect::<Vec<_>>().join("\n")
}

/// With WAITWORD_BLESS set, the page is written anew.
#[test]
fn the_page_shows_what_the_example_prints() {
    let printed = || {
        let output = command("").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let text = std::fs::read_to_string(page).unwrap();
    let start = text.find("```text\nwaitword: stuck").expect("the report") + "```text\n".len();
    let end = start + text[start..].find("```").unwrap();
    if std::env::var_os("WAITWORD_BLESS").is_some() {
        std::fs::write(page, format!("{}{}{}", &text[..start], printed(), &text[end..])).unwrap();
    } else {
        // A thread that loses its CPU for most of a second makes others wait, and the rest is too little to be shown.
        let (expected, mut last) = (masked(&text[start..end]), String::new());
        let is_printed = (0..5).any(|_| {
            last = masked(&printed());
            last == expected
        });
        assert!(is_printed, "set WAITWORD_BLESS to write it anew, as\n{last}");
    }
}

#[test]
fn faults_are_printed_when_they_are_found_each_once_and_a_report_at_each_signal() {
    let mut stuck = Stuck::start("1");
    let mut errors = stuck.errors();
    let line = never_polled(&mut errors);
    assert!(line.contains(": task 1 waits ") && line.contains("Mutex<Vec<u64>> \"accounts\""), "{line}");
    // The watcher checks twice more before the report, and has no second line.
    thread::sleep(std::time::Duration::from_millis(2_100));
    for _ in 0..2 {
        let status = Command::new("kill").arg("-USR1").arg(stuck.0.id().to_string()).status().unwrap();
        assert!(status.success());
        let mut report = String::new();
        // Up to the last line of the listing, in which the locks have one waiter each.
        while report.lines().filter(|line| line.ends_with(": 1 waiter")).count() < 2 {
            assert_ne!(errors.read_line(&mut report).unwrap(), 0, "{report}");
        }
        assert!(report.contains("waitword: stuck (process "), "{report}");
        assert!(report.contains("Event \"loaded\" at 0x"), "{report}");
        assert_eq!(report.matches("waitword: never polled").count(), 0, "{report}");
    }
}

/// The line on the future that nobody polls. On a slow machine, lines on locks that are held for a second may come before it.
fn never_polled(errors: &mut impl BufRead) -> String {
    let mut lines = errors.lines().map(Result::unwrap);
    let line = lines.find(|line| !line.starts_with("waitword: slow: ")).unwrap();
    assert!(line.starts_with("waitword: never polled (futurelock)"), "{line}");
    line
}

/// The threads of a process by name, of which the system keeps fifteen characters.
fn threads(stuck: &Stuck) -> Option<Vec<String>> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", stuck.0.id())).ok()?;
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default().trim_end().to_owned()
    };
    Some(tasks.map(name).collect())
}

/// Where the system shows the threads of a process.
#[test]
fn off_has_no_threads() {
    let (_folder, path) = folder();
    let ours = ["waitword-observ", "waitword-signal", "waitword-serve"].map(str::to_owned);
    let all = format!("1,serve={}", path.display());
    for (value, count) in [("", 0), ("0", 0), (all.as_str(), 3)] {
        let stuck = Stuck::start(value);
        // A thread names itself when it runs.
        common::until(|| {
            let Some(names) = threads(&stuck) else { return true };
            assert!(names.contains(&"loader".to_owned()), "{names:?}");
            let found = ours.iter().filter(|name| names.contains(name)).count();
            assert!(found <= count, "{value}: {names:?}");
            found == count
        });
    }
}

#[test]
fn a_value_that_is_not_understood_is_said_and_nothing_is_observed() {
    let (_folder, path) = folder();
    let output = command(&format!("serve={},trace", path.display())).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let expected = "waitword: invalid value \"trace\" in WAITWORD_OBSERVE, nothing is observed: use 1, order, serve=PATH, \
                    profile=FILE, trace=FILE and slow=500ms, separated by commas; unset, empty or 0 is off\n";
    assert_eq!(errors, expected);
    assert!(output.status.success() && !path.exists());
}

#[test]
fn a_socket_gives_a_report_to_each_connection() {
    let (_folder, path) = folder();
    let stuck = Stuck::start(&format!("serve={}", path.display()));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for _ in 0..3 {
        let report = Report::from_json(&served(&path)).unwrap();
        assert_eq!((report.process.id, report.process.program.as_deref()), (stuck.0.id(), Some("stuck")));
        assert_eq!(report.snapshot.waiters(), 2);
        assert!(report.snapshot.locks.iter().all(|lock| lock.waiters[0].age.is_some()));
    }
    let findings = loop {
        let findings = Report::from_json(&served(&path)).unwrap().findings;
        if findings.len() == 2 && findings.iter().any(Finding::is_fault) {
            break findings;
        }
    };
    let faults: Vec<Finding> = findings.into_iter().filter(Finding::is_fault).collect();
    assert!(matches!(faults[..], [Finding::NeverPolled(_)]), "a wait for an event is none: {faults:?}");
    drop(stuck);
    // What it left behind does not keep the next one away.
    let _next = Stuck::start(&format!("serve={}", path.display()));
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn what_cannot_be_served_is_said_and_the_rest_is_observed() {
    let (_folder, path) = folder();
    std::fs::write(&path, "mine").unwrap();
    let mut stuck = Stuck::start(&format!("1,serve={}", path.display()));
    let mut errors = stuck.errors();
    let mut lines = String::new();
    errors.read_line(&mut lines).unwrap();
    let expected =
        format!("waitword: no reports at {}: a file that is not a socket exists there\n", path.display());
    assert_eq!(lines, expected);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    never_polled(&mut errors);
}

/// More readers than there are places, none of which reads.
#[test]
fn readers_that_do_not_read_delay_nobody() {
    // Too much for the buffers of a socket.
    waitword_observe::enable();
    let word = std::sync::atomic::AtomicU32::new(0);
    let mut waits: Vec<_> = (0..10_000).map(|_| Box::pin(waitword_core::wait_async(&word, 0))).collect();
    for wait in &mut waits {
        let waker = std::task::Waker::noop();
        assert!(wait.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    let (_folder, path) = folder();
    let server = waitword_observe::serve(&path).unwrap();
    let mut idle: Vec<UnixStream> = (0..7).map(|_| UnixStream::connect(&path).unwrap()).collect();
    assert_eq!(Report::from_json(&served(&path)).unwrap().snapshot.waiters(), 10_000);
    idle.extend((0..8).map(|_| UnixStream::connect(&path).unwrap()));
    // Beyond the places there is an answer at once. (The place of the report that was read may be given back a little later.)
    assert!((0..100).any(|_| served(&path).starts_with("{\"error\":\"busy")));
    // The locks of the process go on.
    assert_eq!(waitword_core::notify_all(&word), 10_000);
    drop(idle);
    drop(server);
    assert!(!path.exists());
}

#[test]
fn a_socket_in_use_is_not_taken_away() {
    let (folder, path) = folder();
    let server = waitword_observe::serve(&path).unwrap();
    let error = waitword_observe::serve(&path).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(UnixStream::connect(&path).is_ok());
    drop(server);
    let long = folder.path().join("x".repeat(120));
    assert_eq!(waitword_observe::serve(long).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

/// Somebody has moved the file.
#[test]
fn a_server_that_is_dropped_accepts_nothing_wherever_its_file_is() {
    let (folder, path) = folder();
    let server = waitword_observe::serve(&path).unwrap();
    let moved = folder.path().join("moved");
    std::fs::rename(&path, &moved).unwrap();
    assert!(UnixStream::connect(&moved).is_ok());
    drop(server);
    assert_eq!(UnixStream::connect(&moved).unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
}

#[test]
fn signals_that_cannot_be_handled_are_errors() {
    for signal in [9, 11, 19, 0, 4_000] {
        assert!(waitword_observe::report_on_signal(signal).is_err(), "{signal}");
    }
}
