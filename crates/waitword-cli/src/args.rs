//! The command line: subcommands, flags, and their help.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use waitword_host::DEFAULT_MAX_WORKERS;

use crate::numbers::{count, seconds, size};
use crate::test262::{Test262, Test262Case};

/// Runs JavaScript programs in which Atomics.wait and Atomics.waitAsync share one FIFO queue per word of memory, and shows who
/// waits in running Rust programs.
#[derive(Debug, Parser)]
#[command(name = "waitword", bin_name = "waitword", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Parses the command line of this process. An invalid one ends the process: usage on standard error, exit code 2.
    pub(crate) fn of_process() -> Self {
        Self::try_parse().unwrap_or_else(|mut mistake| {
            add_tip(&mut mistake);
            mistake.exit()
        })
    }
}

/// Adds a tip if `waitword FILE` was written, by analogy with `node FILE`.
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
    /// Internal: one test of `test262`, in a process of its own
    #[command(hide = true)]
    Test262Case(Test262Case),
}

/// Run a JavaScript file: an ES module or a script, with node:worker_threads
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{MORE}\n{EXIT_CODES}"))]
pub(crate) struct Run {
    /// The file to run (- for standard input), and the program's arguments, in process.argv from position 2 on
    ///
    /// A .mjs file is a module and a .cjs file a script. For other files, the "type" in the nearest package.json decides;
    /// without it, a file that uses import or export is a module. Everything after the file is passed to the program,
    /// flags too.
    // One list, because clap does not parse what follows the first value of such a list.
    #[arg(value_names = ["FILE", "ARG"], required = true, num_args = 1.., trailing_var_arg = true)]
    pub(crate) program: Vec<OsString>,

    /// Let Atomics.wait block the main agent, as in Node
    ///
    /// Without this flag, Atomics.wait throws a TypeError on the main agent, as in a browser; use Atomics.waitAsync there.
    /// Workers can always block.
    #[arg(long)]
    pub(crate) main_can_block: bool,

    /// End the program after this time, even inside a loop or a wait, with exit code 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,

    /// Report which agent waits where, and for whom, when the program hangs
    ///
    /// Prints a report to standard error when no agent can continue, when --timeout is reached, and (on Unix) at each SIGUSR1.
    /// For each word of shared memory with waiters it shows the queue, the age and the script line of each wait, the holder if
    /// the word is used as a lock, and the last agent that notified it. A worker that ended while it held a lock is named.
    /// Operations of Atomics are slower, because each looks up its script line. WAITWORD_OBSERVE=serve=SOCKET in the
    /// environment does the same, and serves the report to "waitword report SOCKET" and "waitword top SOCKET".
    #[arg(long)]
    pub(crate) observe: bool,

    /// Write a timeline of all agents' waits and locks to FILE, for ui.perfetto.dev or Firefox's profiler
    ///
    /// It has a lane per agent, slices for waits and for words held as locks, and an arrow from each notify to the waits that it
    /// woke. The last 200,000 steps are kept. Includes --observe, and costs as much.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Limit the memory of each agent's scripts: 64M, 2G, or bytes
    ///
    /// Counts all that an agent creates: its values, its SharedArrayBuffers until the last agent drops them, and the messages
    /// that it posted until they are received. What an agent starts with does not count. Beyond the limit, scripts get an
    /// InternalError "out of memory"; SharedArrayBuffer throws a RangeError, postMessage a DataCloneError.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true)]
    pub(crate) memory_limit: Option<usize>,

    /// Limit the memory of all agents together: 64M, 2G, or bytes
    ///
    /// Counts what --memory-limit counts for each agent, and what each agent starts with (about 600 KiB; a new agent needs
    /// 1 MiB). The stacks of the threads do not count. Beyond the limit, scripts get the same errors, and "new Worker" throws
    /// an Error with the code ERR_WORKER_INIT_FAILED.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true)]
    pub(crate) total_memory: Option<usize>,

    /// Limit the number of live workers in the program, whichever agent created them
    ///
    /// Beyond the limit, "new Worker" throws an Error with the code ERR_WORKER_INIT_FAILED. It also does so if the system
    /// cannot start another thread.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count, default_value_t = DEFAULT_MAX_WORKERS)]
    pub(crate) max_workers: usize,

    /// Limit the number of pending Atomics.waitAsync promises of each agent
    ///
    /// Beyond the limit, Atomics.waitAsync throws a RangeError if it would have to wait. Without this flag there is no limit.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) max_waits: Option<usize>,
}

impl Run {
    /// Returns the name of the file and the program's arguments, which must be UTF-8 because scripts get strings.
    ///
    /// # Errors
    /// A usage error.
    pub(crate) fn file_and_arguments(&self) -> Result<(OsString, Vec<String>), clap::Error> {
        let mistake = |kind, message: String| {
            let mut command = Arguments::command();
            // So that the usage names the whole command.
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
                let message = format!("argument {} of the program is not UTF-8: {argument:?}", at + 1);
                mistake(ErrorKind::InvalidUtf8, message)
            })
        };
        let arguments = arguments.iter().enumerate().map(text).collect::<Result<_, _>>()?;
        Ok((file.clone(), arguments))
    }
}

