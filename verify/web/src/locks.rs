//! The locks between a page and its workers.

use std::cell::UnsafeCell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use js_sys::{Function, Reflect};
use waitword::time::Instant;
use waitword::{Barrier, Condvar, Event, LockError, Mutex, OnceLock, RwLock, Semaphore};
use waitword_web::spawn;
use wasm_bindgen::JsValue;

use crate::tools::{join, step, until, waiters_of_mutexes, workers};

const WORKERS: u32 = 3;

/// A count that two at once would lose, and whether there were two.
#[derive(Default)]
struct Count {
    value: UnsafeCell<u32>,
    inside: AtomicU32,
    meetings: AtomicU32,
}

// SAFETY: it is used under a lock; that is what is tested.
unsafe impl Sync for Count {}
// SAFETY: a number.
unsafe impl Send for Count {}

impl Count {
    fn add(&self) {
        self.meetings.fetch_add(self.inside.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        // SAFETY: the caller holds the lock.
        let value = unsafe { self.value.get().read_volatile() };
        for _ in 0..20 {
            std::hint::spin_loop();
        }
        // SAFETY: as above.
        unsafe { self.value.get().write_volatile(value + 1) };
        self.inside.fetch_sub(1, Ordering::Relaxed);
    }

    /// The count, and how often two were inside.
    fn seen(&self) -> (u32, u32) {
        // SAFETY: all are done.
        (unsafe { self.value.get().read_volatile() }, self.meetings.load(Ordering::Relaxed))
    }
}

async fn count_under_a_mutex(
    rounds: u32,
    run_on_page: impl FnOnce(std::pin::Pin<Box<dyn Future<Output = ()>>>),
) {
    let lock =
        Arc::new((Mutex::new(()), Count::default(), OnceLock::new(), Barrier::new(WORKERS as usize + 1)));
    let theirs = Arc::clone(&lock);
    let workers = workers(WORKERS, move |_| {
        // An engine takes longer to start a worker than that takes for its rounds.
        theirs.3.wait();
        for _ in 0..rounds {
            let _held = theirs.0.lock();
            theirs.1.add();
            step();
        }
    });
    let mine = Arc::clone(&lock);
    run_on_page(Box::pin(async move {
        mine.3.wait_async().await;
        for _ in 0..rounds {
            let _held = mine.0.lock_async().await;
            mine.1.add();
            step();
        }
        mine.2.set(()).unwrap();
    }));
    lock.2.wait_async().await;
    join(workers).await;
    assert_eq!(lock.1.seen(), (rounds * (WORKERS + 1), 0));
}

pub(crate) async fn no_count_is_lost_and_nobody_meets(scale: u32) {
    count_under_a_mutex(20_000 * scale, |task| waitword_web::spawn_local(task)).await;
}

pub(crate) async fn no_count_is_lost_on_the_executor_of_wasm_bindgen(scale: u32) {
    count_under_a_mutex(20_000 * scale, |task| wasm_bindgen_futures::spawn_local(task)).await;
}

pub(crate) async fn a_timeout_on_the_page_comes_and_not_early(_: u32) {
    const TIMEOUT: Duration = Duration::from_millis(30);
    let lock = Mutex::new(());
    let held = lock.lock();
    let start = Instant::now();
    assert_eq!(lock.lock_async().timeout(TIMEOUT).await.err(), Some(LockError::TimedOut));
    assert!(start.elapsed() >= TIMEOUT);
    drop(held);
    assert!(lock.lock_async().timeout(TIMEOUT).await.is_ok());
}

pub(crate) async fn a_timeout_in_a_worker_comes_and_not_early(_: u32) {
    const TIMEOUT: Duration = Duration::from_millis(30);
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock();
    let theirs = Arc::clone(&lock);
    let waited = spawn(move || {
        let start = Instant::now();
        (theirs.lock_for(TIMEOUT).err(), start.elapsed())
    });
    let (result, waited) = waited.join_async().await.unwrap();
    assert_eq!(result, Some(LockError::TimedOut));
    assert!(waited >= TIMEOUT);
    drop(held);
}

/// Polls a future once, with a waker that does nothing.
fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

pub(crate) async fn a_dropped_future_passes_the_lock_on(scale: u32) {
    let lock = Arc::new(Mutex::new(()));
    for _ in 0..5 * scale {
        let held = lock.lock_async().await;
        let mut dropped = Box::pin(lock.lock_async());
        assert!(poll_once(dropped.as_mut()).is_pending());
        let theirs = Arc::clone(&lock);
        let worker = spawn(move || drop(theirs.lock()));
        until(|| waiters_of_mutexes() == 2).await;
        // Signals the future, which goes without having been polled.
        drop(held);
        drop(dropped);
        worker.join_async().await.unwrap();
    }
}

pub(crate) async fn a_task_that_is_not_polled_delays_a_worker_for_a_moment(_: u32) {
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock_async().await;
    let mut unpolled = pin!(lock.lock_async());
    assert!(poll_once(unpolled.as_mut()).is_pending());
    let theirs = Arc::clone(&lock);
    let worker = spawn(move || drop(theirs.lock()));
    until(|| waiters_of_mutexes() == 2).await;
    drop(held);
    worker.join_async().await.unwrap();
    drop(unpolled.await);
}

pub(crate) async fn the_page_is_told_that_it_must_not_block(_: u32) {
    assert!(!waitword::may_block());
    let lock = Mutex::new(());
    let held = lock.lock();
    assert_eq!(lock.lock_for(Duration::from_secs(1)).err(), Some(LockError::BlockingForbidden));
    drop(held);
    assert!(spawn(waitword::may_block).join_async().await.unwrap());
}

/// As in an engine that lets no worker block, and then in one that does.
pub(crate) async fn an_agent_asks_the_engine_whether_it_may_block(_: u32) {
    let asks = || {
        let atomics = Reflect::get(&js_sys::global(), &"Atomics".into()).unwrap();
        let wait = Reflect::get(&atomics, &"wait".into()).unwrap();
        let throws =
            Function::new_no_args("throw new TypeError('Atomics.wait cannot be called in this context')");
        let starts_with = |wait: &JsValue| {
            Reflect::set(&atomics, &"wait".into(), wait).unwrap();
            (waitword_web::start().can_block, waitword::may_block())
        };
        [starts_with(&throws), starts_with(&wait)]
    };
    assert_eq!(spawn(asks).join_async().await.unwrap(), [(false, false), (true, true)]);
}

pub(crate) async fn readers_and_a_writer(scale: u32) {
    let rounds = 2_000 * scale;
    let lock = Arc::new(RwLock::new((0_u32, 0_u32)));
    let theirs = Arc::clone(&lock);
    let workers = workers(WORKERS, move |me| {
        for round in 0..rounds {
            if (round + me) % 4 == 0 {
                let mut pair = theirs.write();
                pair.0 += 1;
                pair.1 += 1;
            } else {
                let pair = theirs.read();
                assert_eq!(pair.0, pair.1);
            }
        }
    });
    for _ in 0..rounds {
        let pair = lock.read_async().await;
        assert_eq!(pair.0, pair.1);
        drop(pair);
        let mut pair = lock.write_async().await;
        pair.0 += 1;
        pair.1 += 1;
    }
    join(workers).await;
    assert_eq!(lock.read_async().await.0, rounds + WORKERS * rounds / 4);
}

pub(crate) async fn permits_are_neither_lost_nor_made(scale: u32) {
    const PERMITS: usize = 2;
    let shared = Arc::new((Semaphore::new(PERMITS), AtomicU32::new(0)));
    let rounds = 2_000 * scale;
    let inside = |shared: &(Semaphore, AtomicU32)| {
        assert!(shared.1.fetch_add(1, Ordering::SeqCst) < PERMITS as u32);
        shared.1.fetch_sub(1, Ordering::SeqCst);
    };
    let theirs = Arc::clone(&shared);
    let workers = workers(WORKERS, move |_| {
        for _ in 0..rounds {
            let _permit = theirs.0.acquire().unwrap();
            inside(&theirs);
        }
    });
    for _ in 0..rounds {
        let _permit = shared.0.acquire_async().await.unwrap();
        inside(&shared);
    }
    join(workers).await;
    assert_eq!(shared.0.available_permits(), PERMITS);
}

/// A number goes to and fro; both wait for their turn.
pub(crate) async fn a_condition_between_page_and_worker(scale: u32) {
    let rounds = 500 * scale;
    let shared = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let theirs = Arc::clone(&shared);
    let worker = spawn(move || {
        for round in 0..rounds {
            let mut number = theirs.0.lock();
            theirs.1.wait_while(&mut number, |number| *number != 2 * round + 1);
            *number += 1;
            drop(number);
            theirs.1.notify_all();
        }
    });
    for round in 0..rounds {
        let mut number = shared.0.lock_async().await;
        *number += 1;
        drop(number);
        shared.1.notify_all();
        let number = shared.0.lock_async().await;
        drop(shared.1.wait_while_async(number, |number| *number != 2 * round + 2).await);
    }
    worker.join_async().await.unwrap();
}

pub(crate) async fn an_event_reaches_the_page(scale: u32) {
    let shared = Arc::new((Event::new(), AtomicBool::new(false)));
    for _ in 0..5 * scale {
        shared.1.store(false, Ordering::SeqCst);
        let theirs = Arc::clone(&shared);
        let worker = spawn(move || {
            theirs.1.store(true, Ordering::SeqCst);
            theirs.0.notify_one();
        });
        shared.0.wait_async().await;
        assert!(shared.1.load(Ordering::SeqCst));
        worker.join_async().await.unwrap();
    }
}

pub(crate) async fn a_value_is_made_once(_: u32) {
    let shared = Arc::new((OnceLock::new(), AtomicU32::new(0)));
    let theirs = Arc::clone(&shared);
    let workers = workers(WORKERS, move |_| {
        *theirs.0.get_or_init(|| {
            std::thread::sleep(Duration::from_millis(20));
            theirs.1.fetch_add(1, Ordering::SeqCst) + 7
        })
    });
    assert_eq!(*shared.0.wait_async().await, 7);
    assert_eq!(join(workers).await, [7; WORKERS as usize]);
}
