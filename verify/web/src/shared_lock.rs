//! The article's lock on a word of the wasm memory: Rust and plain JavaScript, on the page and in workers, in one line.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use js_sys::Promise;
use waitword::time::Instant;
use waitword::{LockError, NotLocked};
use waitword_web::{AsyncLock, LockAsync, spawn};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::tools::{join, sleep, until, workers};

#[wasm_bindgen(module = "/peers.js")]
extern "C" {
    /// Plain JavaScript adds to a count under the lock, in workers and on this agent, so many rounds each.
    #[wasm_bindgen(js_name = playInJavaScript)]
    fn play_in_javascript(memory: &JsValue, lock: u32, count: u32, rounds: u32, workers: u32) -> Promise;
}

static LOCK: AsyncLock = AsyncLock::new();
/// Written under the lock, in steps that two at once would lose.
static COUNT: AtomicI32 = AtomicI32::new(0);

fn add() {
    COUNT.store(COUNT.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Whether an acquirer has found the lock taken, and marked it so.
fn has_waiters() -> bool {
    format!("{LOCK:?}").contains("with waiters")
}

/// The state of a lock that has waiters, for JavaScript.
const CONTENDED: i32 = 2;

/// The memory, as JavaScript sees it.
fn words() -> js_sys::Int32Array {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    js_sys::Int32Array::new(&memory.buffer())
}

/// Takes that mark away: the next acquirer sets it again.
fn forget_waiters() {
    js_sys::Atomics::store(&words(), LOCK.index(), 1).unwrap();
}

fn play(rounds: u32, workers: u32) -> JsFuture {
    let count = COUNT.as_ptr().addr() as u32 / 4;
    play_in_javascript(&wasm_bindgen::memory(), LOCK.index(), count, rounds, workers).into()
}

pub(crate) async fn rust_and_javascript_lose_no_count(scale: u32) {
    let rounds = 3_000 * scale;
    COUNT.store(0, Ordering::SeqCst);
    let javascript = play(rounds, 2);
    let rust = workers(2, move |_| {
        for _ in 0..rounds {
            LOCK.lock();
            add();
            LOCK.unlock().unwrap();
        }
    });
    for _ in 0..rounds {
        LOCK.lock_async().await;
        add();
        LOCK.unlock().unwrap();
    }
    join(rust).await;
    javascript.await.unwrap();
    assert_eq!(COUNT.load(Ordering::SeqCst), 6 * rounds as i32);
    assert_eq!(LOCK.unlock(), Err(NotLocked));
}

/// The engine notifies the wait of a future that is gone; a worker waits behind it.
pub(crate) async fn a_dropped_future_forwards_its_wakeup(scale: u32) {
    for round in 0..8 * scale {
        LOCK.lock_async().await;
        {
            let mut dropped = pin!(LOCK.lock_async());
            assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            forget_waiters();
            let behind = if round % 2 == 0 {
                play(1, 1)
            } else {
                let worker = spawn(|| {
                    LOCK.lock();
                    LOCK.unlock().unwrap();
                });
                let joined = async {
                    worker.join_async().await.map(|()| JsValue::UNDEFINED).map_err(|_| JsValue::NULL)
                };
                waitword_web::promise(joined).into()
            };
            until(has_waiters).await;
            // It has marked the lock, and is about to wait. If it does not yet, it takes the lock, and this round shows nothing.
            sleep(Duration::from_millis(20)).await;
            LOCK.unlock().unwrap();
            if round % 4 < 2 {
                // The wait ends, but the future is not polled.
                sleep(Duration::from_millis(5)).await;
            }
            // `dropped` goes here.
            drop(std::mem::replace(&mut *dropped, LOCK.lock_async()));
            behind.await.unwrap();
        }
    }
    assert!(LOCK.try_lock());
    LOCK.unlock().unwrap();
}

/// Two futures of this agent wait. The first is dropped when the engine has notified it; that is forwarded.
///
/// `is_taken`: the lock is taken again before that, and free of waiters as far as its word says: who has taken it must learn of the
/// second. `is_ended`: the callback comes before the future goes.
async fn a_wakeup_is_forwarded(is_taken: bool, is_ended: bool) {
    let notified = |future: &LockAsync| format!("{future:?}").contains("Ended(true)");
    let poll = |future: &mut Pin<Box<LockAsync>>| {
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    };
    LOCK.lock_async().await;
    let mut dropped = Box::pin(LOCK.lock_async());
    let mut behind = Box::pin(LOCK.lock_async());
    poll(&mut dropped);
    poll(&mut behind);
    LOCK.unlock().unwrap();
    assert!(!is_taken || LOCK.try_lock(), "the event loop has had no turn");
    if is_ended {
        until(|| notified(&dropped)).await;
    }
    assert!(!has_waiters());
    drop(dropped);
    if is_taken {
        until(has_waiters).await;
        LOCK.unlock().unwrap();
    }
    // It rechecks as well, but does not mistake that for a notify.
    until(|| notified(&behind)).await;
    behind.await;
    LOCK.unlock().unwrap();
}

pub(crate) async fn a_wakeup_of_a_dropped_future_is_forwarded(_: u32) {
    for (is_taken, is_ended) in [(false, false), (false, true), (true, false), (true, true)] {
        a_wakeup_is_forwarded(is_taken, is_ended).await;
    }
}

/// The engine notifies somebody who neither takes the lock nor forwards. Who is behind, a future or a thread, rechecks.
pub(crate) async fn a_waiter_that_does_not_answer_delays_others_for_a_moment(_: u32) {
    LOCK.lock_async().await;
    let (words, index) = (words(), LOCK.index());
    let unanswered = || {
        js_sys::Atomics::store(&words, index, CONTENDED).unwrap();
        js_sys::Atomics::wait_async(&words, index, CONTENDED).unwrap()
    };
    unanswered();
    let mut behind = Box::pin(LOCK.lock_async());
    assert!(behind.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    LOCK.unlock().unwrap();
    behind.await;
    unanswered();
    static IS_BEGUN: AtomicBool = AtomicBool::new(false);
    let behind = spawn(|| {
        IS_BEGUN.store(true, Ordering::SeqCst);
        LOCK.lock();
    });
    until(|| IS_BEGUN.load(Ordering::SeqCst)).await;
    // It is about to wait. If it does not yet, it takes the lock, and this shows nothing.
    sleep(Duration::from_millis(20)).await;
    LOCK.unlock().unwrap();
    behind.join_async().await.unwrap();
    LOCK.unlock().unwrap();
}

pub(crate) async fn a_deadline_comes_and_eats_nothing(_: u32) {
    const TIMEOUT: Duration = Duration::from_millis(30);
    LOCK.lock_async().await;
    let start = Instant::now();
    assert_eq!(LOCK.lock_async().timeout(TIMEOUT).await, Err(LockError::TimedOut));
    assert!(start.elapsed() >= TIMEOUT);
    assert_eq!(LOCK.lock_for(TIMEOUT), Err(LockError::BlockingForbidden));
    let worker = spawn(|| LOCK.lock_for(Duration::from_millis(30)));
    assert_eq!(worker.join_async().await.unwrap(), Err(LockError::TimedOut));
    LOCK.unlock().unwrap();
    assert_eq!(LOCK.lock_async().timeout(TIMEOUT).await, Ok(()));
    LOCK.unlock().unwrap();
}
