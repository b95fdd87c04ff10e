//! A waker that panics in the very signal that starts the watchdog: so it is alone in its process.

mod common;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use common::Task;
use waitword::Mutex;

struct PanicsWhenCalled;

impl Wake for PanicsWhenCalled {
    fn wake(self: Arc<Self>) {
        panic!("the waker");
    }
}

#[test]
fn a_waker_that_panics_does_not_keep_the_waiters_behind_it_from_their_signals() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut first = pin!(mutex.lock_async());
    let waker = Waker::from(Arc::new(PanicsWhenCalled));
    assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let mut behind = Task::new(mutex.lock_async());
    assert!(behind.poll().is_pending());
    drop(guard);
    drop(behind.finish());
}
