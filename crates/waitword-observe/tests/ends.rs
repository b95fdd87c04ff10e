//! The files of `profile=` and `trace=` have what was recorded when the program ends, however early that is. The program is this test,
//! started once more.

#![cfg(feature = "json")]

#[path = "common/chrome_format.rs"]
mod rules;

use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use waitword::Mutex;

const END: &str = "WAITWORD_TEST_END";

static LOCK: Mutex<u64> = Mutex::new(0);

/// Does nothing in the test itself.
#[test]
fn program() {
    let Ok(end) = std::env::var(END) else { return };
    waitword_observe::init();
    contend(Duration::ZERO);
    match &*end {
        "returns" => {}
        // On another thread than `main`.
        "exits" => std::process::exit(7),
        "is slow after `disable`" => {
            waitword_observe::disable();
            waitword_observe::on_deadlock(|_| {}).unwrap();
            let _ = waitword_observe::take_slow();
            contend(Duration::from_millis(2));
            // The thread that would print it has looked twice.
            thread::sleep(Duration::from_millis(2_100));
            assert_eq!(waitword_observe::take_slow().0.len(), 1);
        }
        other => panic!("{other}"),
    }
}

/// Makes another wait, and holds the lock for so long while it waits.
fn contend(time: Duration) {
    let held = LOCK.lock();
    let waits = thread::spawn(|| drop(LOCK.lock()));
    while waitword_observe::snapshot().waiters() == 0 {
        thread::yield_now();
    }
    thread::sleep(time);
    drop(held);
    waits.join().unwrap();
}

fn run(folder: &Path, observe: &str, end: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "program", "--nocapture"]).current_dir(folder);
    command.env("WAITWORD_OBSERVE", observe).env(END, end).output().unwrap()
}

#[test]
fn a_short_program_leaves_its_files() {
    let ends = [("returns", 0), ("exits", 7)];
    // There `process::exit` calls nothing.
    for (end, code) in &ends[..if cfg!(windows) { 1 } else { 2 }] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), "profile=a.folded,trace=a.json", end);
        assert_eq!((output.status.code(), &*output.stderr), (Some(*code), &b""[..]), "{output:?}");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read("a.folded").contains("ends.rs:"), "{end}: {:?}", read("a.folded"));
        assert!(read("a.json").contains("\"wait for Mutex"), "{end}: {}", read("a.json"));
        rules::check(&read("a.json"));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left");
    }
}

/// Who asks for them gets them by `take_slow`.
#[test]
fn slow_holds_are_not_printed_after_disable() {
    let output = run(Path::new("."), "1,slow=1ms", "is slow after `disable`");
    assert!(output.status.success(), "{output:?}");
}

/// They would replace each other.
#[test]
fn a_profile_and_a_trace_are_two_files() {
    for path in ["a", "./a", "../here/a"] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("here");
        std::fs::create_dir(&here).unwrap();
        let output = run(&here, &format!("profile=a,trace={path}"), "returns");
        let said =
            "waitword: no profile and no trace: both are to be written to a, give each a file of its own\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), said);
        assert!(output.status.success() && !here.join("a").exists());
    }
}

/// A link stays one; what is no file is left as it is; and nothing is left beside it.
#[cfg(unix)]
#[test]
fn only_files_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("file"), "before").unwrap();
    std::os::unix::fs::symlink("file", at("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    assert!(run(folder.path(), "profile=link", "returns").stderr.is_empty());
    assert!(at("link").is_symlink() && std::fs::read(at("file")).unwrap() != b"before");
    let both = run(folder.path(), "profile=link,trace=file", "returns");
    assert!(String::from_utf8_lossy(&both.stderr).contains("both are to be written"), "{both:?}");
    std::os::unix::fs::symlink("no file", at("broken")).unwrap();
    for (name, advice) in [
        ("socket", "not a regular file: give the name of one"),
        ("folder", "name a file in it"),
        ("broken", "a dangling link: create the file that it points to"),
    ] {
        let said = String::from_utf8(run(folder.path(), &format!("trace={name}"), "returns").stderr).unwrap();
        assert!(said.contains(advice), "{said}");
        assert!(!at(name).is_file());
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 5);
}
