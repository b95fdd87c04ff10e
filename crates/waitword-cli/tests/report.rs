//! `waitword report`, on sockets of this process and on what is no socket of ours.

#![cfg(unix)]

use std::future::Future;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};
use std::thread;

/// A report shows every waiter of the process, and the tests of one program share one: they take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Exit code, standard output, standard error.
fn report(socket: &Path, flags: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_waitword")).arg("report").arg(socket).args(flags).output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), text, errors)
}

#[test]
fn a_report_is_shown_as_text_and_as_json() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    waitword_observe::enable();
    let word = AtomicU32::new(0);
    let _name = waitword_observe::name(&word, "ready");
    let mut task = pin!(waitword_core::wait_async(&word, 0));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _server = waitword_observe::serve(&path).unwrap();
    let (code, text, errors) = report(&path, &[]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let start = format!("(process {}): 1 waiter at 1 lock\n", std::process::id());
    assert!(text.contains(&start) && text.contains(" \"ready\" at 0x"), "{text}");
    let (code, json, errors) = report(&path, &["--json"]);
    assert_eq!((code, errors.as_str(), json.lines().count()), (Some(0), "", 1));
    let report = waitword_observe::Report::from_json(&json).unwrap();
    assert_eq!(report.snapshot.locks[0].name.name.as_deref(), Some("ready"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_no_success() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _server = waitword_observe::serve(&path).unwrap();
    for flags in [&[][..], &["--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_waitword"));
        let output = command.arg("report").arg(&path).args(flags).stdout(full).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && errors.contains("cannot be written"), "{errors}");
    }
}

/// What `waitword trace` prints, and the file that it writes.
#[test]
fn a_trace_is_written_as_json_and_as_a_picture() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    waitword_observe::enable();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _server = waitword_observe::serve(&socket).unwrap();
    let trace = |flags: &[&str], file: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waitword"));
        command.arg("trace").arg(&socket).args(["--seconds", "1"]).args(flags).arg("-o").arg(file);
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        // Waits and notifies until the trace is over.
        while child.try_wait().unwrap().is_none() {
            let word = AtomicU32::new(0);
            let mut task = pin!(waitword_core::wait_async(&word, 0));
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!(waitword_core::notify_all(&word), 1);
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            thread::sleep(std::time::Duration::from_millis(1));
        }
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let json = folder.path().join("trace.json");
    let (code, said) = trace(&["--all"], &json);
    assert!(code == Some(0) && said.starts_with(&format!("{}: ", json.display())), "{said}");
    let text = std::fs::read_to_string(&json).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of = |phase: &str| {
        parsed["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == phase).count()
    };
    assert!(of("X") > 1 && of("s") > 0 && of("s") == of("f"), "{text}");
    let svg = folder.path().join("trace.svg");
    assert_eq!(trace(&[], &svg).0, Some(0));
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg "));

    let (code, said) = trace(&[], &folder.path().join("missing/trace.json"));
    assert!(code == Some(1) && said.contains("cannot be written"), "{said}");
    // No socket there, and perhaps no folder for the file: that is said first, before anything is recorded.
    let from_nowhere = |file: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waitword"));
        let output = command.arg("trace").arg(folder.path().join("no")).arg("-o").arg(file).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(from_nowhere(&folder.path().join("missing/trace.json")).contains("cannot be written"));
    let new = folder.path().join("new.json");
    assert!(from_nowhere(&new).contains("no such socket") && !new.exists());
    assert!(from_nowhere(&json).contains("no such socket"));
    assert_eq!(std::fs::read_to_string(&json).unwrap(), text, "the last trace is there still");
    let long = ["trace", "/x", "--seconds", "61"];
    let long = Command::new(env!("CARGO_BIN_EXE_waitword")).args(long).output().unwrap();
    assert_eq!(long.status.code(), Some(2));
}

#[test]
fn what_is_no_socket_of_ours_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let check = |path: &Path, said: &str| {
        let (code, text, errors) = report(path, &[]);
        assert_eq!((code, text.as_str()), (Some(1), ""));
        assert_eq!(errors, format!("error: no report from {}: {said}\n", path.display()));
    };
    let missing = "there is no such socket; was the program started with WAITWORD_OBSERVE=serve=PATH?";
    check(&folder.path().join("missing"), missing);

    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    check(&file, "this is no socket");

    let ended = folder.path().join("ended");
    drop(UnixListener::bind(&ended).unwrap());
    check(&ended, "nobody listens there: the program has ended");

    let not_ours = "another program than waitword's answers there, or another version: ";
    for (name, answer, said) in [
        ("html", &b"<html>"[..], format!("{not_ours}this is no report of waitword-observe")),
        ("empty", b"", format!("{not_ours}this is no report of waitword-observe")),
        (
            "newer",
            b"{\"format\":\"waitword-report\",\"schema\":2}\n",
            format!("{not_ours}the report has version 2 of the schema, and this program reads version 1"),
        ),
        ("half", b"{\"format\":\"waitword-report\",\"sch", "the program ended before its answer did".into()),
        ("busy", b"{\"error\":\"busy: come back\"}\n", "busy: come back".into()),
        ("bytes", b"\xff\xfe", "the answer is no text: another program than waitword's listens there".into()),
    ] {
        let path = folder.path().join(name);
        let listener = UnixListener::bind(&path).unwrap();
        let answers = thread::spawn(move || listener.accept().unwrap().0.write_all(answer));
        check(&path, &said);
        answers.join().unwrap().unwrap();
    }
}
