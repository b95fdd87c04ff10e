//! The queue and its peers, measured side by side.
//!
//! `workloads/` says what is measured, one file each; `queues/` adapts the contenders to one trait; `runner.rs`
//! interleaves them; `report/` writes what came out.

mod allocator;
mod args;
mod crowd;
mod measure;
mod platform;
mod queues;
mod report;
mod runner;
mod series;
mod turns;
mod workloads;

use std::process::ExitCode;

use crate::allocator::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let args = args::read();
    let chosen =
        workloads::all().into_iter().filter(|workload| args.chooses(workload.name)).collect::<Vec<_>>();
    if chosen.is_empty() {
        eprintln!("no workload matches the filter; there are: {}", workloads::names().join(", "));
        return ExitCode::FAILURE;
    }
    let results = runner::run(&chosen, &args.scale());
    print!("{}", report::markdown::page(&results));
    match report::write(&results, &args) {
        Ok(written) => {
            written.iter().for_each(|path| eprintln!("wrote {}", path.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("the results could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}
