//! What is promised when a worker was terminated: while it waits, while it holds a lock, and in the lock of a shard; and what becomes of a
//! page that finds a shard's lock held by a worker without a CPU.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use waitword::time::Instant;
use waitword::{LockError, Mutex};
use waitword_core::{Table, notify_all, wait_async};
use waitword_web::{AsyncLock, Terminated, spawn};
use wasm_bindgen::prelude::*;

use crate::tools::{sleep, until, waiters_of_mutexes};

/// Those behind it are delayed by the stall timeout, and get the lock.
pub(crate) async fn while_it_waits(_: u32) {
    let lock = Arc::new(Mutex::new(0));
    let held = lock.lock_async().await;
    let theirs = Arc::clone(&lock);
    let terminated = spawn(move || *theirs.lock() += 100);
    until(|| waiters_of_mutexes() == 1).await;
    let theirs = Arc::clone(&lock);
    let behind = spawn(move || *theirs.lock() += 1);
    until(|| waiters_of_mutexes() == 2).await;
    terminated.terminate();
    // An engine takes its time. If it is not over yet, the worker gets the lock once more, and this test says nothing.
    sleep(Duration::from_millis(300)).await;
    drop(held);
    behind.join_async().await.unwrap();
    assert!([1, 101].contains(&*lock.lock_async().await));
}

