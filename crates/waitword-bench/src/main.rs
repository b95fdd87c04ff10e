//! The queue, the locks and their peers, measured side by side.
//!
//! `workloads/` says what is measured, one file each; `queues/` and `locks/` adapt the contenders to small traits; `runner.rs`
//! interleaves them; `report/` writes what came out.

mod allocator;
mod args;
mod block_on;
mod contest;
mod crowd;
mod executor;
mod locks;
mod measure;
mod platform;
mod queues;
mod report;
mod runner;
mod series;
mod turns;
mod work;
mod workloads;

use std::process::ExitCode;

use crate::allocator::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let args = args::read();
    let chosen = args.choose(workloads::all());
    if chosen.is_empty() {
        eprintln!("nothing matches the filters; the workloads are: {}", workloads::names().join(", "));
        return ExitCode::FAILURE;
    }
    let results = runner::run(&chosen, &args.scale());
    report::print(&results);
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
