//! The words on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use waitword_host::DEFAULT_MAX_WORKERS;

use crate::numbers::{count, seconds, size};
use crate::test262::{Test262, Test262Case};

/// Runs JavaScript programs whose agents wait on shared memory: one first-in-first-out queue per word, for
/// Atomics.wait and Atomics.waitAsync alike.
#[derive(Debug, Parser)]
#[command(name = "waitword", bin_name = "waitword", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// The words of this process. A mistake ends it: usage on the standard error, exit code 2.
    pub(crate) fn of_process() -> Self {
        Self::try_parse().unwrap_or_else(|mut mistake| {
            add_tip(&mut mistake);
            mistake.exit()
        })
    }
}

/// Who knows `node FILE` writes `waitword FILE`.
fn add_tip(mistake: &mut clap::Error) {
    let Some(ContextValue::String(word)) = mistake.get(ContextKind::InvalidSubcommand) else { return };
    let path = Path::new(word);
    let is_script =
        path.extension().is_some_and(|end| ["js", "mjs", "cjs"].iter().any(|script| end == *script));
    if is_script || path.is_file() {
        let tip = StyledStr::from(format!("to run a file: waitword run {word}"));
        mistake.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Run),
    Report(Report),
    #[cfg(feature = "terminal")]
    Top(Top),
    Trace(Trace),
    Test262(Test262),
    /// What `test262` starts for each test; of no use otherwise
    #[command(hide = true)]
    Test262Case(Test262Case),
}

/// Run a JavaScript file: an ES module or a script, with node:worker_threads
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{MORE}\n{EXIT_CODES}"))]
pub(crate) struct Run {
    /// The file to run, or - for the standard input, and what it finds in process.argv from position 2 on
    ///
    /// A .mjs file is a module and a .cjs file a script; any other is what the "type" in the nearest package.json says,
    /// or a module if it uses import or export. Whatever follows the file belongs to the program, flags too.
    // One list, because only what follows the first value of such a list is left alone.
    #[arg(value_names = ["FILE", "ARG"], required = true, num_args = 1.., trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,

    /// Let Atomics.wait block the main agent too, as Node does
    ///
    /// Without it, Atomics.wait on the main agent is a TypeError, as in a browser: there the main agent uses
    /// Atomics.waitAsync. Workers can always block.
    #[arg(long)]
    pub(crate) main_can_block: bool,

    /// End the program after so many seconds, wherever it is, with exit code 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,

    /// Show which agent waits where, and for whom, when the program hangs
    ///
    /// A report on the standard error when no agent can go on any more, when the time of --timeout is up, and (on Unix) at each
    /// SIGUSR1 while the program runs: each word of shared memory that agents wait on, its queue, since when and from which line
    /// of the script, who holds it if it is used as a lock, and who notified it last. A worker that has ended while it held a
    /// lock is named. Atomics are slower: each looks up its line. WAITWORD_OBSERVE=serve=SOCKET in the environment does the same,
    /// and gives the report to "waitword report SOCKET" and "waitword top SOCKET".
    #[arg(long)]
    pub(crate) observe: bool,

    /// Write a timeline of the waits and locks of all agents to FILE: ui.perfetto.dev and Firefox's profiler open it
    ///
    /// A lane per agent, slices for waits and for words held as locks, an arrow from each notify to those that it woke; the last
    /// 200,000 steps. As costly as --observe, which it includes.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Give the scripts of each agent at most so much memory: 64M, 2G, or bytes
    ///
    /// All that an agent makes counts: its values, its SharedArrayBuffers until the last agent lets go of them, and the
    /// messages that it posted until they are taken. Beyond it there is an InternalError, "out of memory"; a RangeError from
    /// SharedArrayBuffer, a DataCloneError from postMessage. What an agent starts with does not count.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true)]
    pub(crate) memory_limit: Option<usize>,

    /// Give all agents together at most so much memory: 64M, 2G, or bytes
    ///
    /// What --memory-limit counts of each agent comes out of this as well, and so does what each agent starts with (some
    /// 600 KiB; 1 MiB has to be left). Beyond it scripts get the same errors, and "new Worker" throws an Error with the code ERR_WORKER_INIT_FAILED. The
    /// stacks of the threads do not count.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true)]
    pub(crate) total_memory: Option<usize>,

    /// Let at most so many workers be alive at a time, wherever they were made
    ///
    /// Where one more is made, "new Worker" throws an Error with the code ERR_WORKER_INIT_FAILED; so it does when the system
    /// has no thread left.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count, default_value_t = DEFAULT_MAX_WORKERS)]
    pub(crate) max_workers: usize,

    /// Let each agent have at most so many pending promises of Atomics.waitAsync
    ///
    /// Beyond it Atomics.waitAsync throws a RangeError where it would have to wait. There is no limit without this.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) max_waits: Option<usize>,
}

impl Run {
    /// The name of the file, and what follows it, which is text: scripts get strings.
    ///
    /// # Errors
    /// A usage error.
    pub(crate) fn file_and_arguments(&self) -> Result<(OsString, Vec<String>), clap::Error> {
        let mistake = |kind, message: String| {
            let mut command = Arguments::command();
            // Names the whole command in the usage.
            command.build();
            let run = command.find_subcommand_mut("run").expect("it is declared above");
            run.error(kind, message)
        };
        let Some((file, arguments)) = self.program.split_first().filter(|(file, _)| !file.is_empty()) else {
            return Err(mistake(ErrorKind::ValueValidation, "the name of the file is empty".to_owned()));
        };
        let text = |(at, argument): (usize, &OsString)| {
            let text = argument.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                let message = format!("argument {} of the program is no UTF-8: {argument:?}", at + 1);
                mistake(ErrorKind::InvalidUtf8, message)
            })
        };
        let arguments = arguments.iter().enumerate().map(text).collect::<Result<_, _>>()?;
        Ok((file.clone(), arguments))
    }
}

