//! The programs of `benches/js` on waitword and on the engines beside it, in interleaved rounds.
//!
//! `programs.rs` knows which programs there are and what each has to print; `engine.rs` finds the engines; `process.rs` runs
//! one program once and reads its figures. What is done with the figures is the same as for all others (`report/`).

mod engine;
mod process;
mod programs;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::js::engine::Engine;
use crate::js::programs::Program;
use crate::report::Report;
use crate::runner::{self, Common, Results};
use crate::workload::Topic;

/// Measure waitword beside Node, and beside Deno and Bun where they are installed, with the programs of benches/js.
///
/// Within a round every engine runs a program once. A complete run writes benches/results/js.md; a quick or filtered one only
/// prints, unless --out says where to write. The exit code is 1 if a program did not get to its end on some engine.
#[derive(Debug, clap::Args)]
pub(crate) struct Javascript {
    #[command(flatten)]
    common: Common,

    /// Measure this engine too: a name, and the words of its command line before the program's file, such as d8=/opt/d8.
    ///
    /// Under the name of an engine that is found without this, it replaces that one.
    #[arg(long = "engine", value_name = "NAME=COMMAND", value_parser = engine::named)]
    engines: Vec<(String, Vec<String>)>,

    /// The binary of waitword to measure [default: the one beside this program].
    #[arg(long, value_name = "FILE")]
    waitword: Option<PathBuf>,
}

/// Measures and reports; the exit code says how it went.
pub(crate) fn run(args: &Javascript) -> ExitCode {
    let mut programs = programs::all();
    programs.retain(|program| args.common.wants(program.name));
    if programs.is_empty() {
        let names = programs::all().iter().map(|program| program.name).collect::<Vec<_>>();
        eprintln!("nothing matches the filter; the programs are: {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    let engines = match engine::find(args.waitword.as_deref(), &args.engines) {
        Ok(engines) => engines,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let has_baseline = engines.iter().any(|engine| engine.name == BASELINE);
    if !has_baseline {
        eprintln!("{BASELINE} is not installed: there is nothing to be ahead of");
    }
    let results = measure(&programs, &engines, args);
    let against = engines[1..].iter().map(|engine| engine.title.clone()).collect();
    let command = "cargo xtask bench-js";
    let report = Report { results: &results, command, page: "js.md", figures: "js.csv", against };
    report.publish(args.common.folder(has_baseline))
}

/// The engine that the others are compared with.
const BASELINE: &str = "node";

fn measure<'a>(programs: &'a [Program], engines: &[Engine], args: &Javascript) -> Vec<Results<'a>> {
    let rounds = args.common.rounds(3, 1);
    let of_program = |program: &'a Program| {
        runner::run_one(topic(program, engines), rounds, |index, results| {
            let engine = &engines[index];
            // An engine that failed once would fail again, and take its time.
            if results.failures.iter().any(|(name, _)| *name == engine.name) {
                return;
            }
            let (samples, failure) = process::run(engine, program, &programs::folder(), args.common.quick);
            samples.into_iter().for_each(|sample| results.add(engine.name, sample));
            results.failures.extend(failure.map(|why| (engine.name, why)));
        })
    };
    programs.iter().map(of_program).collect()
}

fn topic<'a>(program: &'a Program, engines: &[Engine]) -> Topic<'a> {
    Topic {
        name: program.name,
        about: program.about,
        contenders: engines.iter().map(|engine| engine.name).collect(),
        goals: program.goals(),
    }
}
