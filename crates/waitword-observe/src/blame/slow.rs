//! Locks that were held so that others waited long.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use waitword_core::observe;

use crate::model::{Actor, LockName, Site};
use crate::names::names;
use crate::process::{sort, task_actor, thread};

/// A lock was held so that another waited for longer than the threshold. Its [`Display`](std::fmt::Display) is a line or two:
/// `slow: Mutex<Cache> held 3.0 s (src/cache.rs:52, thread "gc"); 12 waited (9 tasks, 3 threads), longest 2.9 s at src/http.rs:77`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    /// The lock.
    pub lock: LockName,
    /// Where it was taken, if that is known.
    pub site: Option<Site>,
    /// What took it; if that is not known, the thread that released it.
    pub actor: Actor,
    /// How long it was held, if that is known: to 10 ms.
    #[serde(rename = "held_ns", with = "crate::model::optional_nanos", default)]
    pub held: Option<Duration>,
    /// How many waited when it was released.
    pub waiters: usize,
    /// How many of these were threads; `None` where that was not counted, of more than 64 waiters.
    pub threads: Option<usize>,
    /// How long the holder made the head of the queue wait.
    #[serde(rename = "longest_ns", with = "crate::model::nanos")]
    pub longest: Duration,
    /// Where that one waited.
    pub longest_at: Option<Site>,
}

/// The slow holds since the last call, the oldest first, and how many more there were for which there was no room: 64 are kept.
///
/// `WAITWORD_OBSERVE=1` prints them once per second. What is slow: [`set_slow_threshold`](crate::set_slow_threshold).
pub fn take_slow() -> (Vec<Slow>, u64) {
    let (seen, lost) = observe::take_slow();
    let names = names();
    let slow = seen.into_iter().map(|seen| Slow {
        lock: names.of(seen.word, sort(seen.waits_for).0),
        site: seen.site.map(Site::from),
        actor: seen.task.map_or_else(|| thread(&seen.thread), task_actor),
        held: seen.held,
        waiters: seen.waiters,
        threads: seen.threads,
        longest: seen.longest,
        longest_at: seen.longest_at.map(Site::from),
    });
    (slow.collect(), lost)
}
