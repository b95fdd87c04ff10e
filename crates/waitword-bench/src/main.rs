//! The queue, the locks and their peers, measured side by side.
//!
//! `workloads/` says what is measured, one file each; `queues/` and `locks/` adapt the contenders to small traits; `runner.rs`
//! interleaves them; `report/` writes what came out. `js/` does the same with engines of JavaScript, each in a process of its
//! own, and the programs of `benches/js`.

mod allocator;
mod args;
mod block_on;
mod common;
mod contest;
mod crowd;
mod executor;
mod herds;
mod js;
mod locks;
mod measure;
mod platform;
mod queues;
mod random;
mod report;
mod results;
mod runner;
mod scale;
mod series;
mod turns;
mod work;
mod workload;
mod workloads;

use std::process::ExitCode;

use crate::allocator::Counting;
use crate::args::Other;
use crate::report::Report;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let args = args::read();
    if let Some(Other::Js(args)) = &args.other {
        return js::run(args);
    }
    let chosen = args.choose(workloads::all());
    if chosen.is_empty() {
        eprintln!("nothing matches the filters; the workloads are: {}", workloads::names().join(", "));
        return ExitCode::FAILURE;
    }
    let results = runner::run(&chosen, &args.scale());
    let report = Report { results: &results, against: &report::peers };
    report.publish(args.folder(), args.common.json.as_deref())
}
