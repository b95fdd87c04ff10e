//! What two snapshots, or one, allow to conclude.

mod cycles;
mod graph;
mod waits;

use crate::finding::Finding;
use crate::model::Snapshot;

/// Conclusions from the waiters of `snapshot` alone: signalled waiters that are not polled, and long waits.
pub fn waits(snapshot: &Snapshot) -> Vec<Finding> {
    waits::find(snapshot)
}

/// Cycles of threads, tasks and agents in `later` that were there in `earlier` already.
///
/// Both snapshots are of one process, `earlier` taken before `later`. A cycle is made only of waits and holds that are in both, with the
/// same beginnings. So all of them existed at the same moment, and no cycle is put together from parts of different times. There is
/// none where holders are not recorded, or the clock did not run when the waits began.
///
/// Members of a cycle are waiters that wait for a turn without a deadline. Semaphores, condition variables and events are not followed:
/// permits and notifies may come from anywhere.
pub fn cycles(earlier: &Snapshot, later: &Snapshot) -> Vec<Finding> {
    let both = later.unchanged_since(earlier);
    cycles::find(&both).into_iter().map(Finding::Cycle).collect()
}

/// Signalled tasks that have not run between two snapshots: faults that [`waits`] of one of them may have as facts.
pub(crate) fn unpolled(earlier: &Snapshot, later: &Snapshot) -> Vec<Finding> {
    waits::unpolled(earlier, later)
}

/// Whether `snapshot` seems to have a cycle, which only a second snapshot can confirm.
pub(crate) fn has_cycle(snapshot: &Snapshot) -> bool {
    !cycles::find(snapshot).is_empty()
}
