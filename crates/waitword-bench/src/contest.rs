//! Many who want one lock for a given time: how often they get it, how evenly, and how long one of them waits.

use std::future::{Future as _, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use crate::locks::{AsyncMutex, BlockingMutex, Mutex};
use crate::platform::{nanos_of, ticks};
use crate::work::Work;

/// The lock and what is done with it, until the time is over. Everybody asks for that before each turn, so nobody is left
/// waiting at the end, however unfair the lock.
pub(crate) struct Contest<M> {
    /// On cache lines of its own, away from what is only read.
    mutex: Apart<M>,
    over: AtomicBool,
    /// With the lock, and without it.
    inside: Work,
    outside: Work,
}

#[repr(align(128))]
struct Apart<T>(T);

impl<M: Mutex> Contest<M> {
    pub(crate) fn new(inside: Work, outside: Work) -> Self {
        // The comparison of the clocks is not to fall into the contest.
        nanos_of(0);
        Self { mutex: Apart(M::new()), over: AtomicBool::new(false), inside, outside }
    }

    /// Lets the others go on for a while, then tells them to stop. Returns how long they had.
    pub(crate) fn run_for(&self, time: Duration) -> Duration {
        let start = Instant::now();
        thread::sleep(time);
        self.over.store(true, Ordering::Relaxed);
        start.elapsed()
    }

    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }
}

impl<M: BlockingMutex> Contest<M> {
    /// Takes part as a thread.
    pub(crate) fn thread(&self) -> Tally {
        let mut tally = Tally::default();
        while self.goes_on() {
            let guard = self.lock(&mut tally);
            self.inside.run();
            drop(guard);
            self.outside.run();
        }
        tally
    }

    /// The clock is read only around a wait, so that a free lock costs what it costs. To ask first whether it is free is what
    /// the `lock` of every contender does too, and none lets a `try_lock` in where its `lock` would queue.
    #[inline]
    fn lock(&self, tally: &mut Tally) -> M::Guard<'_> {
        tally.acquisitions += 1;
        if let Some(guard) = self.mutex.0.try_lock() {
            return guard;
        }
        let start = ticks();
        let guard = self.mutex.0.lock();
        tally.waited_since(start);
        guard
    }
}

impl<M: AsyncMutex> Contest<M> {
    /// Takes part as a task that lets its executor go on between two turns.
    pub(crate) async fn task(&self) -> Tally {
        let mut tally = Tally::default();
        while self.goes_on() {
            {
                let _guard = self.lock_async(&mut tally).await;
                self.inside.run();
            }
            self.outside.run();
            yield_now().await;
        }
        tally
    }

    /// Takes part as a task that lets its executor go on while it has the lock.
    pub(crate) async fn task_across_yield(&self) -> Tally {
        let mut tally = Tally::default();
        while self.goes_on() {
            let guard = self.lock_async(&mut tally).await;
            self.inside.run();
            yield_now().await;
            drop(guard);
            self.outside.run();
        }
        tally
    }

    /// Here too only a wait is timed: from the first poll, unless that is what waits. The future is made each time, since to
    /// make it is what a free lock costs a task.
    #[inline]
    async fn lock_async(&self, tally: &mut Tally) -> M::Guard<'_> {
        tally.acquisitions += 1;
        let mut start = None;
        if M::BLOCKS_WORKER {
            if let Some(guard) = self.mutex.0.try_lock() {
                return guard;
            }
            start = Some(ticks());
        }
        let mut future = pin!(self.mutex.0.lock_async());
        let timed = poll_fn(|cx| {
            let poll = future.as_mut().poll(cx);
            if poll.is_pending() && start.is_none() {
                start = Some(ticks());
            }
            poll
        });
        let guard = timed.await;
        if let Some(start) = start {
            tally.waited_since(start);
        }
        guard
    }
}

/// What one thread or task got.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    acquisitions: u64,
    longest_ticks: u64,
}

impl Tally {
    #[inline]
    fn waited_since(&mut self, start: u64) {
        self.longest_ticks = self.longest_ticks.max(ticks().saturating_sub(start));
    }
}

/// Acquisitions of all of them.
pub(crate) fn acquisitions(tallies: &[Tally]) -> f64 {
    tallies.iter().map(|tally| tally.acquisitions).sum::<u64>() as f64
}

/// Of the one who waited longest, in nanoseconds.
pub(crate) fn longest_wait(tallies: &[Tally]) -> f64 {
    nanos_of(tallies.iter().map(|tally| tally.longest_ticks).max().unwrap_or(0))
}

/// Acquisitions of the one who got fewest, divided by those of the one who got most.
pub(crate) fn evenness(tallies: &[Tally]) -> f64 {
    let each = || tallies.iter().map(|tally| tally.acquisitions);
    let [fewest, most] = [each().min(), each().max()].map(|figure| figure.unwrap_or(0));
    fewest as f64 / most.max(1) as f64
}

/// Ready at the second poll, having woken itself at the first: the same on every executor.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_and_the_longest_count() {
        let tally = |acquisitions, longest_ticks| Tally { acquisitions, longest_ticks };
        let tallies = [tally(50, 3), tally(200, 0), tally(100, 7)];
        assert_eq!(acquisitions(&tallies), 350.0);
        assert_eq!(evenness(&tallies), 0.25);
        assert_eq!(longest_wait(&tallies), nanos_of(7));
        assert_eq!(evenness(&[tally(0, 0)]), 0.0);
    }
}
