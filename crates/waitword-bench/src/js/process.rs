//! One program, once, on one engine: what it prints is read as it comes, for some lines ask for its memory at that moment.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::js::engine::Engine;
use crate::js::programs::Program;
use crate::platform::resident;
use crate::series::{Sample, Unit, median};
use crate::workload::{Round, Scale};

/// For how long a program may run. The slowest needs a third of it where the machine does nothing else.
const LIMIT: Duration = Duration::from_secs(45);

/// A process that is over at once is started several times.
const STARTS: usize = 10;

/// The figures, and why there are not more of them.
pub(super) fn run(engine: &Engine, program: &Program, scale: &Scale) -> Round {
    let starts = if program.whole.is_none() || scale.is_quick() { 1 } else { STARTS };
    let mut reading = Reading { program, marks: HashMap::new(), samples: Vec::new() };
    let mut walls = Vec::new();
    for _ in 0..starts {
        match start(engine, scale, &mut reading) {
            Ok(wall) => walls.push(wall.as_nanos() as f64),
            Err(why) => return (reading.samples, Some(why)),
        }
    }
    let missing =
        program.figures.iter().find(|it| !reading.samples.iter().any(|sample| sample.what == it.name));
    if let Some(missing) = missing.filter(|_| cfg!(target_os = "linux")) {
        return (reading.samples, Some(format!("it ended well, but did not print {:?}", missing.name)));
    }
    let whole = program.whole.as_ref();
    reading.samples.extend(whole.map(|whole| Sample::new(whole.name, 1, Unit::Nanos, median(&walls))));
    (reading.samples, None)
}

fn start(engine: &Engine, scale: &Scale, reading: &mut Reading<'_>) -> Result<Duration, String> {
    let mut command = Command::new(&engine.command[0]);
    command.args(&engine.command[1..]).arg(reading.program.file());
    command.args(scale.is_quick().then_some("--quick"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let (lines, complaints) = listen(&mut child);
    let read = loop {
        match lines.recv_timeout(LIMIT.saturating_sub(start.elapsed())) {
            Ok(line) => {
                if let Err(why) = reading.line(&line, child.id()) {
                    break Err(why);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
            Err(RecvTimeoutError::Timeout) => break Err(format!("over {} s", LIMIT.as_secs())),
        }
    };
    if read.is_err() {
        // It may have ended by itself meanwhile, and then there is nothing to end.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| format!("cannot be waited for: {error}"))?;
    let wall = start.elapsed();
    let complaints = complaints.join().unwrap_or_default();
    read?;
    if status.success() { Ok(wall) } else { Err(ending(status, &complaints)) }
}

/// The lines of its output, and all that it complains of.
fn listen(child: &mut Child) -> (mpsc::Receiver<String>, thread::JoinHandle<String>) {
    let (sender, lines) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::spawn(move || {
        let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
        // The receiver may have gone.
        let _ = lines.map_while(Result::ok).try_for_each(|line| sender.send(line));
    });
    let complaints = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until then is what there is.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    (lines, complaints)
}

/// "exit code 1: TypeError: ..."
fn ending(status: ExitStatus, complaints: &str) -> String {
    let how = status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
    let lines = || complaints.lines().map(str::trim).filter(|line| !line.is_empty());
    // Before the error itself some engines show where it was thrown.
    let first =
        lines().find(|line| line.contains("Error: ") || line.starts_with("FATAL")).or_else(|| lines().next());
    first.map_or_else(|| how.clone(), |line| format!("{how}: {line}"))
}

/// What a program can print; `support/report.js` prints it.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Figure {
        name: String,
        n: usize,
        unit: Unit,
        value: f64,
    },
    /// Remember how much memory the process has.
    Mark {
        mark: String,
    },
    /// A figure: how much more that is than at a mark, for each of `n`.
    Grown {
        name: String,
        n: usize,
        #[serde(rename = "grownSince")]
        grown_since: String,
    },
}

struct Reading<'a> {
    program: &'a Program,
    marks: HashMap<String, u64>,
    samples: Vec<Sample>,
}

impl Reading<'_> {
    fn line(&mut self, line: &str, process: u32) -> Result<(), String> {
        match serde_json::from_str(line).map_err(|_| format!("this is no figure: {line}"))? {
            Line::Figure { name, n, unit, value } => self.add(&name, n, unit, value)?,
            Line::Mark { mark } => self.marks.extend(resident(process).map(|bytes| (mark, bytes))),
            Line::Grown { name, n, grown_since } => {
                // Where the system does not report it, there is no figure.
                if let Some((&before, now)) = self.marks.get(&grown_since).zip(resident(process)) {
                    self.add(&name, n, Unit::Bytes, (now as f64 - before as f64) / n as f64)?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, n: usize, unit: Unit, value: f64) -> Result<(), String> {
        let listed = self.program.figures.iter().find(|figure| figure.name == name);
        let listed = listed.ok_or_else(|| format!("programs.json has no figure {name:?}"))?;
        self.samples.push(Sample::new(listed.name, n, unit, value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        serde_json::from_str(r#"{ "name": "test", "about": "", "figures": [{ "name": "each" }] }"#).unwrap()
    }

    #[test]
    fn figures_are_read_and_strange_ones_refused() {
        let program = program();
        let mut reading = Reading { program: &program, marks: HashMap::new(), samples: Vec::new() };
        let process = std::process::id();
        reading.line(r#"{"name":"each","n":3,"unit":"nanos","value":2.5}"#, process).unwrap();
        assert_eq!(
            (reading.samples[0].what, reading.samples[0].n, reading.samples[0].value),
            ("each", 3, 2.5)
        );
        assert!(reading.line(r#"{"name":"other","n":3,"unit":"nanos","value":2.5}"#, process).is_err());
        assert!(reading.line(r#"{"name":"each","n":3,"unit":"miles","value":2.5}"#, process).is_err());
        assert!(reading.line("done", process).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_looked_at_from_outside() {
        let program = program();
        let mut reading = Reading { program: &program, marks: HashMap::new(), samples: Vec::new() };
        let process = std::process::id();
        reading.line(r#"{"mark":"before"}"#, process).unwrap();
        let held = vec![1_u8; 64 << 20];
        reading.line(r#"{"name":"each","n":1024,"grownSince":"before"}"#, process).unwrap();
        // Other tests of this process come and go.
        assert!(reading.samples[0].value > (32 << 10) as f64, "{:?} of {}", reading.samples, held.len());
    }

    #[cfg(unix)]
    #[test]
    fn how_a_program_failed_is_told_in_a_line() {
        use std::os::unix::process::ExitStatusExt;
        let failed = ExitStatus::from_raw(1 << 8);
        let complaints = "file:///a.js:1\n  boom();\n  ^\n\nTypeError: no boom\n    at a.js:1";
        assert_eq!(ending(failed, complaints), "exit code 1: TypeError: no boom");
        assert_eq!(ending(failed, ""), "exit code 1");
        assert_eq!(ending(ExitStatus::from_raw(9), "\nKilled\n"), "signal: 9 (SIGKILL): Killed");
    }
}
