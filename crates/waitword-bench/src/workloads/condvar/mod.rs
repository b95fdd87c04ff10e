//! Condition variables: a bounded queue, and a herd that is woken at once.

mod bounded_queue;
mod herd;

use super::Workload;

pub(super) fn workloads() -> [Workload; 2] {
    [bounded_queue::workload(), herd::workload()]
}