/// Show which threads and tasks wait for which lock in a running Rust program
///
/// The program uses the locks of waitword, calls waitword_observe::init() in main, and was started with
/// WAITWORD_OBSERVE=serve=SOCKET in its environment (or calls waitword_observe::serve).
#[derive(Debug, Args)]
#[command(after_help = REPORT)]
pub(crate) struct Report {
    /// The path of the program's socket
    pub(crate) socket: PathBuf,

    /// Print the report as JSON, with all waiters, in one line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch which locks are waited for in a running Rust program, and who holds them
///
/// The program opts in as for "waitword report". Also a script that was started with WAITWORD_OBSERVE=serve=SOCKET in the
/// environment of "waitword run".
#[cfg(feature = "terminal")]
#[derive(Debug, Args)]
#[command(after_help = TOP)]
pub(crate) struct Top {
    /// The path of the program's socket
    pub(crate) socket: PathBuf,

    /// Ask for a new report every so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) every: Duration,
}

#[cfg(feature = "terminal")]
const TOP: &str = "\
The locks with the most waiters come first, above them what is wrong: deadlocks,
locks whose holder has ended, waiters that are not polled. The program goes on
meanwhile.

Keys:
  up, down, k, j   choose a lock
  enter            its holders and its queue, and back
  s                sort by waiters, by the longest wait, by name
  p, space         pause
  control-l        draw the screen anew
  q, escape        quit

Example:
  WAITWORD_OBSERVE=serve=/tmp/pool.sock pool &
  waitword top /tmp/pool.sock

Exit codes:
    0  q was pressed; also after the program has ended
    1  there was no report to begin with, or the output is no terminal: use
       waitword report
    2  a mistake on the command line
  143  a SIGTERM";

const REPORT: &str = "\
The report has what can be concluded first (waiters that are not polled,
long waits, deadlocks), then the locks with the most waiters, each queue from
its head. The program goes on meanwhile.

Examples:
  WAITWORD_OBSERVE=serve=/tmp/pool.sock pool &
  waitword report /tmp/pool.sock
  waitword report /tmp/pool.sock --json | jq '.findings'

Exit codes:
    0  there was a report
    1  there was none: no such socket, nobody listens, or another program does;
       or it could not be written
    2  a mistake on the command line";

/// Record a timeline of the locks of a running Rust program: who waited for whom
///
/// The program was started as for "waitword report".
#[derive(Debug, Args)]
#[command(after_help = TRACE)]
pub(crate) struct Trace {
    /// The path of the program's socket
    pub(crate) socket: PathBuf,

    /// Record for so long, from now on; 60 at most
    #[arg(long, value_name = "SECONDS", value_parser = trace_seconds, allow_negative_numbers = true, default_value = "5")]
    pub(crate) seconds: Duration,

    /// Record every acquisition of a lock, not only those for which somebody waited
    #[arg(long)]
    pub(crate) all: bool,

    /// The file to write: a picture if its name ends in .svg, otherwise JSON for ui.perfetto.dev
    #[arg(short, long, value_name = "FILE", default_value = "trace.json")]
    pub(crate) output: PathBuf,
}

const TRACE: &str = "\
Open the file in https://ui.perfetto.dev, in chrome://tracing or in Firefox's
profiler: a lane for each thread, task and agent, slices for waits and holds,
and an arrow from each release to the wait that it ended.

Examples:
  waitword trace /tmp/pool.sock --seconds 5 -o trace.json
  waitword trace /tmp/pool.sock --seconds 0.1 --all -o trace.svg

Exit codes:
    0  the file was written
    1  it was not: no such socket, nobody listens, another program does, or the
       file cannot be written
    2  a mistake on the command line";

/// The program refuses longer traces.
fn trace_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time <= Duration::from_secs(60) { Ok(time) } else { Err("give 60 seconds at most".to_owned()) }
}

const EXIT_CODES: &str = "\
Exit codes:
    0  the program ended; also if all that was left were promises of
       Atomics.waitAsync that no agent can notify any more (they are listed)
    1  an uncaught error, here or in a worker, among them those of
       the limits; a file that cannot be read or parsed;
       a deadlock: every agent blocked or waiting for another; with --observe,
       also an end in which a lock is held by an agent that has ended
    2  a mistake on the command line
   13  the main module awaits a promise that can never be settled
  124  the time of --timeout was up (what was pending is listed)
  141  the reader of the program's output has gone
    n  process.exit(n), or process.exitCode = n";

const MORE: &str = "\
Examples:
  waitword run examples/article/async-lock.js
  waitword run --main-can-block demo.mjs one two
  waitword run --timeout 10 --memory-limit 64M --max-workers 16 untrusted.js
  generate-program | waitword run - one two
  waitword run --observe --timeout 60 hangs-sometimes.mjs

What programs can use:
  ECMAScript 2024, files by import and require, timers, and the modules that
  docs/host.md lists. The same file runs on Node; one with the Worker of pages,
  in browsers.

When a program ends:
  A pending Atomics.waitAsync with a timeout keeps it alive; one without a
  timeout does only while another agent could still notify it. When nothing can
  happen any more, the program ends and says which waits it abandoned.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_declared_without_contradictions() {
        Arguments::command().debug_assert();
    }
}
