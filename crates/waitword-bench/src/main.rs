//! Benchmarks of the queue and the locks, compared with their peers.
//!
//! `workloads/` is the table of the workloads. `queues.rs`, `words.rs`, `turns.rs` and `locks/` adapt the contenders to small traits.
//! `runner.rs` interleaves the contenders. `figures.rs` writes the figures, which `benches/report.mjs` draws.

mod args;
mod contest;
mod crowd;
mod executor;
mod figures;
mod locks;
mod measure;
mod platform;
mod queues;
mod runner;
#[cfg(test)]
#[path = "../../waitword/tests/common/skip.rs"]
mod skip;
mod turns;
mod words;
mod work;
mod workload;
mod workloads;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Args;
use crate::measure::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let plan = Args::parse().plan();
    match plan
        .and_then(|plan| plan.run().map_err(|error| format!("the results could not be written: {error}")))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
