//! The snapshot since which a signalled task has not run.
//!
//! A snapshot marks the waiters that it sees signalled, and a task that runs removes its mark ([`WaiterSeen::was_seen_so`]). So a marked task
//! has not run since an earlier snapshot; the time of that snapshot is kept here. A task that was signalled, ran and was signalled again
//! between two snapshots has no mark, although both see it signalled.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Mutex;

use waitword::observe::{self, Actor, WaiterSeen, WaiterState};
use waitword_core::lock;
use waitword_core::time::Instant;

/// The word, the task and the beginning of a wait.
type Wait = (usize, usize, Option<Instant>);

/// When a snapshot first saw these waits signalled: those that the last one saw.
static FIRST_SEEN: Mutex<BTreeMap<Wait, Instant>> = Mutex::new(BTreeMap::new());

/// When a snapshot first saw each task signalled that has not run since.
pub(crate) struct FirstSeen(BTreeMap<Wait, Instant>);

impl FirstSeen {
    /// When that was, if an earlier snapshot saw this waiter so.
    pub(crate) fn of(&self, waiter: &WaiterSeen) -> Option<Instant> {
        self.0.get(&signalled(waiter)?).copied().filter(|_| waiter.was_seen_so)
    }
}

/// All waiters of the process's common queue.
pub(crate) fn waiters() -> (Vec<WaiterSeen>, FirstSeen) {
    // One snapshot at a time: the next one has to find here what this one has marked.
    let mut first_seen = lock(&FIRST_SEEN);
    let waiters = observe::snapshot();
    let (before, now) = (mem::take(&mut *first_seen), Instant::now());
    for (waiter, wait) in waiters.iter().filter_map(|waiter| Some((waiter, signalled(waiter)?))) {
        let since = before.get(&wait).filter(|_| waiter.was_seen_so).copied();
        first_seen.insert(wait, since.unwrap_or(now));
    }
    let first_seen = FirstSeen(first_seen.clone());
    (waiters, first_seen)
}

/// The wait of a signalled task.
fn signalled(waiter: &WaiterSeen) -> Option<Wait> {
    match waiter.actor {
        Actor::Task(task) if waiter.state != WaiterState::Queued => Some((waiter.word, task, waiter.since)),
        _ => None,
    }
}
