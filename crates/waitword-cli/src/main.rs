//! The command line `waitword`: what the words on it mean (`args.rs`), and what its user gets to read when a program
//! ends badly (`report.rs`). The programs themselves run in [`waitword_quickjs::host`]. The conformance suite has a host
//! and a folder of its own (`test262/`).

#![forbid(unsafe_code)]

mod args;
mod report;
mod test262;

use std::process::exit;

use clap::Parser;
use waitword_quickjs::host::Program;

use args::{Arguments, Command, Run};

fn main() {
    // Bad flags end here: usage on the standard error, exit code 2.
    match Arguments::parse().command {
        Command::Run(run) => exit(run_program(run)),
        Command::Test262(test262) => exit(test262::run(&test262)),
        Command::Test262Case(case) => test262::run_case(case),
    }
}

fn run_program(run: Run) -> i32 {
    let mut words = run.program.into_iter();
    // clap asks for one at least.
    let file = words.next().unwrap_or_default();
    let ended = Program::new(file).arguments(words).main_can_block(run.main_can_block).run();
    report::show(&ended);
    ended.exit_code
}
