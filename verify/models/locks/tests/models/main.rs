//! Model checks of the locks, over the real queue.
//!
//! `cargo xtask loom` runs them under loom: every interleaving, up to the preemption bound, and what the memory model allows
//! between. It prints its command line.
//!
//! A thread that is never woken is a deadlock, which the checker reports. A deadline in the future never comes here; with
//! one that has passed, the waiter enqueues and leaves the queue again.
#![cfg(waitword_loom)]

/// A test for each row: its name, and its models, one after the other.
macro_rules! tests {
    ($($name:ident: $($model:expr),+;)+) => {$(
        #[test]
        fn $name() {
            $($model;)+
        }
    )+};
}

/// A test that is one model, on what its threads share.
macro_rules! model {
    ($name:ident, $body:expr) => {
        tests! { $name: model($body); }
    };
}

macro_rules! model_of_two {
    ($name:ident, $body:expr) => {
        tests! { $name: model_of_two($body); }
    };
}

/// The same of what has no value to begin with, and with how many preemptions.
macro_rules! check {
    ($name:ident, $preemptions:literal, $body:expr) => {
        tests! { $name: check($preemptions, $body); }
    };
}

mod async_lock;
mod barrier;
mod condvar;
mod event;
mod holders;
mod keyed;
mod mutex;
mod once;
mod rwlock;
mod semaphore;
mod wait_group;

/// Sources of `waitword-observe`, built once more on the atomics of the models.
#[allow(dead_code, reason = "the models call a part")]
#[path = "../../../../../crates/waitword-observe/src/record/record.rs"]
mod record;
#[allow(dead_code, reason = "the models call a part")]
#[path = "../../../../../crates/waitword-observe/src/site_ptr.rs"]
mod site_ptr;
#[path = "../../../../../crates/waitword-observe/src/sync.rs"]
mod sync;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::thread;

/// A model of two threads, on what they share.
fn model_of_two<T: Default>(body: impl Fn(Arc<T>) + Sync + Send + 'static) {
    check(3, move || body(Arc::default()));
}

/// A model of three threads or more: each preemption more takes ten times as long.
fn model<T: Default>(body: impl Fn(Arc<T>) + Sync + Send + 'static) {
    check(2, move || body(Arc::default()));
}

fn check(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // One less for `cargo xtask loom --quick`, one more for `--deep`. LOOM_MAX_PREEMPTIONS overrides all.
    let [is_quick, is_deep] =
        ["LOOM_QUICK", "LOOM_DEEP"].map(|mode| usize::from(std::env::var_os(mode).is_some()));
    builder.preemption_bound = builder.preemption_bound.or(Some(1.max(preemptions - is_quick) + is_deep));
    builder.check(body);
}

/// A number whose accesses have to exclude and to see each other: for loom any other two are a race.
#[derive(Default)]
struct Seen(loom::cell::UnsafeCell<u32>);

// SAFETY: loom reports two accesses of which neither happens before the other, and stops before the second.
unsafe impl Sync for Seen {}

impl Seen {
    fn add(&self) {
        // SAFETY: as above.
        self.0.with_mut(|number| unsafe { *number += 1 });
    }

    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|number| unsafe { *number })
    }
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The output of a future that is dropped after its second poll at the latest.
fn poll_twice<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    (0..2).find_map(|_| match poll(future.as_mut()) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

/// A future that was polled once, and is queued.
fn queued<'a, F: Future + 'a>(future: F) -> Pin<Box<F>> {
    let mut future = Box::pin(future);
    assert!(poll(future.as_mut()).is_pending());
    future
}

/// Another thread, on what both share. loom's bound counts the first switch to another thread as well, unless this one waits:
/// so where all do the same, this thread does nothing.
fn spawn<T: Send + Sync + 'static, R: Send + 'static>(
    shared: &Arc<T>,
    run: impl FnOnce(&T) -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || run(&shared))
}
