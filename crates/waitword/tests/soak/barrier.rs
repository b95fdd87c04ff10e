//! Of the waits that meet, one leads.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use waitword::{Barrier, BarrierWaitResult};

use crate::player::{Player, blocking, polling};
use crate::world::waiters;

const PARTIES: usize = 3;

pub(crate) struct OneBarrier {
    barrier: Arc<Barrier>,
    passed: AtomicUsize,
    leaders: AtomicUsize,
    /// Futures that may have met the others all the same.
    dropped: AtomicUsize,
}

impl OneBarrier {
    pub(crate) fn new() -> Self {
        let none = || AtomicUsize::new(0);
        Self { barrier: Arc::new(Barrier::new(PARTIES)), passed: none(), leaders: none(), dropped: none() }
    }

    pub(crate) fn step(&self, player: &mut Player) {
        if player.one_in(8) {
            return self.barrier.try_wait().into_iter().for_each(|result| self.count(result));
        }
        let result = blocking! { player:
            Ok(self.barrier.wait()),
            timeout => self.barrier.wait_for(timeout),
            deadline => self.barrier.wait_until(deadline)
        };
        result.into_iter().for_each(|result| self.count(result));
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let result = if player.one_in(2) {
            polling! { player:
                Ok(self.barrier.wait_async().await),
                timeout => self.barrier.wait_async_for(timeout),
                deadline => self.barrier.wait_async_until(deadline)
            }
        } else {
            polling! { player:
                Ok(self.barrier.wait_owned_async().await),
                timeout => self.barrier.wait_owned_async_for(timeout),
                deadline => self.barrier.wait_owned_async_until(deadline)
            }
        };
        match result {
            Some(result) => result.into_iter().for_each(|result| self.count(result)),
            None => drop(self.dropped.fetch_add(1, Ordering::SeqCst)),
        }
    }

    fn count(&self, result: BarrierWaitResult) {
        self.passed.fetch_add(1, Ordering::SeqCst);
        self.leaders.fetch_add(usize::from(result.is_leader()), Ordering::SeqCst);
    }

    /// Comes as often as it takes for one other, and goes again if others were enough.
    pub(crate) fn help(&self) {
        if self.barrier.arrived() == 0 {
            return;
        }
        let mut arrivals: Vec<_> = (1..PARTIES).map(|_| Box::pin(self.barrier.wait_async())).collect();
        // The first may have met the others when the last has come.
        for _ in 0..2 {
            arrivals.retain_mut(|arrival| {
                match arrival.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(result) => self.count(result),
                    Poll::Pending => return true,
                }
                false
            });
        }
        self.dropped.fetch_add(arrivals.len(), Ordering::SeqCst);
    }

    pub(crate) fn check(&self) {
        let [passed, leaders, dropped] =
            [&self.passed, &self.leaders, &self.dropped].map(|count| count.load(Ordering::SeqCst));
        let met = PARTIES * leaders;
        assert!(
            passed <= met && met <= passed + dropped,
            "{leaders} led {passed}, and {dropped} were dropped"
        );
        assert_eq!(self.barrier.arrived(), 0);
    }

    pub(crate) fn queued(&self) -> usize {
        waiters(&*self.barrier)
    }
}
