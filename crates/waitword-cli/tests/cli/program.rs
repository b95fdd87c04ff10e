//! Runs the real binary on scripts that a test brings along.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a program may take before its test fails: no test depends on speed, so this is only for programs that hang.
const LIMIT: Duration = Duration::from_secs(300);

/// How long a turn of waiting takes, at least.
const TURN: Duration = Duration::from_millis(2);

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Ran {
    /// Asserts how it ended; shows all of it if not.
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that it printed exactly these lines.
    #[track_caller]
    pub(crate) fn printed(self, lines: &[&str]) -> Self {
        assert_eq!(self.stdout.lines().collect::<Vec<_>>(), lines, "{self:#?}");
        self
    }

    /// Asserts that it complained about each of these.
    #[track_caller]
    pub(crate) fn complained(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {self:#?}");
        }
        self
    }

    /// Asserts that it complained about none of these.
    #[track_caller]
    pub(crate) fn kept_from(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(!self.stderr.contains(part), "{part:?} in {self:#?}");
        }
        self
    }

    /// Asserts that it did not complain.
    #[track_caller]
    pub(crate) fn quietly(self) -> Self {
        assert_eq!(self.stderr, "", "{self:#?}");
        self
    }
}

/// A folder of its own for each test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    // As scripts see it.
    folder.canonicalize().unwrap()
}

/// Writes one script and runs it with these flags. `test` names its folder.
pub(crate) fn run(test: &str, flags: &[&str], script: &str) -> Ran {
    run_with(test, flags, &[("main.js", script)], &[])
}

/// Writes files, and runs the first of them with flags before and arguments behind its name.
pub(crate) fn run_with(test: &str, flags: &[&str], files: &[(&str, &str)], arguments: &[&str]) -> Ran {
    ended(&mut prepared(test, flags, files, arguments))
}

/// Writes files, the first of which is run when the result is spawned.
pub(crate) fn prepared(test: &str, flags: &[&str], files: &[(&str, &str)], arguments: &[&str]) -> Command {
    let folder = folder(test);
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut command = waitword();
    command.current_dir(&folder).arg("run").args(flags).arg(files[0].0).args(arguments);
    command
}

/// Runs a script that calls `done` when it has nothing left to do. How it ended, and, on systems that say so, the most bytes of
/// memory that its process had until then.
pub(crate) fn measured(folder: &Path, flags: &[&str], script: &str) -> (Ran, Option<usize>) {
    const DONE: &str = "-- done --";
    // It goes on until it has been measured: a worker waits for its text, which never comes.
    let (measures, goes_on) = match cfg!(target_os = "linux") {
        true => (true, "new (require('worker_threads').Worker)('/dev/stdin');"),
        false => (false, ""),
    };
    let text = format!("function done() {{ console.log('{DONE}'); {goes_on} }}\n{script}");
    fs::write(folder.join("main.js"), text).unwrap();
    let mut command = waitword();
    command.current_dir(folder).arg("run").args(flags).arg("main.js").stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take();
    let mut printed = String::new();
    let mut rest = BufReader::new(child.stdout.take().unwrap());
    while rest.read_line(&mut printed).unwrap() > 0 && !printed.ends_with(&format!("{DONE}\n")) {}
    let peak = if measures { memory_of(child.id(), "VmHWM") } else { None };
    drop(stdin);
    let more = collect(Some(rest));
    let ran = finish(child);
    let stdout = printed.replace(&format!("{DONE}\n"), "") + &more.join().unwrap();
    (Ran { stdout, ..ran }, peak)
}

/// What a line of a process's status says, in bytes: `VmHWM` is the most that it has had, `VmRSS` what it has. `None`
/// where there is none.
pub(crate) fn memory_of(process: u32, line: &str) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let size = status.lines().find_map(|each| each.strip_prefix(line)?.strip_prefix(':'))?;
    Some(size.trim().strip_suffix(" kB")?.parse::<usize>().ok()? << 10)
}

/// The binary under test, its output piped.
pub(crate) fn waitword() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waitword"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Help is as wide as that says where there is no terminal.
    command.env_remove("COLUMNS");
    command
}

/// Runs a program whose output is piped, to its end.
pub(crate) fn ended(command: &mut Command) -> Ran {
    finish(command.spawn().unwrap())
}

/// Waits for the end of a program whose output is piped.
pub(crate) fn finish(mut child: Child) -> Ran {
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    // Turns are counted, not the time: where the machine is busy with other things, they take longer, as the program does.
    let mut turns = LIMIT.as_millis() / TURN.as_millis();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if turns == 0 {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        turns -= 1;
        thread::sleep(TURN);
    };
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    let Some(status) = status else {
        panic!("still running after {LIMIT:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
    };
    Ran { stdout, stderr, code: status.code() }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
