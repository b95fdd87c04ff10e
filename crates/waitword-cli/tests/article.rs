//! The article runs: its listings (`examples/article`), and one script per statement that it makes
//! (`tests/js/article`). The scripts check themselves; what is asserted here is that they came to their end.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Only a script that hangs takes this long.
const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn async_lock_loses_no_count() {
    let lines = run(&[], &example("async-lock.js"));
    assert_contains(&lines, "  total 8000 of 8000: nothing lost");
    for agent in ["main", "worker 1", "worker 2", "worker 3"] {
        let row = lines.iter().find(|line| line.trim_start().starts_with(agent));
        assert!(row.is_some_and(|row| row.contains(" 2000 ")), "no row for {agent}: {lines:#?}");
    }
}

#[test]
fn lock_lets_every_worker_in() {
    let lines = run(&[], &example("lock.js"));
    for worker in 1..=3 {
        assert_contains(&lines, &format!("worker {worker} held it 8 times"));
    }
    assert_contains(&lines, "unlock once too often: Tried to unlock while not holding the mutex");
}

#[test]
fn wait_async_has_three_shapes() {
    let expected = "\
listing:  notified
the word does not hold 1:     { async: false, value: 'not-equal' }
it holds 0, but timeout is 0: { async: false, value: 'timed-out' }
it holds 0:                   { async: true, value: promise }
it holds 0, for 20 ms:        { async: true, value: promise }

notify woke 1
the first promise:  'ok'
the second promise: 'timed-out'";
    assert_eq!(run(&[], &example("wait-async.js")).join("\n"), expected);
}

#[test]
fn three_states_notify_only_who_may_wait() {
    let lines = run(&[], &example("three-states.js"));
    assert_contains(&lines, "main, alone   locked  2000 times, notified     0 times");
    assert_contains(&lines, "total 8000 of 8000");
    assert_contains(&lines, "returned: 42");
    assert_contains(&lines, "threw:    out of ink");
    assert_contains(&lines, "free:     true");
}

/// One test per script: its name, its file, and how many checks it reports.
macro_rules! statements {
    ($($name:ident: $file:literal, $checks:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let lines = run(&[], &statement($file));
                assert!(lines.iter().all(|line| line.starts_with("ok  ")), "{lines:#?}");
                assert_eq!(lines.len(), $checks, "{lines:#?}");
            }
        )*

        #[test]
        fn no_statement_is_forgotten() {
            let tested = BTreeSet::from([$($file.to_owned()),*]);
            assert_eq!(files_in(&statement("")), tested);
            let examples =
                ["async-lock.js", "lock.js", "three-state-lock.js", "three-states.js", "wait-async.js"];
            assert_eq!(files_in(&example("")), examples.map(str::to_owned).into());
        }
    };
}

statements! {
    array_types: "array-types.mjs", 10;
    fifo_mixed: "fifo-mixed.mjs", 10;
    main_may_not_block: "main-may-not-block.mjs", 3;
    mutex_freed_before_wait: "mutex-freed-before-wait.mjs", 2;
    mutex_plain_case: "mutex-plain-case.mjs", 5;
    mutex_retaken: "mutex-retaken.mjs", 2;
    notify_count: "notify-count.mjs", 4;
    three_state_lock: "three-state-lock.mjs", 4;
    wait_async_later: "wait-async-later.mjs", 5;
    wait_async_shapes: "wait-async-shapes.mjs", 5;
    wait_returns: "wait-returns.mjs", 4;
}

/// The script skips this check where the main agent may block, so it has to be seen that it did not.
#[test]
fn wait_on_the_main_agent_is_a_type_error() {
    let lines = run(&[], &statement("main-may-not-block.mjs"));
    assert_contains(&lines, "ok  Atomics.wait on the main agent is a TypeError");
}

#[test]
fn main_can_block_with_the_flag() {
    let lines = run(&["--main-can-block"], &statement("main-may-not-block.mjs"));
    assert!(lines.iter().any(|line| line.starts_with("ok  skipped:")), "{lines:#?}");
}

/// The scripts test a copy of the class, because the example is a program and cannot be imported without running.
#[test]
fn the_listing_is_one_text_everywhere() {
    let whole = read(&example("async-lock.js"));
    let copy = read(&statement("support/async-lock.mjs"));
    let sync_half = read(&example("lock.js"));
    let class = between(&whole, "class AsyncLock {", "\n}\n");
    assert_eq!(class, between(&copy, "class AsyncLock {", "\n}\n"));
    let methods = between(&whole, "class AsyncLock {", "\n  executeLocked(f) {");
    assert_eq!(methods.trim_end(), between(&sync_half, "class AsyncLock {", "\n}\n").trim_end());
}

/// Runs the script to its end and returns the lines of its output. Fails on a non-zero exit code, on anything
/// in stderr, and at [`LIMIT`].
#[track_caller]
fn run(flags: &[&str], script: &Path) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_waitword"))
        .arg("run")
        .args(flags)
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("waitword starts");

    // Both pipes close when the program ends: no need to poll for that.
    let stdout = read_all(child.stdout.take().expect("stdout is piped"));
    let stderr = read_all(child.stderr.take().expect("stderr is piped"));
    let ended = stdout.recv_timeout(LIMIT).and_then(|out| Ok((out, stderr.recv_timeout(LIMIT)?)));
    if ended.is_err() {
        child.kill().expect("the child can be killed");
    }
    let status = child.wait().expect("the child can be waited for");
    let (out, err) = ended.unwrap_or_else(|_| panic!("{} hangs", script.display()));

    assert!(status.success(), "{} failed: {status}\n{out}{err}", script.display());
    assert_eq!(err, "", "{} complains", script.display());
    out.lines().map(str::to_owned).collect()
}

fn read_all(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    receiver
}

#[track_caller]
fn assert_contains(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|line| line == wanted), "no line {wanted:?} in {lines:#?}");
}

/// The text from `start` up to the next `end`, both markers left out.
#[track_caller]
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end:?} after {start:?}")).0
}

/// The names of the scripts in a directory, without its subdirectories.
fn files_in(directory: &Path) -> BTreeSet<String> {
    fs::read_dir(directory)
        .expect("the directory can be read")
        .map(|entry| entry.expect("the entry can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js" || extension == "mjs"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/article").join(name)
}

fn statement(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/js/article").join(name)
}
