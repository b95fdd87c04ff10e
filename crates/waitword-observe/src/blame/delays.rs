//! The total time that the waiters of a queue have waited since a holder was last charged with it.
//!
//! Each waiter counts from its enqueue, or from the last charge. Walking the queue at each release would cost the releasing thread a time
//! proportional to the waiters. So the *sum* of these beginnings is kept: the delay at the time `t` is `waiters * t - sum`. Enqueue, leave
//! and charge change the sum by one term each.
//!
//! ```text
//!   enqueue at t     waiters + 1, sum + t
//!   leave at t       waiters - 1, sum - t      its wait stays in the difference, for the next charge
//!   charge at t      sum = waiters * t         the difference was charged
//! ```
//! Sums wrap around: the difference is right as long as it is less than 584 years. Waiters that enqueued before blame was started, or while
//! the clock did not run, are not counted.
//!
//! A waiter is counted under the lock of its shard, before any other thread can see it queued: so before it leaves or is charged.

use std::sync::atomic::{AtomicU64, Ordering};

use waitword_core::observe::{WaitsFor, nanos};

use crate::by_word::ByWord;

/// The delays in one queue.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    /// How many waiters are counted.
    waiters: u64,
    sum: u64,
    /// When a holder was charged last.
    charged: u64,
}

/// What a holder is charged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delay {
    /// How many waiters there were.
    pub(super) waiters: u64,
    /// How long they waited in total, in nanoseconds.
    pub(super) sum: u64,
    /// How long the head of the queue waited.
    pub(super) longest: u64,
}

/// At most 4,096 words have a queue here at a time. The waits of other words are charged one by one, when their waiters leave.
static QUEUES: ByWord<Delays, 256> = ByWord::new();

/// When blame was started: waiters from before are not counted.
static BEGAN: AtomicU64 = AtomicU64::new(u64::MAX);

/// Forgets all queues, and counts the waiters that enqueue from now on. `ask` makes the core call `queued` and `left`. Until `BEGAN` is set
/// after that, no waiter is counted. So for each waiter both the enqueue and the leave are counted, or neither.
pub(crate) fn start(ask: impl FnOnce()) {
    BEGAN.store(u64::MAX, Ordering::SeqCst);
    QUEUES.clear();
    ask();
    BEGAN.store(nanos(), Ordering::SeqCst);
}

/// A script's wait for a lock is a wait for a word to the queue.
fn is_counted(waits_for: WaitsFor, since: u64) -> bool {
    (waits_for.is_for_holder() || waits_for == WaitsFor::Word) && since >= BEGAN.load(Ordering::Relaxed)
}

/// A waiter has enqueued, under the lock of its shard.
pub(crate) fn queued(word: usize, waits_for: WaitsFor, since: Option<u64>) {
    if let Some(since) = since.filter(|since| is_counted(waits_for, *since)) {
        of_queue(word, true, |delays| delays.enter(since));
    }
}

/// A waiter that was queued since then leaves. The delay of the queue is taken now if the waiter `acquired` the lock, which was free before,
/// or if it is the last waiter, after which no release is charged.
pub(super) fn left(word: usize, waits_for: WaitsFor, since: u64, acquired: bool) -> Option<Delay> {
    if !is_counted(waits_for, since) {
        return None;
    }
    let taken = of_queue(word, false, |delays| {
        let now = nanos();
        let is_charged = acquired || delays.waiters <= 1;
        let delay = if is_charged { delays.charge_at(now, Some(since)) } else { None };
        delays.leave_at(1, now);
        delay
    });
    taken.unwrap_or_else(|| {
        let own = nanos().saturating_sub(since);
        Some(Delay { waiters: 1, sum: own, longest: own })
    })
}

/// The first of the waiters were notified.
pub(crate) fn left_many(word: usize, count: u64) {
    of_queue(word, false, |delays| delays.leave_at(count, nanos()));
}

/// Takes what has not been charged. The head of the queue has been there since `head`.
pub(super) fn charge(word: usize, head: Option<u64>) -> Option<Delay> {
    of_queue(word, false, |delays| delays.charge_at(nanos(), head)).flatten()
}

/// Changes the delays of a queue, which are forgotten if no waiter is left. `None`: the queue is not counted. With `add`, it is counted from
/// now on, if the table is not full.
fn of_queue<R>(word: usize, add: bool, change: impl FnOnce(&mut Delays) -> R) -> Option<R> {
    let changed = QUEUES.with(
        word,
        || add.then(Delays::default),
        |place| {
            let (_, delays) = place.as_mut()?;
            let result = change(delays);
            if delays.waiters == 0 {
                *place = None;
            }
            Some(result)
        },
    );
    changed.flatten()
}

impl Delays {
    fn enter(&mut self, time: u64) {
        self.waiters += 1;
        self.sum = self.sum.wrapping_add(time);
    }

    fn leave_at(&mut self, count: u64, time: u64) {
        let count = count.min(self.waiters);
        self.waiters -= count;
        self.sum = self.sum.wrapping_sub(count.wrapping_mul(time));
    }

    fn charge_at(&mut self, now: u64, head: Option<u64>) -> Option<Delay> {
        let sum = self.waiters.wrapping_mul(now).wrapping_sub(self.sum);
        let longest = head.map_or(0, |head| now.saturating_sub(head.max(self.charged)));
        let delay = Delay { waiters: self.waiters, sum, longest };
        (self.sum, self.charged) = (self.waiters.wrapping_mul(now), now);
        (delay.sum != 0).then_some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_charged_adds_up_to_what_was_waited() {
        let mut delays = Delays::default();
        let charged = |delay: Option<Delay>| delay.map_or((0, 0, 0), |of| (of.waiters, of.sum, of.longest));
        delays.enter(3200);
        delays.enter(4160);
        assert_eq!(charged(delays.charge_at(4800, Some(3200))), (2, 1600 + 640, 1600));
        // The head leaves at 5120, another comes at 5280.
        delays.leave_at(1, 5120);
        delays.enter(5280);
        assert_eq!(charged(delays.charge_at(5440, Some(4160))), (2, 320 + 640 + 160, 640));
        delays.leave_at(2, 5760);
        assert_eq!(charged(delays.charge_at(16_000, None)), (0, 320 + 320, 0));
        assert_eq!(delays.charge_at(28_800, None), None);
    }
}
