//! Runs lines of the shell in the root of the repository, after printing them; and the reasons why a recipe ends early.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

/// The root of the repository, where every line is run.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// Prints a line of the shell and runs it. Its output goes to the user.
pub(crate) fn run(line: &str) -> Result<(), Stop> {
    eprintln!("$ {line}");
    let status = sh(line).status().map_err(Stop::at("sh"))?;
    if status.success() { Ok(()) } else { Err(Stop::Failed(format!("failed ({status}): {line}"))) }
}

/// Prints a line and runs it. Returns its output; its errors go to the user.
pub(crate) fn listen(line: &str) -> Result<String, Stop> {
    eprintln!("$ {line}");
    capture(line, Stdio::inherit())
}

/// Runs a line and returns its output. Prints the line, with its output, only if it fails.
pub(crate) fn read(line: &str) -> Result<String, Stop> {
    capture(line, Stdio::piped())
}

/// Whether a line succeeds. Prints nothing.
pub(crate) fn succeeds(line: &str) -> bool {
    read(line).is_ok()
}

fn capture(line: &str, errors: Stdio) -> Result<String, Stop> {
    let output = sh(line).stderr(errors).output().map_err(Stop::at("sh"))?;
    let [printed, errors] =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    if output.status.success() {
        return Ok(printed);
    }
    Err(Stop::Failed(format!("failed ({}): {line}\n{printed}{errors}", output.status)))
}

fn sh(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(root());
    command
}

/// Quotes words for the shell.
pub(crate) fn quoted<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=+./:,@%".contains(char);
    let quote = |word: S| match word.as_ref() {
        word if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Runs one program with the environment `env`, and stops it at a limit. Prints nothing; the program's output goes to the file `log`. Returns how
/// it ended, and the CPU time that it used.
pub(crate) fn end_within(
    limits: Limits,
    env: &str,
    program: &str,
    log: &str,
) -> Result<(Ended, Duration), Stop> {
    // `exec`, because the shell's own CPU time would be measured instead.
    let line = format!("{env} exec {program} < /dev/null > {log} 2>&1");
    let lost = Stop::at(format!("failed to start or to watch: {line}"));
    let mut child = sh(&line).spawn().map_err(&lost)?;
    let (mut idle_since, mut cpu_then) = (Instant::now(), Duration::ZERO);
    let ended = loop {
        // /proc has it even if the process has ended, because nobody has waited for it yet.
        let cpu = cpu_time(child.id());
        if let Some(status) = child.try_wait().map_err(&lost)? {
            let ended = if status.success() { Ended::Well } else { Ended::Badly };
            return Ok((ended, cpu.unwrap_or_default()));
        }
        match cpu {
            None => {
                break Err(lost(io::Error::other("its CPU time is not in /proc, which only Linux has")));
            }
            Some(cpu) if cpu >= limits.cpu => break Ok((Ended::Slow, cpu)),
            Some(cpu) if cpu > cpu_then + limits.idle / 100 => (idle_since, cpu_then) = (Instant::now(), cpu),
            Some(cpu) if idle_since.elapsed() >= limits.idle => break Ok((Ended::Hung, cpu)),
            Some(_) => thread::sleep(Duration::from_millis(5)),
        }
    };
    child.kill().and_then(|()| child.wait()).map_err(&lost)?;
    ended
}

/// The limits at which a line is stopped. They are CPU time, because wall time depends on what else the machine does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// A line that has used this much CPU time is slow.
    pub(crate) cpu: Duration,
    /// A line that has used less than a hundredth of a CPU for so long hangs.
    pub(crate) idle: Duration,
}

/// How a line with limits ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// It failed, or aborted.
    Badly,
    /// It was stopped because it waited without computing.
    Hung,
    /// It was stopped because it computed for too long. It might have ended soon.
    Slow,
}

/// The CPU time of all threads of a process, without that of its children.
fn cpu_time(process: u32) -> Option<Duration> {
    /// The kernel's unit in `/proc`, on every architecture that Rust's standard library supports.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may contain blanks and parentheses: the state, and the times as the 12th and 13th field.
    let times = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(2);
    let ticks: Option<u32> = times.map(|time| time.parse::<u32>().ok()).sum();
    Some(TICK * ticks?)
}

/// Why a recipe ended early. [`args`](crate::args) documents the codes.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A check failed, or could not be completed.
    Failed(String),
    /// The command line names something that does not exist.
    Usage(String),
    /// A program that the recipe, or a part of it, needs is not installed.
    Missing(String),
}

impl Stop {
    pub(crate) fn missing(name: &str, how_to_get: &str) -> Self {
        Self::Missing(format!("{name} is missing; to get it: {how_to_get}"))
    }

    /// Names what could not be read, written or created, and why.
    pub(crate) fn at(place: impl fmt::Display) -> impl Fn(io::Error) -> Self {
        move |error| Self::Failed(format!("{place}: {error}"))
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Missing(_) => 3,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Failed(why) | Self::Usage(why) | Self::Missing(why)) = self;
        f.write_str(why)
    }
}

/// Fails with these faults below a heading, if there are any.
pub(crate) fn none_of(heading: &str, faults: &[String]) -> Result<(), Stop> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Stop::Failed(format!("{heading}\n  {}", faults.join("\n  "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted(["--one=2", "it's", "a b", ""]), r"--one=2 'it'\''s' 'a b' ''");
        assert_eq!(read(&format!("printf %s, {}", quoted(["$x", "it's", ""]))).unwrap(), "$x,it's,,");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_line_with_limits_ends() {
        const NEVER: Duration = Duration::MAX;
        const SOON: Duration = Duration::from_millis(200);
        for (words, cpu, idle, how) in [
            ("true", NEVER, NEVER, Ended::Well),
            ("printenv A", NEVER, NEVER, Ended::Well),
            ("false", NEVER, NEVER, Ended::Badly),
            ("no-such-program", NEVER, NEVER, Ended::Badly),
            // Whatever else the machine does.
            ("sleep 1", SOON, NEVER, Ended::Well),
            ("sleep 1000", NEVER, SOON, Ended::Hung),
            ("yes", SOON, NEVER, Ended::Slow),
        ] {
            let (ended, took) = end_within(Limits { cpu, idle }, "A=1", words, "/dev/null").unwrap();
            assert_eq!(ended, how, "{words}");
            assert!(ended != Ended::Slow || took >= SOON, "{words}: {took:?}");
        }
    }
}
