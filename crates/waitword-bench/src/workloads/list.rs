//! All workloads, in the order of the report.

use super::{
    agent_death, blocking_round_trip, collisions, condvar, deadlines, growth, many_words, memory, mutex,
    not_equal, notify_all_stall, notify_miss, one_word, rw_lock, semaphore, task_round_trip, thread_herd,
    two_threads,
};
use crate::workload::Workload;

pub(crate) fn all() -> Vec<Workload> {
    let mut all = vec![
        notify_miss::workload(),
        not_equal::workload(),
        one_word::workload(),
        many_words::workload(),
        two_threads::workload(),
        memory::workload(),
        growth::workload(),
        collisions::workload(),
        notify_all_stall::workload(),
        agent_death::workload(),
        deadlines::workload(),
    ];
    all.extend(blocking_round_trip::workloads());
    all.extend([task_round_trip::workload(), thread_herd::wakes(), thread_herd::timeouts()]);
    all.extend([mutex::uncontended::workload(), mutex::held::workload()]);
    all.extend(mutex::threads::workloads());
    all.extend(mutex::tasks::workloads());
    all.extend(mutex::mixed::workloads());
    all.extend(condvar::bounded_queue::workloads());
    all.push(condvar::herd::workload());
    all.extend(rw_lock::workloads());
    all.extend(semaphore::workloads());
    #[cfg(feature = "observe")]
    all.push(super::snapshots::workload());
    all
}

pub(crate) fn names() -> Vec<&'static str> {
    all().iter().map(|workload| workload.name).collect()
}
