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

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::workload::{Extent, Scale};

    /// Those of one workload at a time, beside each other: most of it is waiting.
    #[test]
    fn every_contender_of_every_workload_comes_to_its_end() {
        let scale = Scale { extent: Extent::Trial, rounds: 1 };
        for workload in all() {
            thread::scope(|scope| {
                for contender in &workload.contenders {
                    scope.spawn(move || {
                        let (samples, _) = contender.run(&scale);
                        let are_numbers = samples.iter().all(|sample| sample.value.is_finite());
                        let name = contender.name;
                        assert!(!samples.is_empty() && are_numbers, "{}, {name}: {samples:?}", workload.name);
                    });
                }
            });
        }
    }
}
