//! Another process: this program again, which runs the test `worker` alone.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, thread, time};

use crate::LIMIT;

/// Killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Returns when it is ready to begin.
    pub(crate) fn start(address: &str, mode: &str, rounds: u32) -> Self {
        Self::start_with(Command::new(env::current_exe().unwrap()), address, mode, rounds)
    }

    /// By a command of this program with a changed environment.
    pub(crate) fn start_with(mut command: Command, address: &str, mode: &str, rounds: u32) -> Self {
        command.args(["worker::worker", "--exact", "--ignored", "--nocapture"]);
        command.env("WAITWORD_WORKER", format!("{address}|{mode}|{rounds}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut process = Self { child, output };
        assert_eq!(process.line(), "ready");
        process
    }

    pub(crate) fn go(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Whoever works until then ends.
    pub(crate) fn attacks_are_over(&mut self) {
        drop(self.child.stdin.take());
    }

    /// The next line that the worker says; between them the test's frame has some.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim_end().split_once("worker: ") {
                return said.to_owned();
            }
            line.clear();
        }
        panic!("the worker ended");
    }

    pub(crate) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Such as `STOP` and `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ends_well(&mut self) {
        let start = time::Instant::now();
        while start.elapsed() < LIMIT {
            if let Some(status) = self.child.try_wait().unwrap() {
                return assert!(status.success());
            }
            thread::sleep(time::Duration::from_millis(10));
        }
        panic!("it goes on");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
