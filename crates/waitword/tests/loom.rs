//! Model checks of the locks: every interleaving (up to the preemption bound), and what the memory model allows between.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p waitword --test loom`
#![cfg(loom)]

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use waitword::*;

/// A number that loom sees: two who reach it at once are a race, and so is one who does not see what another did.
#[derive(Default)]
struct Seen(UnsafeCell<u32>);

impl Seen {
    fn add(&self) {
        self.0.with_mut(|number| unsafe { *number += 1 });
    }

    fn get(&self) -> u32 {
        self.0.with(|number| unsafe { *number })
    }
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // Overridden by LOOM_MAX_PREEMPTIONS.
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(body);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// How somebody takes a mutex and adds one to what is in it.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Blocking,
    Async,
    /// As a future that is dropped after its second poll at the latest, whatever it was told meanwhile.
    Dropped,
}
use Turn::*;

impl Turn {
    fn take(self, mutex: &Mutex<Seen>) {
        match self {
            Blocking => mutex.lock().add(),
            Async => loom::future::block_on(mutex.lock_async()).add(),
            Dropped => {
                let mut lock = pin!(mutex.lock_async());
                if let Poll::Ready(guard) = poll(lock.as_mut()) {
                    guard.add();
                } else if let Poll::Ready(guard) = poll(lock.as_mut()) {
                    guard.add();
                }
            }
        }
    }
}

/// Everybody gets in, nobody with another; loom reports a waiter that nobody calls as a deadlock.
fn everybody_gets_in(turns: &'static [Turn]) {
    model(move || {
        let mutex = Arc::new(Mutex::new(Seen::default()));
        let run = |&turn: &Turn| {
            let mutex = Arc::clone(&mutex);
            move || turn.take(&mutex)
        };
        let (first, others) = turns.split_first().unwrap();
        let threads: Vec<_> = others.iter().map(|turn| thread::spawn(run(turn))).collect();
        run(first)();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let certain = turns.iter().filter(|&&turn| turn != Dropped).count() as u32;
        let entered = mutex.lock().get();
        assert!((certain..=turns.len() as u32).contains(&entered), "{entered} of {}", turns.len());
    });
}

#[test]
fn mutex_two_threads() {
    everybody_gets_in(&[Blocking, Blocking]);
}

#[test]
fn mutex_thread_and_task() {
    everybody_gets_in(&[Async, Blocking]);
}

#[test]
fn mutex_three() {
    everybody_gets_in(&[Blocking, Async, Blocking]);
}

#[test]
fn mutex_one_is_dropped() {
    everybody_gets_in(&[Blocking, Dropped, Async]);
}

/// Who is never polled keeps nobody from the lock once the table has been swept.
#[test]
fn mutex_one_is_never_polled() {
    model(|| {
        let mutex = Arc::new(Mutex::new(Seen::default()));
        let guard = mutex.lock();
        let mut unpolled = pin!(mutex.lock_async());
        assert!(poll(unpolled.as_mut()).is_pending());
        let behind = {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || Blocking.take(&mutex))
        };
        drop(guard);
        // What the clock would do: two sweeps after the call, whenever that is.
        while Table::global().call_overdue() {
            thread::yield_now();
        }
        behind.join().unwrap();
        // Perhaps it is kept for the one in line.
        let guard = loom::future::block_on(unpolled);
        assert_eq!(guard.get(), 1);
    });
}
