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

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Args, Other};
use crate::measure::Counting;
use crate::report::Report;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(Other::Js(args)) = &args.other {
        return js::run(args);
    }
    let chosen = args.choose(workloads::all());
    if chosen.is_empty() {
        eprintln!("nothing matches the filters; the workloads are: {}", workloads::names().join(", "));
        return ExitCode::FAILURE;
    }
    let results = runner::run(&chosen, &args.scale());
    let (command, against) = ("cargo xtask bench", versions(&PEERS.split(' ').collect::<Vec<_>>()));
    let report = Report { results: &results, command, page: "README.md", figures: "figures.csv", against };
    report.publish(args.folder())
}

/// The crates that are measured beside ours.
const PEERS: &str =
    "async-lock event-listener futures-intrusive maitake-sync parking_lot parking_lot_core saa tokio usync";

/// The versions of these crates, as the lock file of this build has them.
fn versions(names: &[&str]) -> Vec<String> {
    let mut name = "";
    // Of two versions the later one is ours; the lock file lists it last.
    let mut versions = BTreeMap::new();
    for line in include_str!("../../../Cargo.lock").lines() {
        let value = |prefix| line.strip_prefix(prefix).map(|rest: &str| rest.trim_matches(['"', ' ']));
        if let Some(next) = value("name = ") {
            name = next;
        } else if let Some(version) = value("version = ").filter(|_| names.contains(&name)) {
            versions.insert(name, version);
        }
    }
    versions.iter().map(|(name, version)| format!("{name} {version}")).collect()
}
