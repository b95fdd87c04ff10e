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

/// Who waits under the mutex for what another does under it, hears of it; as a thread, and as a task.
fn a_notify_is_never_missed(turn: Turn, all: bool) {
    model(move || {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (mutex, changed) = &*shared;
                let is_zero = |seen: &mut Seen| seen.get() == 0;
                match turn {
                    Blocking => {
                        let mut guard = mutex.lock();
                        changed.wait_while(&mut guard, is_zero);
                        guard.add();
                    }
                    Async => loom::future::block_on(async {
                        changed.wait_while_async(mutex.lock_async().await, is_zero).await.add();
                    }),
                    Dropped => {
                        let mut wait = pin!(changed.wait_async(mutex.lock()));
                        let _ = poll(wait.as_mut()).is_ready() || poll(wait.as_mut()).is_ready();
                    }
                }
            })
        };
        let (mutex, changed) = &*shared;
        mutex.lock().add();
        if all {
            changed.notify_all();
        } else {
            changed.notify_one();
        }
        waiter.join().unwrap();
        assert_eq!(mutex.lock().get(), if turn == Dropped { 1 } else { 2 });
    });
}

#[test]
fn condvar_a_thread_never_misses_a_notify() {
    a_notify_is_never_missed(Blocking, false);
}

#[test]
fn condvar_a_task_never_misses_a_notify() {
    a_notify_is_never_missed(Async, true);
}

#[test]
fn condvar_one_is_dropped() {
    a_notify_is_never_missed(Dropped, false);
}

/// Two wait, one of them is dropped at some time: the one notify reaches the other if it was not counted before that came.
#[test]
fn condvar_a_dropped_notify_goes_to_the_next() {
    model(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let mut dropped = Box::pin(changed.wait_async(mutex.lock()));
        assert!(poll(dropped.as_mut()).is_pending());
        let mut stays = Box::pin(changed.wait_async(mutex.lock()));
        assert!(poll(stays.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || assert_eq!(shared.1.notify_one(), 1))
        };
        drop(dropped);
        loom::future::block_on(stays);
        notifier.join().unwrap();
    });
}

/// How somebody takes permits, so many of two, and adds one to a number of which there is one for each permit.
#[derive(Clone, Copy)]
struct Take(Turn, usize);

impl Take {
    /// Whether it had them.
    fn run(self, semaphore: &Semaphore) -> bool {
        let Take(turn, n) = self;
        match turn {
            Blocking => semaphore.acquire_many(n).is_ok(),
            Async => loom::future::block_on(semaphore.acquire_many_async(n)).is_ok(),
            Dropped => {
                let mut acquire = pin!(semaphore.acquire_many_async(n));
                poll(acquire.as_mut()).is_ready() || poll(acquire.as_mut()).is_ready()
            }
        }
    }
}

/// Everybody has its turn, and all permits are back; loom reports a waiter that nobody calls as a deadlock.
fn everybody_has_permits(permits: usize, takes: &'static [Take]) {
    model(move || {
        let semaphore = Arc::new(Semaphore::new(permits));
        let run = |&take: &Take| {
            let semaphore = Arc::clone(&semaphore);
            move || take.run(&semaphore)
        };
        let (first, others) = takes.split_first().unwrap();
        let threads: Vec<_> = others.iter().map(|take| thread::spawn(run(take))).collect();
        let first_had = run(first)();
        assert!(first_had || first.0 == Dropped);
        for (thread, take) in threads.into_iter().zip(others) {
            assert!(thread.join().unwrap() || take.0 == Dropped);
        }
        assert_eq!(semaphore.available_permits(), permits);
        assert!(semaphore.try_acquire_many(permits).is_ok(), "kept for nobody");
    });
}

#[test]
fn semaphore_excludes_as_a_mutex_does() {
    model(|| {
        let shared = Arc::new((Semaphore::new(1), Seen::default()));
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let _permit = shared.0.acquire().unwrap();
                shared.1.add();
            })
        };
        {
            let _permit = loom::future::block_on(shared.0.acquire_async()).unwrap();
            shared.1.add();
        }
        thread.join().unwrap();
        assert_eq!(shared.1.get(), 2);
    });
}

#[test]
fn semaphore_few_and_many() {
    everybody_has_permits(2, &[Take(Blocking, 2), Take(Async, 1)]);
}

#[test]
fn semaphore_three() {
    everybody_has_permits(2, &[Take(Blocking, 2), Take(Async, 1), Take(Blocking, 1)]);
}

#[test]
fn semaphore_one_is_dropped() {
    everybody_has_permits(2, &[Take(Blocking, 1), Take(Dropped, 2), Take(Async, 1)]);
}

/// One call for two, who may both be served.
#[test]
fn semaphore_adds_for_two() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let threads = [Blocking, Async].map(|turn| {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || match turn {
                Blocking => semaphore.acquire().unwrap().forget(),
                _ => loom::future::block_on(semaphore.acquire_async()).unwrap().forget(),
            })
        });
        semaphore.add_permits(2);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(semaphore.available_permits(), 0);
    });
}

#[test]
fn semaphore_is_closed() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let threads = [Blocking, Async].map(|turn| {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || Take(turn, 1).run(&semaphore))
        });
        semaphore.close();
        assert!(!threads.into_iter().any(|thread| thread.join().unwrap()));
    });
}
