//! Many futures in one piece of memory, polled by hand.
//!
//! No executor, and a waker that does nothing: what is measured is the queue. And the random order in which they are served.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Room for a number of futures, all pages touched.
pub(crate) struct Crowd<W> {
    slots: Pin<Box<[Option<W>]>>,
}

impl<W: Future> Crowd<W> {
    /// Room for `size` futures.
    pub(crate) fn new(size: usize) -> Self {
        Self { slots: (0..size).map(|_| None).collect::<Vec<_>>().into_boxed_slice().into() }
    }

    /// Puts `wait` into a slot and polls it once: it waits from now on.
    pub(crate) fn enter(&mut self, index: usize, wait: W) {
        assert!(self.enter_with(index, wait, Waker::noop()), "this wait has to wait");
    }

    /// As [`enter`](Self::enter), with a waker that does something. Returns whether the future waits.
    pub(crate) fn enter_with(&mut self, index: usize, wait: W, waker: &Waker) -> bool {
        let mut slot = self.slot(index);
        slot.set(Some(wait));
        let wait = slot.as_mut().as_pin_mut().expect("just put there");
        wait.poll(&mut Context::from_waker(waker)).is_pending()
    }

    /// Polls a notified future to its end, and drops it.
    pub(crate) fn finish(&mut self, index: usize) -> W::Output {
        let mut slot = self.slot(index);
        let wait = slot.as_mut().as_pin_mut().expect("neither finished nor cancelled yet");
        let Poll::Ready(output) = wait.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("this wait has been notified");
        };
        slot.set(None);
        output
    }

    /// Drops a future that waits.
    pub(crate) fn cancel(&mut self, index: usize) {
        self.slot(index).set(None);
    }

    fn slot(&mut self, index: usize) -> Pin<&mut Option<W>> {
        // SAFETY: the slots are pinned with the slice, and nothing moves what is in them.
        unsafe { self.slots.as_mut().map_unchecked_mut(|slots| &mut slots[index]) }
    }
}

/// All numbers below `limit`, in a random order that is the same in every run.
pub(crate) fn random_order(limit: usize) -> Vec<usize> {
    let mut order = (0..limit).collect::<Vec<_>>();
    fastrand::Rng::with_seed(limit as u64).shuffle(&mut order);
    order
}
