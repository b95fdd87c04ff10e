//! A participant of a round: what it does, drawn at random, and the ways to wait.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

pub(crate) struct Party {
    pub(crate) index: usize,
    random: u64,
}

impl Party {
    /// Whose choices follow from the three; how they meet those of others does not.
    pub(crate) fn new(seed: u64, round: u64, index: usize) -> Self {
        let mut random = seed;
        for part in [round, index as u64 + 1] {
            random = (random ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            random ^= random >> 32;
        }
        Self { index, random: random.max(1) }
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % bound
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// How many steps a participant takes: few, so that the round ends soon.
    pub(crate) fn steps(&mut self) -> usize {
        1 + self.below(4)
    }

    /// A time that is mostly up before it is one's turn.
    pub(crate) fn short(&mut self) -> Duration {
        Duration::from_micros(self.below(300) as u64)
    }

    /// What a thread does while it holds something.
    pub(crate) fn linger(&mut self) {
        match self.below(16) {
            0 => std::thread::sleep(Duration::from_micros(self.below(200) as u64)),
            1..4 => std::thread::yield_now(),
            4..8 => (0..self.below(2_000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }

    /// What a task does while it holds something.
    pub(crate) async fn linger_async(&mut self) {
        match self.below(16) {
            0..5 => smol::future::yield_now().await,
            5..8 => (0..self.below(2_000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }

    /// Polls `future` a few times, and drops it: when it is woken again, or before.
    pub(crate) async fn drop_soon<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let unwoken = self.one_in(2);
        self.drop_after_polls(future, unwoken).await
    }

    /// As [`drop_soon`](Self::drop_soon), whether it is woken or not.
    pub(crate) async fn drop_unwoken<F: Future>(&mut self, future: F) -> Option<F::Output> {
        self.drop_after_polls(future, true).await
    }

    async fn drop_after_polls<F: Future>(&mut self, future: F, unwoken: bool) -> Option<F::Output> {
        let mut polls = 1 + self.below(3);
        let mut future = pin!(future);
        poll_fn(|cx| {
            let Some(fewer) = polls.checked_sub(1) else { return Poll::Ready(None) };
            polls = fewer;
            let polled = future.as_mut().poll(cx).map(Some);
            if polled.is_pending() && (unwoken || polls > 0) {
                cx.waker().wake_by_ref();
            }
            polled
        })
        .await
    }
}
