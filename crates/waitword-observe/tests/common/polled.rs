//! Tasks that a test polls by hand. A waker may be used again, as executors use the memory of a task that has ended.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

struct Task;

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

pub(crate) fn waker() -> Waker {
    Waker::from(Arc::new(Task))
}

pub(crate) fn poll<F: Future + ?Sized>(task: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    task.poll(&mut Context::from_waker(waker))
}

/// The output of a task that ends at its first poll.
pub(crate) fn ended<F: Future>(task: F, waker: &Waker) -> F::Output {
    match poll(std::pin::pin!(task), waker) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}
