//! What came out of a contest, how waits are timed, and a histogram of them, whose buckets are an eighth apart at most.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use crate::platform::{nanos_of, ticks};

/// What one thread or task got.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(super) acquisitions: u64,
    /// In ticks.
    waits: Waits,
}

impl Tally {
    /// The clock is read only around a wait, so that a free lock costs what it costs. To ask first whether it is free is what
    /// every contender does too, and none lets a `try` in where the waiting form would queue.
    #[inline]
    pub(super) fn acquire<G>(&mut self, tried: impl FnOnce() -> Option<G>, wait: impl FnOnce() -> G) -> G {
        self.acquisitions += 1;
        if let Some(guard) = tried() {
            return guard;
        }
        let start = ticks();
        let guard = wait();
        self.waited_since(start);
        guard
    }

    /// Here too only a wait is timed, from `start` or the end of the first poll. There is no `try` before, since to make and
    /// poll a future is what a free lock costs a task.
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
                start.get_or_insert_with(ticks);
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
    fn waited_since(&mut self, start: u64) {
        self.waits.add(ticks().saturating_sub(start));
    }
}

/// What all of them got, in which time.
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
        nanos_of(self.tallies.iter().map(|tally| tally.waits.longest()).max().unwrap_or(0))
    }

    /// The wait that one acquisition of a hundred exceeds, in nanoseconds.
    pub(crate) fn p99_wait(&self) -> f64 {
        let all = self.tallies.iter().map(|tally| tally.acquisitions).sum::<u64>();
        nanos_of(exceeded_by_at_most(all / 100, self.tallies.iter().map(|tally| &tally.waits)))
    }

    /// The fewest acquisitions of a contender, divided by the most.
    pub(crate) fn evenness(&self) -> f64 {
        let each = || self.tallies.iter().map(|tally| tally.acquisitions);
        let [fewest, most] = [each().min(), each().max()].map(|figure| figure.unwrap_or(0));
        fewest as f64 / most.max(1) as f64
    }
}

/// Bits of a wait that its bucket keeps, below the highest one.
const FINE: u32 = 3;
const BUCKETS: usize = 64 << FINE;

/// Of the waits only: an acquisition at once costs the histogram nothing.
#[derive(Clone, Debug)]
struct Waits {
    buckets: Box<[u32; BUCKETS]>,
    longest: u64,
}

impl Default for Waits {
    fn default() -> Self {
        Self { buckets: Box::new([0; BUCKETS]), longest: 0 }
    }
}

impl Waits {
    #[inline]
    fn add(&mut self, ticks: u64) {
        self.buckets[bucket(ticks)] += 1;
        self.longest = self.longest.max(ticks);
    }

    fn longest(&self) -> u64 {
        self.longest
    }
}

/// The wait that all but `most` of the acquisitions stay below, or are in the same bucket with. Zero if fewer waited.
fn exceeded_by_at_most<'a>(most: u64, waits: impl Iterator<Item = &'a Waits>) -> u64 {
    let mut sums = [0_u64; BUCKETS];
    for waits in waits {
        sums.iter_mut().zip(waits.buckets.iter()).for_each(|(sum, count)| *sum += u64::from(*count));
    }
    let mut longer = 0;
    let of_the_last = sums.iter().rposition(|count| {
        longer += count;
        longer > most
    });
    of_the_last.map_or(0, lower_end)
}

fn bucket(ticks: u64) -> usize {
    let highest = ticks.max(1 << FINE).ilog2();
    let fine = (ticks >> (highest - FINE)) & ((1 << FINE) - 1);
    (highest as usize) << FINE | fine as usize
}

fn lower_end(bucket: usize) -> u64 {
    let (highest, fine) = (bucket >> FINE, bucket & ((1 << FINE) - 1));
    (1 << FINE | fine as u64) << (highest - FINE as usize)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn the_fewest_and_the_longest_count() {
        let tally = |acquisitions, ticks| {
            let mut waits = Waits::default();
            waits.add(ticks);
            Tally { acquisitions, waits }
        };
        let tallies = vec![tally(50, 3), tally(200, 0), tally(100, 7)];
        let outcome = Outcome { tallies, time: Duration::from_millis(500) };
        assert_eq!(outcome.acquisitions(), 350.0);
        assert_eq!(outcome.per_second(), 700.0);
        assert_eq!(outcome.evenness(), 0.25);
        assert_eq!(outcome.longest_wait(), nanos_of(7));
        assert_eq!(outcome.p99_wait(), nanos_of(0), "three waits of 350 are fewer than one of a hundred");
        let nobody = Outcome { tallies: vec![tally(0, 0)], time: Duration::from_millis(500) };
        assert_eq!(nobody.evenness(), 0.0);
    }

    #[test]
    fn only_acquisitions_that_wait_are_timed() {
        let mut tally = Tally::default();
        tally.acquire(|| Some(()), || unreachable!("it is free"));
        assert_eq!((tally.acquisitions, tally.waits.longest()), (1, 0));
        let wait = || thread::sleep(Duration::from_millis(2));
        tally.acquire(|| None, wait);
        assert_eq!(tally.acquisitions, 2);
        assert!(nanos_of(tally.waits.longest()) > 1e6);
    }

    #[test]
    fn a_bucket_is_an_eighth_wide_at_most() {
        for ticks in [8, 9, 15, 16, 100, 1_000, 12_345_678, u64::MAX] {
            let end = lower_end(bucket(ticks));
            assert!(end <= ticks && ticks - end <= ticks / 8, "{ticks}: {end}");
        }
    }

    #[test]
    fn one_of_a_hundred_waits_longer() {
        let (mut one, mut other) = (Waits::default(), Waits::default());
        (0..98).for_each(|_| one.add(1 << 10));
        one.add(1 << 20);
        other.add(1 << 30);
        let waits = [one, other];
        assert_eq!(exceeded_by_at_most(0, waits.iter()), 1 << 30);
        assert_eq!(exceeded_by_at_most(1, waits.iter()), 1 << 20);
        assert_eq!(exceeded_by_at_most(2, waits.iter()), 1 << 10);
        assert_eq!(exceeded_by_at_most(100, waits.iter()), 0, "all may have waited longer");
        assert_eq!(waits.iter().map(Waits::longest).max(), Some(1 << 30));
    }
}
