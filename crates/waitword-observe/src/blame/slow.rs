//! Slow holds: holds that made others wait long. A line for each, kept until it is printed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use waitword_core::observe::Front;
use waitword_core::{count_threads, lock};

use super::table::Charge;
use crate::json::{count_nanos, nanos, optional_nanos};
use crate::model::{Actor, LockName, Site, sort};
use crate::names::names;
use crate::process::{self, task_actor};
use crate::record::Release;

/// How many slow holds are kept. Further ones are counted.
const KEPT: usize = 64;

/// The most waiters whose kinds are counted.
const CROWD: usize = 64;

/// Nanoseconds; 0: none is slow.
static THRESHOLD: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static SLOW: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// A slow hold, in the form in which it is kept.
struct Seen {
    charge: Charge,
    release: Release,
    thread: Thread,
    waiters: usize,
    threads: Option<usize>,
}

/// A hold that made another thread or task wait for at least the threshold. Its [`Display`](std::fmt::Display) is a line or two:
/// `slow: Mutex<Cache> held 3.0 s (src/cache.rs:52, thread "gc"); 12 waited (9 tasks, 3 threads), longest 2.9 s at src/http.rs:77`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    /// The lock.
    pub lock: LockName,
    /// Where it was acquired, if that is known.
    pub site: Option<Site>,
    /// The thread or task that acquired it; if that is not known, the thread that released it.
    pub actor: Actor,
    /// How long it was held, exact to 10 ms, if that is known.
    #[serde(rename = "held_ns", with = "optional_nanos", default)]
    pub held: Option<Duration>,
    /// How many waiters it had at its release.
    pub waiters: usize,
    /// How many of the waiters were threads; `None` of more than 64 waiters, which are not counted by kind.
    pub threads: Option<usize>,
    /// How long the holder made the head of the queue wait.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the head of the queue waited.
    pub longest_at: Option<Site>,
}

/// Returns the slow holds since the last call, the oldest first, and how many more were not kept: at most 64 are.
///
/// `WAITWORD_OBSERVE=1` prints them once per second. [`set_slow_threshold`](crate::set_slow_threshold) sets which holds are slow.
pub fn take_slow() -> (Vec<Slow>, u64) {
    let seen = std::mem::take(&mut *lock(&SLOW));
    let names = names();
    let slow = seen.into_iter().map(|Seen { charge, release, thread, waiters, threads }| Slow {
        lock: names.of(charge.word, sort(charge.waits_for).0),
        site: release.site.map(Site::from),
        actor: release.task.map_or_else(|| process::thread(&thread), task_actor),
        held: charge.held.map(Duration::from_nanos),
        waiters,
        threads,
        longest: Duration::from_nanos(charge.delay.longest),
        longest_at: charge.head_at.map(Site::from),
    });
    (slow.collect(), LOST.swap(0, Ordering::Relaxed))
}

/// Sets the threshold of slow holds ([`take_slow`]): a hold is slow if it made another thread or task wait for this long. With zero, no
/// hold is slow.
///
/// ```
/// waitword_observe::set_slow_threshold(std::time::Duration::from_millis(100));
/// ```
pub fn set_slow_threshold(threshold: Duration) {
    THRESHOLD.store(count_nanos(threshold), Ordering::Relaxed);
}

/// Keeps a hold if it is slow. If another thread is keeping or taking one at the same time, the hold is only counted, so that a release never
/// waits here.
pub(super) fn keep(front: &dyn Fn(&mut [usize]) -> Option<Front>, charge: Charge, release: &Release) {
    let threshold = THRESHOLD.load(Ordering::Relaxed);
    if threshold == 0 || charge.delay.longest < threshold {
        return;
    }
    let mut who = [0; CROWD];
    let waiters = front(&mut who).map_or(0, |front| front.len);
    let threads = (waiters <= CROWD).then(|| count_threads(&who[..waiters]));
    let slow = Seen { charge, release: *release, thread: thread::current(), waiters, threads };
    match SLOW.try_lock().ok().filter(|kept| kept.len() < KEPT) {
        Some(mut kept) => kept.push(slow),
        None => drop(LOST.fetch_add(1, Ordering::Relaxed)),
    }
}
