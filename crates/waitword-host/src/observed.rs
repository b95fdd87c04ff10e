//! What a parent can see of its worker from outside: how much of its time its event loop had nothing to do, and what it prints.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock;

/// Shared by a worker and the agent that made it.
#[derive(Default)]
pub(crate) struct Observed {
    usage: Mutex<Usage>,
    /// Of the standard output and the standard error.
    taps: Mutex<[Tap; 2]>,
}

#[derive(Default)]
struct Usage {
    online_since: Option<Instant>,
    idle: Duration,
    idle_since: Option<Instant>,
}

/// Whether a parent wants a copy of what its worker prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tap {
    /// The job in which it made the worker is not over: it may still ask for the stream, and have it from the beginning.
    #[default]
    Undecided,
    Wanted,
    Unwanted,
    /// It is for the parent alone, from the beginning.
    Kept,
}

impl Observed {
    /// The worker's script is about to start.
    pub(crate) fn goes_online(&self) {
        lock(&self.usage).online_since = Some(Instant::now());
    }

    pub(crate) fn falls_idle(&self) {
        lock(&self.usage).idle_since = Some(Instant::now());
    }

    pub(crate) fn wakes(&self) {
        let mut usage = lock(&self.usage);
        let slept = usage.idle_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        usage.idle += slept;
    }

    /// For how long it has been idle, and active, since it went online.
    pub(crate) fn idle_and_active(&self) -> (Duration, Duration) {
        let usage = lock(&self.usage);
        let Some(online_since) = usage.online_since else { return Default::default() };
        let now = Instant::now();
        let idle = usage.idle + usage.idle_since.map_or(Duration::ZERO, |since| now - since);
        (idle, (now - online_since).saturating_sub(idle))
    }

    /// `stream` is 1 for the standard output, and any other number for the standard error.
    pub(crate) fn set_tap(&self, stream: i32, tap: Tap) {
        lock(&self.taps)[usize::from(stream != 1)] = tap;
    }

    pub(crate) fn tap(&self, stream: i32) -> Tap {
        lock(&self.taps)[usize::from(stream != 1)]
    }
}
