//! A thread as the executor of one future.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use waitword_core::Parker;

/// Polls on this thread, which parks in between.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::current();
    let mut cx = Context::from_waker(parker.waker());
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.park(),
        }
    }
}