/// Show which threads and tasks of a running Rust program wait for which lock
///
/// The program uses waitword's locks, calls waitword_observe::init() in main, and was started with
/// WAITWORD_OBSERVE=serve=SOCKET in its environment (or calls waitword_observe::serve).
#[derive(Debug, Args)]
#[command(after_help = REPORT)]
pub(crate) struct Report {
    /// The path of the program's socket
    pub(crate) socket: PathBuf,

    /// Print the report as one line of JSON, with all waiters
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch the locks of a running Rust program: who waits for them, and who holds them
///
/// The program is set up as for "waitword report". It can also be a script, if "waitword run" was started with
/// WAITWORD_OBSERVE=serve=SOCKET in its environment.
#[cfg(feature = "terminal")]
#[derive(Debug, Args)]
#[command(after_help = TOP)]
pub(crate) struct Top {
    /// The path of the program's socket
    pub(crate) socket: PathBuf,

    /// The time between two reports
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) every: Duration,
}

#[cfg(feature = "terminal")]
const TOP: &str = "\
Faults are at the top: deadlocks, locks whose holder has ended, waiters that are
not polled. Below them are the locks, those with the most waiters first. The
program is not stopped.

Keys:
  up, down, k, j   choose a lock
  enter            show its holders and its queue, or return to the list
  s                sort by waiters, by the longest wait, by name
  p, space         pause
  control-l        redraw the screen
  q, escape        quit

Example:
  WAITWORD_OBSERVE=serve=/tmp/pool.sock pool &
  waitword top /tmp/pool.sock

Exit codes:
    0  q was pressed, even after the program has ended
    1  the first report failed, or the output is not a terminal (use waitword
       report)
    2  invalid command line
  143  ended by SIGTERM";

const REPORT: &str = "\
The report begins with its findings (waiters that are not polled, long waits,
deadlocks). The locks with the most waiters follow, each queue from its head.
The program is not stopped.

Examples:
  WAITWORD_OBSERVE=serve=/tmp/pool.sock pool &
  waitword report /tmp/pool.sock
  waitword report /tmp/pool.sock --json | jq '.findings'

Exit codes:
    0  the report was printed
    1  there is no report: no such socket, the program has ended, or another
       program answered; or the report cannot be written
    2  invalid command line";

/// Record a timeline of the locks of a running Rust program: who waited for whom
///
/// The program is set up as for "waitword report".
#[derive(Debug, Args)]
#[command(after_help = TRACE)]
pub(crate) struct Trace {
    /// The path of the program's socket
    pub(crate) socket: PathBuf,

    /// How long to record, from now on; at most 60
    #[arg(long, value_name = "SECONDS", value_parser = trace_seconds, allow_negative_numbers = true, default_value = "5")]
    pub(crate) seconds: Duration,

    /// Record every acquisition of a lock, not only contended ones
    #[arg(long)]
    pub(crate) all: bool,

    /// The file to write: a picture if its name ends with .svg, otherwise JSON for ui.perfetto.dev
    #[arg(short, long, value_name = "FILE", default_value = "trace.json")]
    pub(crate) output: PathBuf,
}

const TRACE: &str = "\
Open the file in https://ui.perfetto.dev, chrome://tracing or Firefox's profiler.
It has a lane for each thread, task and agent, slices for waits and holds, and an
arrow from each release to the wait that it ended.

Examples:
  waitword trace /tmp/pool.sock --seconds 5 -o trace.json
  waitword trace /tmp/pool.sock --seconds 0.1 --all -o trace.svg

Exit codes:
    0  the file was written
    1  it was not: no such socket, the program has ended, another program
       answered, or the file cannot be written
    2  invalid command line";

/// Observed programs refuse longer traces.
fn trace_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time <= Duration::from_secs(60) { Ok(time) } else { Err("expected at most 60 seconds".to_owned()) }
}

const EXIT_CODES: &str = "\
Exit codes:
    0  the program ended; or only Atomics.waitAsync promises were left that no
       agent can notify any more (they are listed)
    1  an uncaught error in the main agent or a worker, including those of the
       limits; a file that cannot be read or parsed; a deadlock (every agent is
       blocked or waits for another); with --observe, also a program that ends
       while an agent that has ended holds a lock
    2  invalid command line
   13  the main module awaits a promise that can never be settled
  124  --timeout was reached (what was pending is listed)
  141  the reader of the program's output closed it
    n  process.exit(n), or process.exitCode = n";

const MORE: &str = "\
Examples:
  waitword run examples/article/async-lock.js
  waitword run --main-can-block demo.mjs one two
  waitword run --timeout 10 --memory-limit 64M --max-workers 16 untrusted.js
  generate-program | waitword run - one two
  waitword run --observe --timeout 60 hangs-sometimes.mjs

What programs can use:
  ECMAScript 2024, files by import and require, timers, and the modules listed
  in docs/host.md. The same file runs on Node or, if it uses the Worker of web
  pages, in browsers.

When a program ends:
  A pending Atomics.waitAsync with a timeout keeps the program alive. One without
  a timeout does so only while another agent could still notify it. When nothing
  can happen any more, the program ends and lists the waits that it abandoned.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_declared_without_contradictions() {
        Arguments::command().debug_assert();
    }
}
