//! `waitword report`, on sockets of this process and on what is no socket of ours.

#![cfg(unix)]

#[path = "cli/program.rs"]
#[allow(dead_code)]
mod program;

use std::future::Future;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::thread;

use program::{Ran, ended, finish, waitword};

/// A report shows every waiter of the process, and the tests of one program share one: they take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A folder with the socket of this process.
struct Served {
    _server: waitword_observe::Server,
    folder: tempfile::TempDir,
    socket: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

fn served() -> Served {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    waitword_observe::enable();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let server = waitword_observe::serve(&socket).unwrap();
    Served { _server: server, folder, socket, _turn: turn }
}

fn report(socket: &Path, flags: &[&str]) -> Ran {
    ended(waitword().arg("report").arg(socket).args(flags))
}

#[test]
fn a_report_is_shown_as_text_and_as_json() {
    let served = served();
    let word = AtomicU32::new(0);
    let _name = waitword_observe::name(&word, "ready");
    let mut task = pin!(waitword_core::wait_async(&word, 0));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let text = report(&served.socket, &[]).with_code(0).quietly().stdout;
    let start = format!("(process {}): 1 waiter at 1 lock\n", std::process::id());
    assert!(text.contains(&start) && text.contains(" \"ready\" at 0x"), "{text}");
    let json = report(&served.socket, &["--json"]).with_code(0).quietly().stdout;
    assert_eq!(json.lines().count(), 1);
    let report = waitword_observe::Report::from_json(&json).unwrap();
    assert_eq!(report.snapshot.locks[0].name.name.as_deref(), Some("ready"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_no_success() {
    let served = served();
    for flags in [&[][..], &["--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        ended(waitword().arg("report").arg(&served.socket).args(flags).stdout(full))
            .with_code(1)
            .complained(&["cannot be written"]);
    }
}

/// What `waitword trace` prints, and the file that it writes.
#[test]
fn a_trace_is_written_as_json_and_as_a_picture() {
    let Served { folder, socket, .. } = &served();
    let trace = |flags: &[&str], file: &Path| {
        let mut command = waitword();
        command.arg("trace").arg(socket).args(["--seconds", "1"]).args(flags).arg("-o").arg(file);
        let mut child = command.spawn().unwrap();
        // Waits and notifies until the trace is over.
        while child.try_wait().unwrap().is_none() {
            let word = AtomicU32::new(0);
            let mut task = pin!(waitword_core::wait_async(&word, 0));
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!(waitword_core::notify_all(&word), 1);
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            thread::sleep(std::time::Duration::from_millis(1));
        }
        finish(child)
    };
    let json = folder.path().join("trace.json");
    let ran = trace(&["--all"], &json).with_code(0);
    assert!(ran.stderr.starts_with(&format!("{}: ", json.display())), "{ran:?}");
    let text = std::fs::read_to_string(&json).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of = |phase: &str| {
        parsed["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == phase).count()
    };
    assert!(of("X") > 1 && of("s") > 0 && of("s") == of("f"), "{text}");
    let svg = folder.path().join("trace.svg");
    trace(&[], &svg).with_code(0);
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg "));

    trace(&[], &folder.path().join("missing/trace.json")).with_code(1).complained(&["cannot be written"]);
    // No socket there, and perhaps no folder for the file: that is said first, before anything is recorded.
    let from_nowhere = |file: &Path, complaint: &str| {
        let mut command = waitword();
        command.arg("trace").arg(folder.path().join("no")).arg("-o").arg(file);
        ended(&mut command).with_code(1).complained(&[complaint]);
    };
    from_nowhere(&folder.path().join("missing/trace.json"), "cannot be written");
    let new = folder.path().join("new.json");
    from_nowhere(&new, "no such socket");
    assert!(!new.exists());
    from_nowhere(&json, "no such socket");
    assert_eq!(std::fs::read_to_string(&json).unwrap(), text, "the last trace is there still");
    ended(waitword().args(["trace", "/x", "--seconds", "61"])).with_code(2);
}

#[test]
fn what_is_no_socket_of_ours_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let check = |path: &Path, said: &str| {
        let ran = report(path, &[]).with_code(1).printed(&[]);
        assert_eq!(ran.stderr, format!("error: no report from {}: {said}\n", path.display()));
    };
    let missing = "no such socket; was the program started with WAITWORD_OBSERVE=serve=PATH?";
    check(&folder.path().join("missing"), missing);

    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    check(&file, "not a socket");

    let ended = folder.path().join("ended");
    drop(UnixListener::bind(&ended).unwrap());
    check(&ended, "connection refused: the program has ended");

    let not_ours = "unexpected answer, from another program or another version of waitword: ";
    for (name, answer, said) in [
        ("html", &b"<html>"[..], format!("{not_ours}not a report of waitword-observe")),
        ("empty", b"", format!("{not_ours}not a report of waitword-observe")),
        (
            "newer",
            b"{\"format\":\"waitword-report\",\"schema\":2}\n",
            format!("{not_ours}the report has schema version 2, and this program reads version 1"),
        ),
        (
            "half",
            b"{\"format\":\"waitword-report\",\"sch",
            "the answer is incomplete: the program ended while it answered".into(),
        ),
        ("busy", b"{\"error\":\"busy: come back\"}\n", "busy: come back".into()),
        ("bytes", b"\xff\xfe", "the answer is not text: the socket belongs to another program".into()),
    ] {
        let path = folder.path().join(name);
        let listener = UnixListener::bind(&path).unwrap();
        let answers = thread::spawn(move || listener.accept().unwrap().0.write_all(answer));
        check(&path, &said);
        answers.join().unwrap().unwrap();
    }
}
