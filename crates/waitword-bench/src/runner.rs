//! Rounds: every contender of a workload runs once in each, and each round begins with another of them.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

use crate::results::Results;
use crate::scale::Scale;
use crate::workload::{Topic, Workload};

/// Runs the workloads one after another.
pub(crate) fn run<'a>(workloads: &'a [Workload], scale: &Scale) -> Vec<Results<'a>> {
    let runs = workloads.iter().map(|workload| workload.contenders.len() * scale.rounds).sum::<usize>();
    let bar = progress(runs);
    let of_workload = |workload: &'a Workload| {
        run_one(workload.topic(), scale.rounds, &bar, |contender, results| {
            for sample in (workload.contenders[contender].run)(scale) {
                results.add(workload.contenders[contender].name, sample);
            }
        })
    };
    let results = workloads.iter().map(of_workload).collect();
    bar.finish_and_clear();
    results
}

/// Draws nothing where standard error is not a terminal.
pub(crate) fn progress(runs: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// `turn` is handed the index of the contender whose turn it is.
pub(crate) fn run_one<'a>(
    topic: Topic<'a>,
    rounds: usize,
    bar: &ProgressBar,
    mut turn: impl FnMut(usize, &mut Results<'a>),
) -> Results<'a> {
    if !std::io::stderr().is_terminal() {
        eprintln!("{}: {rounds} rounds", topic.name);
    }
    let contenders = topic.contenders.clone();
    let mut results = Results { topic, series: Vec::new(), failures: Vec::new() };
    for round in 0..rounds {
        for next in 0..contenders.len() {
            let contender = (round + next) % contenders.len();
            bar.set_message(format!("{}: {}", results.topic.name, contenders[contender]));
            turn(contender, &mut results);
            bar.inc(1);
        }
    }
    // Rounds begin with different contenders; tables list them as the topic does.
    results.series.sort_by_key(|series| contenders.iter().position(|other| *other == series.contender));
    results
}
