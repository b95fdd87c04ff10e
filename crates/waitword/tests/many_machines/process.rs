//! A process that runs the example.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::server::Server;

/// Killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Returns when it is ready to begin.
    pub(crate) fn start(server: &Server, rounds: u32, mode: &str) -> Self {
        // Cargo builds the examples before the tests, next to the folder of the tests.
        let tests = env::current_exe().unwrap();
        let path = tests.ancestors().nth(2).unwrap().join("examples/many_machines");
        let mut command = Command::new(&path);
        command.arg(server.address()).arg(rounds.to_string()).args((!mode.is_empty()).then_some(mode));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_or_else(|error| {
                panic!(
                    "{}: {error}; `cargo build -p waitword --example many_machines` builds it",
                    path.display()
                )
            });
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut process = Self { child, output };
        assert_eq!(process.line(), "ready: press enter");
        process
    }

    pub(crate) fn go(&mut self) {
        self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Its holder was told that the lock is lost.
    pub(crate) fn ends_badly(&mut self) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return assert!(!status.success());
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it goes on for a minute");
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ends_well(&mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