/// A lock that JavaScript shares: a notify may go to the worker that is gone. Those behind it recheck, and get the lock.
pub(crate) async fn while_it_waits_in_the_engines_queue(_: u32) {
    static LOCK: AsyncLock = AsyncLock::new();
    for is_page_behind in [true, false] {
        LOCK.lock_async().await;
        let marks = Arc::new(AtomicBool::new(false));
        let waits = || {
            let theirs = Arc::clone(&marks);
            spawn(move || {
                theirs.store(true, Ordering::SeqCst);
                LOCK.lock();
                LOCK.unlock().unwrap();
            })
        };
        let waiting = async || {
            until(|| marks.swap(false, Ordering::SeqCst)).await;
            // It is about to wait. If it does not yet, this round shows less.
            sleep(Duration::from_millis(20)).await;
        };
        let terminated = waits();
        waiting().await;
        let behind: Pin<Box<dyn Future<Output = ()>>> = if is_page_behind {
            let mut behind = Box::pin(LOCK.lock_async());
            assert!(behind.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            Box::pin(async {
                behind.await;
                LOCK.unlock().unwrap();
            })
        } else {
            let behind = waits();
            waiting().await;
            Box::pin(async { behind.join_async().await.unwrap() })
        };
        terminated.terminate();
        // An engine takes its time. A worker that still runs would unlock, and notify.
        sleep(Duration::from_millis(300)).await;
        LOCK.unlock().unwrap();
        behind.await;
    }
}

/// The lock stays taken; who has a deadline learns of it.
pub(crate) async fn while_it_holds(_: u32) {
    let shared = Arc::new((Mutex::new(()), AtomicBool::new(false)));
    let theirs = Arc::clone(&shared);
    let terminated = spawn(move || {
        let _held = theirs.0.lock();
        theirs.1.store(true, Ordering::SeqCst);
        loop {
            std::thread::park();
        }
    });
    until(|| shared.1.load(Ordering::SeqCst)).await;
    terminated.terminate();
    let waited = shared.0.lock_async().timeout(Duration::from_millis(50)).await;
    assert_eq!(waited.err(), Some(LockError::TimedOut));
}

/// Its handle says so.
pub(crate) async fn its_handle_says_so(_: u32) {
    expect_trap();
    let panics = spawn(|| -> () { core::arch::wasm32::unreachable() });
    assert_eq!(panics.join_async().await, Err(Terminated));
}

/// The page waits for a worker that has lost its CPU in the lock of a shard, and goes on.
pub(crate) async fn a_page_outlasts_a_worker_without_a_cpu(_: u32) {
    const PAUSE: Duration = Duration::from_millis(60);
    static WORD: AtomicI32 = AtomicI32::new(0);
    let inside = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&inside);
    let worker = spawn(move || {
        Table::global().while_locked(&WORD, || {
            theirs.store(true, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        });
    });
    // On the event loop, so as not to be late.
    until(|| inside.load(Ordering::SeqCst)).await;
    let (before, ..) = waitword_web::spins();
    notify_all(&WORD);
    let (after, _, longest) = waitword_web::spins();
    worker.join_async().await.unwrap();
    assert!(after > before && longest < Duration::from_secs(1), "{longest:?}");
}

/// While the page spins for one lock, a worker naps for a millisecond before it takes any. The page spins as long as its lock is held, and
/// the holder counts. A page that has no CPU just before it spins spoils a round, so the median counts.
pub(crate) async fn workers_give_way_to_a_page(_: u32) {
    const ROUNDS: usize = 11;
    const PAUSE: Duration = Duration::from_millis(20);
    static WORD: AtomicI32 = AtomicI32::new(0);
    static SECTIONS: AtomicU32 = AtomicU32::new(0);
    let is_over = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&is_over);
    let busy = spawn(move || {
        // A table of its own: never the lock for which the page spins.
        let (table, word) = (Table::new(), AtomicI32::new(0));
        while !theirs.load(Ordering::SeqCst) {
            table.while_locked(&word, || SECTIONS.fetch_add(1, Ordering::SeqCst));
        }
    });
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let [is_held, page_comes] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let theirs = (Arc::clone(&is_held), Arc::clone(&page_comes));
        let holder = spawn(move || {
            Table::global().while_locked(&WORD, || {
                theirs.0.store(true, Ordering::SeqCst);
                while !theirs.1.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                std::thread::sleep(PAUSE);
                let (start, before) = (Instant::now(), SECTIONS.load(Ordering::SeqCst));
                std::thread::sleep(PAUSE);
                let sections = SECTIONS.load(Ordering::SeqCst) - before;
                (sections, start.elapsed())
            })
        });
        until(|| is_held.load(Ordering::SeqCst)).await;
        page_comes.store(true, Ordering::SeqCst);
        notify_all(&WORD);
        let (sections, span) = holder.join_async().await.unwrap();
        rates.push(f64::from(sections.saturating_sub(2)) / (span.as_secs_f64() * 1e3));
    }
    is_over.store(true, Ordering::SeqCst);
    busy.join_async().await.unwrap();
    assert!(SECTIONS.load(Ordering::SeqCst) > 0);
    rates.sort_by(f64::total_cmp);
    assert!(rates[ROUNDS / 2] <= 1.0, "a worker entered so many sections per ms, by round: {rates:?}");
}

#[wasm_bindgen(module = "/report.js")]
extern "C" {
    #[wasm_bindgen(js_name = expectTrap)]
    fn expect_trap();
}

static DEAD: AtomicI32 = AtomicI32::new(0);

/// Has a worker terminated in the lock of a shard. The next who touches that shard, a page, has to panic.
#[wasm_bindgen(js_name = terminateInShard)]
pub fn terminate_in_shard() -> js_sys::Promise {
    waitword_web::promise(async {
        static IS_INSIDE: AtomicBool = AtomicBool::new(false);
        let worker = spawn(|| {
            Table::global().while_locked(&DEAD, || {
                IS_INSIDE.store(true, Ordering::SeqCst);
                loop {
                    std::thread::park();
                }
            });
        });
        // Not by `until`, whose timers may be of that shard.
        while !IS_INSIDE.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(1)).await;
        }
        worker.terminate();
        Ok(JsValue::UNDEFINED)
    })
}

#[wasm_bindgen(js_name = touchShard)]
pub fn touch_shard() {
    drop(wait_async(&DEAD, 0));
    notify_all(&DEAD);
}
