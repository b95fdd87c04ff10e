//! The workloads, one file per topic, and their order in the report.

mod bounded_queue;
mod contests;
mod crowds;
mod deadlines;
mod herds;
mod misses;
mod neighbours;
mod round_trips;
#[cfg(feature = "observe")]
mod snapshots;
mod uncontended;

use crate::workload::Workload;

/// All workloads, those of the queue first.
pub(crate) fn all() -> Vec<Workload> {
    let files = [
        misses::workloads,
        crowds::workloads,
        neighbours::workloads,
        deadlines::workloads,
        round_trips::workloads,
        herds::workloads,
        #[cfg(feature = "observe")]
        snapshots::workloads,
        uncontended::workloads,
        contests::workloads,
        bounded_queue::workloads,
    ];
    files.iter().flat_map(|workloads| workloads()).collect()
}

pub(crate) fn names() -> Vec<&'static str> {
    all().iter().map(|workload| workload.name).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::thread;

    use super::*;
    use crate::figures::{self, Figures};
    use crate::workload::TRIAL;

    /// Runs all contenders, those of one workload concurrently, because they mostly wait. The report must find the figures that its goals name.
    #[test]
    fn every_contender_of_every_workload_comes_to_its_end_and_has_the_figures_of_its_goals() {
        let all = all();
        let trial = |workload: &Workload| {
            let mut figures = Figures::of(workload.name);
            thread::scope(|scope| {
                let contenders = workload.contenders.iter();
                let runs = contenders.map(|it| (it.name, scope.spawn(|| it.run(&TRIAL)))).collect::<Vec<_>>();
                for (name, run) in runs {
                    let samples = run.join().unwrap();
                    let are_numbers = samples.iter().all(|sample| sample.value.is_finite());
                    assert!(!samples.is_empty() && are_numbers, "{}, {name}: {samples:?}", workload.name);
                    samples.into_iter().for_each(|sample| figures.add(name, sample));
                }
            });
            figures
        };
        let csv = figures::csv(&all.iter().map(trial).collect::<Vec<_>>());
        figures::pipe(&csv, figures::report().arg("--check").stdout(Stdio::null())).unwrap();
    }
}
