//! Mutexes: the uncontended one, then contests among threads, among tasks, and among both.

mod mixed;
mod tasks;
mod threads;
mod uncontended;

use super::Workload;

pub(super) fn workloads() -> Vec<Workload> {
    let mut workloads = vec![uncontended::workload()];
    workloads.extend(threads::workloads());
    workloads.extend(tasks::workloads());
    workloads.push(mixed::workload());
    workloads
}
