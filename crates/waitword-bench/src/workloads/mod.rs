//! What is measured, a file for each kind of question, and the order of the report.

mod bounded_queue;
mod contests;
mod crowds;
mod deadlines;
mod herds;
mod misses;
mod mixed;
mod neighbours;
mod round_trips;
#[cfg(feature = "observe")]
mod snapshots;
mod uncontended;

use crate::workload::Workload;

/// All of them, those of the queue first.
pub(crate) fn all() -> Vec<Workload> {
    let mut all = Vec::new();
    all.extend(misses::workloads());
    all.extend(crowds::workloads());
    all.extend(neighbours::workloads());
    all.extend(deadlines::workloads());
    all.extend(round_trips::workloads());
    all.extend(herds::workloads());
    #[cfg(feature = "observe")]
    all.extend(snapshots::workloads());
    all.extend(uncontended::workloads());
    all.extend(contests::workloads());
    all.extend(mixed::workloads());
    all.extend(bounded_queue::workloads());
    all
}

pub(crate) fn names() -> Vec<&'static str> {
    all().iter().map(|workload| workload.name).collect()
}
