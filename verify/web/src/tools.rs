//! What the tests have in common.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use js_sys::{Function, Promise};
use waitword::observe::{self, WaitsFor};
use waitword::time::Instant;
use waitword_web::{JoinHandle, spawn};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;
}

/// Waits on the event loop, by no timer of ours.
pub(crate) async fn sleep(span: Duration) {
    let promise = Promise::new(&mut |resolve, _| {
        set_timeout(&resolve, span.as_secs_f64() * 1e3);
    });
    wasm_bindgen_futures::JsFuture::from(promise).await.unwrap();
}

/// Waits until `condition` holds, and fails if it does not for half a minute.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "it does not come to be");
        sleep(Duration::from_millis(1)).await;
    }
}

/// How many wait for a mutex.
pub(crate) fn waiters_of_mutexes() -> usize {
    observe::snapshot().iter().filter(|waiter| waiter.waits_for == WaitsFor::Mutex).count()
}

/// Starts so many workers.
pub(crate) fn workers<T: Send + 'static>(
    count: u32,
    run: impl Fn(u32) -> T + Clone + Send + 'static,
) -> Vec<JoinHandle<T>> {
    (0..count)
        .map(|me| {
            spawn({
                let run = run.clone();
                move || run(me)
            })
        })
        .collect()
}

pub(crate) async fn join<T>(workers: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut values = Vec::new();
    for worker in workers {
        values.push(worker.join_async().await.expect("a worker that returns"));
    }
    values
}

/// How many steps of the running test are done, for who watches a soak.
static STEPS: AtomicU32 = AtomicU32::new(0);

/// A step is done: a wait, or an acquisition.
pub(crate) fn step() {
    STEPS.fetch_add(1, Ordering::Relaxed);
}

#[wasm_bindgen(js_name = takeSteps)]
pub fn take_steps() -> u32 {
    STEPS.swap(0, Ordering::Relaxed)
}
