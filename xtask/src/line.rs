//! A command line: shown as one would type it, then run; and why a recipe ended early.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

/// The root of the repository, where every line is run.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// A program, its arguments and what it has in its environment beside ours.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    env: Vec<(String, String)>,
    /// Below the root.
    folder: Option<String>,
    words: Vec<String>,
}

impl Line {
    /// A line of words that blanks separate.
    pub(crate) fn new(words: &str) -> Self {
        let words = words.split_whitespace().map(str::to_owned).collect();
        Self { env: Vec::new(), folder: None, words }
    }

    pub(crate) fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.words.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// In this folder below the root.
    pub(crate) fn within(mut self, folder: &str) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Shows and runs it; its output is the user's.
    pub(crate) fn run(&self) -> Result<(), Stop> {
        eprintln!("$ {self}");
        let status = self.command().status().map_err(|error| self.not_started(&error))?;
        if status.success() { Ok(()) } else { Err(Stop::Failed(format!("failed ({status}): {self}"))) }
    }

    /// Runs it, and returns what it printed. It is shown, with its output, only if it fails.
    pub(crate) fn read(&self) -> Result<String, Stop> {
        let output = self.output().map_err(|error| self.not_started(&error))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout);
        if output.status.success() {
            return Ok(printed);
        }
        let (status, errors) = (output.status, text(&output.stderr));
        Err(Stop::Failed(format!("failed ({status}): {self}\n{printed}{errors}")))
    }

    /// Shows and runs it, and returns what it printed; its errors are the user's.
    pub(crate) fn listen(&self) -> Result<String, Stop> {
        eprintln!("$ {self}");
        let output = self.command().stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(Stop::Failed(format!("failed ({}): {self}", output.status)))
    }

    /// Runs it, shows nothing, and stops it at a limit. What it prints goes to the `log`, if there is one.
    pub(crate) fn end_within(&self, limits: Limits, log: Option<&File>) -> Result<Ending, Stop> {
        let mut command = self.command();
        let lost = |error: io::Error| Stop::Failed(format!("lost sight of it ({error}): {self}"));
        let printed = || log.map_or(Ok(Stdio::null()), |log| log.try_clone().map(Stdio::from)).map_err(lost);
        command.stdin(Stdio::null()).stdout(printed()?).stderr(printed()?);
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        let (mut idle_since, mut cpu_then) = (Instant::now(), Duration::ZERO);
        loop {
            // Also that of one that has ended, which nobody has waited for.
            let cpu = cpu_time(child.id());
            let ended = child.try_wait().map_err(lost)?.map(|status| match status.success() {
                true => Ended::Well,
                false => Ended::Badly,
            });
            if ended.is_none() && cpu.is_err() {
                child.kill().and_then(|()| child.wait()).map_err(lost)?;
            }
            let cpu = cpu.map_err(lost)?;
            if cpu > cpu_then + limits.idle / 100 {
                (idle_since, cpu_then) = (Instant::now(), cpu);
            }
            let stopped = match () {
                () if cpu >= limits.cpu => Some(Ended::Slow),
                () if idle_since.elapsed() >= limits.idle => Some(Ended::Hung),
                () => None,
            };
            if let (None, Some(_)) = (ended, stopped) {
                child.kill().and_then(|()| child.wait()).map_err(lost)?;
            }
            if let Some(how) = ended.or(stopped) {
                return Ok(Ending { how, cpu });
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether it runs and succeeds; says nothing.
    pub(crate) fn succeeds(&self) -> bool {
        self.output().is_ok_and(|output| output.status.success())
    }

    fn output(&self) -> io::Result<Output> {
        self.command().output()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.folder.iter().fold(root(), |root, folder| root.join(folder)));
        command
    }

    fn not_started(&self, error: &io::Error) -> Stop {
        Stop::Failed(format!("cannot start it ({error}): {self}"))
    }
}

/// What a line may take before it is stopped. CPU time, because wall time depends on what else the machine does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// A line that has used so much CPU time is slow.
    pub(crate) cpu: Duration,
    /// A line that has used less than a hundredth of a CPU for so long hangs.
    pub(crate) idle: Duration,
}

