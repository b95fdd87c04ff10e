//! The command `waitword`.
//!
//! - `args.rs`, `numbers.rs`: the command line
//! - `report.rs`: the messages when a program ends badly
//! - `observe.rs`, `agents_trace.rs`: the waiters of a script, and its timeline
//! - `attach.rs`, `top/`, `trace.rs`: the report and the timeline of another process
//! - `test262/`: the conformance suite, with a host of its own
//!
//! The programs themselves run in [`waitword_host`].

#![forbid(unsafe_code)]

mod agents_trace;
mod args;
mod attach;
mod numbers;
mod observe;
mod report;
mod test262;
#[cfg(feature = "terminal")]
mod top;
mod trace;

use std::process::exit;
use std::thread;
use std::time::Duration;

use waitword_host::{EXIT_TIMED_OUT, Program};

use agents_trace::Tracing;
use args::{Arguments, Command, Run};
use observe::Hang;

fn main() {
    match Arguments::of_process().command {
        Command::Run(run) => exit(run_program(run)),
        Command::Report(report) => exit(attach::run(&report)),
        #[cfg(feature = "terminal")]
        Command::Top(top) => exit(top::run(&top)),
        Command::Trace(trace) => exit(trace::run(&trace)),
        Command::Test262(test262) => exit(test262::run(&test262)),
        Command::Test262Case(case) => test262::run_case(case),
    }
}

/// How long after its timeout a program may take to end by itself. A program that takes longer is inside an operation of the engine that
/// cannot be interrupted, such as a power of a BigInt with millions of digits.
const GRACE: Duration = Duration::from_secs(2);

/// Ends this process after `timeout`, if the program has not ended by then.
fn end_after(timeout: Duration, hang: Option<Hang>, tracing: Option<Tracing>) {
    let clock = move || {
        thread::sleep(timeout);
        tracing.iter().for_each(Tracing::write);
        report::show_killed(hang.as_ref().and_then(Hang::report).as_ref());
        exit(EXIT_TIMED_OUT);
    };
    // Without this thread, the host's own timeout still ends a program that the engine can interrupt.
    let _ = thread::Builder::new().spawn(clock);
}

/// The exit code if the file of `--trace` cannot be written. The program does not run then.
const EXIT_NO_TRACE: i32 = 1;

/// The exit code of an observed program that came to a standstill with a lock that can never be acquired.
const EXIT_FAULT: i32 = 1;

fn run_program(run: Run) -> i32 {
    let (file, words) = run.file_and_arguments().unwrap_or_else(|mistake| mistake.exit());
    let program = if file == "-" { Program::stdin() } else { Program::new(file) };
    let mut program = program.arguments(words).main_can_block(run.main_can_block);
    if let Some(bytes) = run.memory_limit {
        program = program.memory_limit(bytes);
    }
    if let Some(bytes) = run.total_memory {
        program = program.total_memory(bytes);
    }
    program = program.max_workers(run.max_workers);
    if let Some(waits) = run.max_waits {
        program = program.max_waits(waits);
    }
    // A client of the socket may request a trace at any time.
    let is_traced = run.trace.is_some() || observe::is_asked_for_by_environment();
    let is_observed = run.observe || is_traced;
    let (observer, hang) = is_observed.then(|| observe::start(is_traced)).unzip();
    let tracing = observer.clone().zip(run.trace).map(|(observer, file)| Tracing::new(observer, file));
    let Ok(tracing) = tracing.transpose() else { return EXIT_NO_TRACE };
    if let Some(observer) = &observer {
        agents_trace::add_to_traces(observer.clone());
        program = program.observe(observer);
    }
    if let Some(timeout) = run.timeout {
        program = program.timeout(timeout);
        end_after(timeout.saturating_add(GRACE), hang.clone(), tracing.clone());
    }
    let ended = program.run();
    tracing.iter().for_each(Tracing::write);
    let hung = hang.as_ref().and_then(Hang::report).filter(|_| ended.is_standstill || ended.is_timed_out);
    report::show(&ended, hung.as_ref());
    match ended.exit_code {
        0 if hung.as_ref().is_some_and(observe::has_fault) => EXIT_FAULT,
        code => code,
    }
}
