//! Many futures in one allocation, polled by hand.
//!
//! There is no executor, and the waker does nothing, so that only the queue is measured. Also the random order in which futures are served.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Slots for a number of futures. All pages of the memory are touched.
pub(crate) struct Crowd<W> {
    slots: Pin<Box<[Option<W>]>>,
}

impl<W: Future> Crowd<W> {
    /// Creates `size` slots.
    pub(crate) fn new(size: usize) -> Self {
        Self { slots: (0..size).map(|_| None).collect::<Vec<_>>().into_boxed_slice().into() }
    }

    /// Puts `wait` into a slot and polls it once, after which it must be waiting.
    pub(crate) fn enter(&mut self, index: usize, wait: W) {
        assert!(self.enter_with(index, wait, Waker::noop()), "this wait has to wait");
    }

    /// As [`enter`](Self::enter), with a waker of the caller. Returns whether the future waits.
    pub(crate) fn enter_with(&mut self, index: usize, wait: W, waker: &Waker) -> bool {
        let mut slot = self.slot(index);
        slot.set(Some(wait));
        let wait = slot.as_mut().as_pin_mut().expect("just put there");
        wait.poll(&mut Context::from_waker(waker)).is_pending()
    }

    /// Polls a notified future, which must be ready, and drops it.
    pub(crate) fn finish(&mut self, index: usize) -> W::Output {
        let mut slot = self.slot(index);
        let wait = slot.as_mut().as_pin_mut().expect("neither finished nor cancelled yet");
        let Poll::Ready(output) = wait.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("this wait has been notified");
        };
        slot.set(None);
        output
    }

    /// Drops a waiting future.
    pub(crate) fn cancel(&mut self, index: usize) {
        self.slot(index).set(None);
    }

    fn slot(&mut self, index: usize) -> Pin<&mut Option<W>> {
        // SAFETY: the slots are pinned with the slice, and nothing moves their contents.
        unsafe { self.slots.as_mut().map_unchecked_mut(|slots| &mut slots[index]) }
    }
}

/// The numbers below `limit`, in a random order that is the same in every run.
pub(crate) fn random_order(limit: usize) -> Vec<usize> {
    let mut order = (0..limit).collect::<Vec<_>>();
    fastrand::Rng::with_seed(limit as u64).shuffle(&mut order);
    order
}
