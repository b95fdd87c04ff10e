//! A callback under the lock: its value, its panic, and the future dropped at every poll.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use waitword::word::AsyncLock;
use waitword::{NotLocked, forbid_blocking};

use crate::common::{Task, block_on};

#[test]
fn the_value_comes_back_and_the_lock_is_free() {
    let lock = AsyncLock::new();
    let _main_thread = forbid_blocking();
    let local = String::from("borrowed");
    assert_eq!(block_on(lock.execute_locked(|| (lock.is_locked(), local.len()))), (true, 8));
    assert!(!lock.is_locked());
    assert_eq!(block_on(lock.execute_locked_async(async || (lock.is_locked(), local.len()))), (true, 8));
    assert!(!lock.is_locked());
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let lock = AsyncLock::new();
    let ran = Cell::new(false);
    drop(lock.execute_locked(|| ran.set(true)));
    drop(lock.execute_locked_async(async || ran.set(true)));
    assert!(!ran.get() && !lock.is_locked());
}

#[test]
fn a_callback_waits_its_turn_without_blocking_the_thread() {
    let lock = AsyncLock::new();
    lock.lock();
    let ran = Cell::new(false);
    let mut task = Task::queued(lock.execute_locked(|| ran.set(true)));
    assert!(!ran.get());
    lock.unlock().unwrap();
    assert!(task.is_woken() && !ran.get(), "the callback runs where the future is polled");
    assert!(task.poll().is_ready() && ran.get());
    assert!(!lock.is_locked());
}

#[test]
fn a_panic_releases_the_lock_and_calls_the_next() {
    let lock = AsyncLock::new();
    let tasks = [
        Task::new(lock.execute_locked(|| panic!("in the callback"))),
        Task::new(lock.execute_locked_async(async || panic!("in the callback"))),
        Task::new(lock.execute_locked_async(async || {
            yield_now().await;
            panic!("later in the callback")
        })),
    ];
    for mut panicking in tasks {
        lock.lock();
        assert!(panicking.poll().is_pending());
        let next = Task::queued(lock.execute_locked(|| 7));
        lock.unlock().unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| while panicking.poll().is_pending() {}));
        assert!(panicked.is_err());
        assert!(!lock.is_locked() && next.is_woken());
        assert_eq!(next.finish(), 7);
    }
}

/// The future goes away after 0, 1, 2, … polls: before the lock is had, under it, between two awaits of the callback.
#[test]
fn dropped_at_every_poll_it_releases_the_lock_and_calls_the_next() {
    const AWAITS: usize = 3;
    // Held by another at first, or not.
    for held in [false, true] {
        for polls in 0.. {
            let lock = AsyncLock::new();
            let dropped_locked = Cell::new(None);
            if held {
                lock.lock();
            }
            let mut task = Task::new(lock.execute_locked_async(async || {
                // Goes with the callback's future, and must not find the lock free by then.
                let _witness = OnDrop(|| dropped_locked.set(Some(lock.is_locked())));
                for _ in 0..AWAITS {
                    yield_now().await;
                }
            }));
            let mut next = Task::new(lock.execute_locked(|| "next"));
            let mut done = false;
            for poll in 0..polls {
                assert!(!done);
                done = task.poll().is_ready();
                assert!(done || next.poll().is_pending());
                if held && poll == 0 {
                    lock.unlock().unwrap();
                }
            }
            drop(task);
            assert_ne!(dropped_locked.get(), Some(false), "the lock goes after what it protects");
            if held && polls == 0 {
                lock.unlock().unwrap();
            }
            assert_eq!(next.finish(), "next");
            assert!(!lock.is_locked());
            if done {
                assert_eq!(polls, AWAITS + 1 + usize::from(held));
                break;
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of rounds")]
fn callbacks_of_tasks_exclude_one_another_and_threads() {
    const ROUNDS: usize = 1_000;
    let (lock, is_held) = (AsyncLock::new(), AtomicBool::new(false));
    let alone = || {
        assert!(!is_held.swap(true, Ordering::SeqCst), "two are under the lock");
        thread::yield_now();
        is_held.store(false, Ordering::SeqCst);
    };
    let task = || {
        block_on(async {
            for _ in 0..ROUNDS {
                lock.execute_locked(alone).await;
                lock.execute_locked_async(async || alone()).await;
            }
        });
    };
    thread::scope(|scope| {
        (0..3).for_each(|_| drop(scope.spawn(task)));
        for _ in 0..ROUNDS {
            lock.lock();
            alone();
            lock.unlock().unwrap();
        }
    });
    assert!(!lock.is_locked());
}

#[test]
fn a_callback_that_unlocks_itself_does_no_harm() {
    let lock = AsyncLock::new();
    assert_eq!(block_on(lock.execute_locked(|| lock.unlock())), Ok(()));
    assert_eq!(lock.unlock(), Err(NotLocked));
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Pending once, and never woken: these tests poll by hand.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}
