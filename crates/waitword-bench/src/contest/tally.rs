//! The outcome of a contest, and how waits are timed.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use hdrhistogram::Histogram;
use quanta::Clock;

/// The outcome of one thread or task.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(super) acquisitions: u64,
    /// Reads the processor's counter, which costs little compared with a wait. An error of a few instructions does not matter either.
    clock: Clock,
    /// The waits in ticks of the clock. An acquisition without a wait is not recorded here, and costs nothing.
    waits: Histogram<u64>,
    longest: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { acquisitions: 0, clock: Clock::new(), waits: no_waits(), longest: 0 }
    }
}

/// An empty histogram, with buckets at most a sixteenth wide.
fn no_waits() -> Histogram<u64> {
    Histogram::new_with_max(u64::MAX / 2, 1).expect("the bounds are far apart, and one digit is allowed")
}

impl Tally {
    /// Reads the clock only around a wait, so that the cost of a free lock is not changed. Every contender's lock method first tries
    /// as this does, and no contender's `try` acquires where its waiting method would queue.
    #[inline]
    pub(super) fn acquire<G>(&mut self, tried: impl FnOnce() -> Option<G>, wait: impl FnOnce() -> G) -> G {
        self.acquisitions += 1;
        if let Some(guard) = tried() {
            return guard;
        }
        let start = self.now();
        let guard = wait();
        self.waited_since(start);
        guard
    }

    /// Also times only a wait, from `start` or the end of the first poll. There is no `try` before, because creating and
    /// polling a future is the cost of a free lock for a task.
    #[inline]
    pub(super) async fn acquire_async<G>(
        &mut self,
        wait: impl Future<Output = G>,
        mut start: Option<u64>,
    ) -> G {
        self.acquisitions += 1;
        let mut wait = pin!(wait);
        let timed = poll_fn(|cx| {
            let poll = wait.as_mut().poll(cx);
            if poll.is_pending() {
                start.get_or_insert_with(|| self.now());
            }
            poll
        });
        let guard = timed.await;
        if let Some(start) = start {
            self.waited_since(start);
        }
        guard
    }

    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.clock.raw()
    }

    #[inline]
    fn waited_since(&mut self, start: u64) {
        // The counters of two CPUs may differ a little, so that time seems to run backwards.
        self.waited(self.now().saturating_sub(start));
    }

    fn waited(&mut self, ticks: u64) {
        self.waits.saturating_record(ticks);
        self.longest = self.longest.max(ticks);
    }

    fn nanos_of(&self, ticks: u64) -> f64 {
        self.clock.delta_as_nanos(0, ticks) as f64
    }
}

/// The outcome of all threads, or of all tasks, and the time that they ran.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(super) tallies: Vec<Tally>,
    pub(super) time: Duration,
}

impl Outcome {
    pub(crate) fn acquisitions(&self) -> f64 {
        self.tallies.iter().map(|tally| tally.acquisitions).sum::<u64>() as f64
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.acquisitions() / self.time.as_secs_f64()
    }

    /// The longest wait of all, in nanoseconds.
    pub(crate) fn longest_wait(&self) -> f64 {
        self.tallies.iter().map(|tally| tally.nanos_of(tally.longest)).fold(0.0, f64::max)
    }

    /// The 99th percentile of the waits of all acquisitions, in nanoseconds.
    pub(crate) fn p99_wait(&self) -> f64 {
        let mut all = no_waits();
        for tally in &self.tallies {
            all.add(&tally.waits).expect("their bounds are the same");
            all.saturating_record_n(0, tally.acquisitions - tally.waits.len());
        }
        self.tallies.first().map_or(0.0, |tally| tally.nanos_of(all.value_at_quantile(0.99)))
    }

    /// The fewest acquisitions of a thread or task, divided by the most.
    pub(crate) fn evenness(&self) -> f64 {
        let each = || self.tallies.iter().map(|tally| tally.acquisitions);
        let [fewest, most] = [each().min(), each().max()].map(|figure| figure.unwrap_or(0));
        fewest as f64 / most.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A tally of this many acquisitions, some of which waited for these ticks.
    fn tally(acquisitions: u64, waits: &[u64]) -> Tally {
        let mut tally = Tally { acquisitions, ..Tally::default() };
        waits.iter().for_each(|&ticks| tally.waited(ticks));
        tally
    }

    fn outcome(tallies: Vec<Tally>) -> Outcome {
        Outcome { tallies, time: Duration::from_millis(500) }
    }

    #[test]
    fn the_fewest_and_the_longest_count() {
        let outcome = outcome(vec![tally(50, &[3_000]), tally(200, &[0]), tally(100, &[7_000])]);
        assert_eq!(outcome.acquisitions(), 350.0);
        assert_eq!(outcome.per_second(), 700.0);
        assert_eq!(outcome.evenness(), 0.25);
        assert_eq!(outcome.longest_wait(), outcome.tallies[0].nanos_of(7_000));
        assert_eq!(outcome.p99_wait(), 0.0, "three waits of 350 are fewer than one of a hundred");
        assert_eq!(self::outcome(vec![tally(0, &[])]).evenness(), 0.0);
    }

    #[test]
    fn only_acquisitions_that_wait_are_timed() {
        let mut tally = Tally::default();
        tally.acquire(|| Some(()), || unreachable!("it is free"));
        assert_eq!((tally.acquisitions, tally.waits.len()), (1, 0));
        // Compares ticks, because their length in nanoseconds may be estimated badly on a busy machine.
        let (clock, mut slept) = (tally.clock.clone(), 0);
        let sleeps = || {
            let start = clock.raw();
            thread::sleep(Duration::from_millis(2));
            slept = clock.raw() - start;
        };
        tally.acquire(|| None, sleeps);
        assert_eq!((tally.acquisitions, tally.waits.len()), (2, 1));
        assert!(slept > 0 && tally.longest > slept / 2);
    }

    #[test]
    fn one_of_a_hundred_waits_longer() {
        for (acquisitions, ticks) in [(100, 1 << 20), (200, 1 << 10), (10_000, 0)] {
            let most = tally(acquisitions - 1, &[&[1 << 10; 98][..], &[1 << 20]].concat());
            let outcome = outcome(vec![most, tally(1, &[1 << 30])]);
            let (p99, expected) = (outcome.p99_wait(), outcome.tallies[0].nanos_of(ticks));
            // Both are whole nanoseconds, rounded down.
            assert!((expected..=(expected + 1.0) * 17.0 / 16.0).contains(&p99), "{p99} ns, not {expected}");
        }
    }
}
