//! The queue, the locks and their peers, measured side by side.
//!
//! `workloads/` says what is measured; `queues.rs`, `words.rs`, `turns.rs` and `locks/` adapt the contenders to small traits;
//! `runner.rs` interleaves them; `report/` writes what came out. `js/` does the same with engines of JavaScript, each in a process of its
//! own, and the programs of `benches/js`.

mod args;
mod contest;
mod crowd;
mod executor;
mod js;
mod locks;
mod measure;
mod platform;
mod queues;
mod report;
mod runner;
mod series;
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
    match Args::parse().plan() {
        Ok(plan) => plan.run(),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