/// How a line that had limits came to its end, and what CPU time it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) how: Ended,
    pub(crate) cpu: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// It failed, or aborted.
    Badly,
    /// It was stopped because it waited, and computed nothing.
    Hung,
    /// It was stopped because it computed for too long. It may have been about to end.
    Slow,
}

/// The CPU time of all threads of a process, without that of its children.
fn cpu_time(process: u32) -> io::Result<Duration> {
    /// The kernel's unit in `/proc`, on every architecture that Rust's standard library supports.
    const TICK: Duration = Duration::from_millis(10);
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path).map_err(|error| {
        io::Error::new(error.kind(), format!("CPU time is read from {path}, on Linux: {error}"))
    })?;
    // Behind the name, which may have blanks and parentheses: the state, and as the 12th and 13th field the times.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
    let ticks: Option<u32> = fields.skip(11).take(2).map(|field| field.parse::<u32>().ok()).sum();
    ticks.map(|ticks| TICK * ticks).ok_or_else(|| io::Error::other(format!("{path} has no CPU time: {stat}")))
}

/// As a shell would take it.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(folder) = &self.folder {
            write!(f, "cd {} && ", quoted(folder))?;
        }
        for (name, value) in &self.env {
            write!(f, "{name}={} ", quoted(value))?;
        }
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        f.write_str(&words.join(" "))
    }
}

fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_=+./:,@%".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Why a recipe ended early. What is said for each code in [`args`](crate::args) has to stay true.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A check failed, or could not be run to its end.
    Failed(String),
    /// The command line asks for something that there is not.
    Usage(String),
    /// A program is not installed.
    Missing { name: &'static str, how_to_get: &'static str },
    /// What was run passed; of the rest, a line for each part.
    Skipped(String),
}

impl Stop {
    /// What could not be read, written or made, and why.
    pub(crate) fn at(place: impl fmt::Display) -> impl Fn(io::Error) -> Self {
        move |error| Self::Failed(format!("{place}: {error}"))
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Missing { .. } | Self::Skipped(_) => 3,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) | Self::Usage(why) => f.write_str(why),
            Self::Missing { name, how_to_get } => write!(f, "{name} is missing; to get it: {how_to_get}"),
            Self::Skipped(lines) => write!(f, "what could be run passed; the rest could not:\n{lines}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_as_a_shell_would_take_it() {
        let line =
            Line::new("cargo +nightly test -p one").env("RUSTFLAGS", "--cfg loom").args(["--", "it's"]);
        assert_eq!(line.to_string(), r"RUSTFLAGS='--cfg loom' cargo +nightly test -p one -- 'it'\''s'");
        assert_eq!(Line::new("./pan").within("target/promela").to_string(), "cd target/promela && ./pan");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_line_that_has_limits_comes_to_its_end() {
        const NEVER: Duration = Duration::MAX;
        const SOON: Duration = Duration::from_millis(200);
        let end = |words: &str, cpu, idle| Line::new(words).end_within(Limits { cpu, idle }, None);
        let how = |words: &str, cpu, idle| end(words, cpu, idle).unwrap().how;
        assert_eq!(how("true", NEVER, NEVER), Ended::Well);
        assert_eq!(how("false", NEVER, NEVER), Ended::Badly);
        // However long it takes, on a machine that does other things besides.
        assert_eq!(how("sleep 1", SOON, NEVER), Ended::Well);
        assert_eq!(how("sleep 1000", NEVER, SOON), Ended::Hung);
        let slow = end("yes", SOON, NEVER).unwrap();
        assert!(slow.how == Ended::Slow && slow.cpu >= SOON, "{slow:?}");
        assert!(end("no-such-program", NEVER, NEVER).is_err());
    }
}
