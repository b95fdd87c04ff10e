//! The smallest program with a lock: between a page and a worker, or without atomics between two tasks.

use std::time::Duration;

use js_sys::Promise;
use waitword::Mutex;
use wasm_bindgen::prelude::*;

static COUNT: Mutex<u32> = Mutex::new(0);

#[wasm_bindgen(start)]
fn start() {
    waitword_web::start();
}

async fn add(rounds: u32) {
    for _ in 0..rounds {
        *COUNT.lock_async().await += 1;
    }
}

/// Counts in a worker and on the page. A promise of the count.
#[cfg(target_feature = "atomics")]
#[wasm_bindgen]
pub fn count(rounds: u32) -> Promise {
    let worker = waitword_web::spawn(move || {
        for _ in 0..rounds {
            *COUNT.lock() += 1;
        }
    });
    waitword_web::promise(async move {
        add(rounds).await;
        worker.join_async().await.map_err(|error| JsValue::from(error.to_string()))?;
        Ok((*COUNT.lock_async().await).into())
    })
}

/// Counts in two tasks, which wait for each other. A promise of the count.
#[cfg(not(target_feature = "atomics"))]
#[wasm_bindgen]
pub fn count(rounds: u32) -> Promise {
    waitword_web::promise(async move {
        let held = COUNT.lock_async().await;
        let tasks = [(); 2].map(|()| waitword::OnceLock::new()).map(std::sync::Arc::new);
        for done in tasks.clone() {
            waitword_web::spawn_local(async move {
                add(rounds).await;
                let _ = done.set(());
            });
        }
        drop(held);
        for done in &tasks {
            done.wait_async().await;
        }
        Ok((*COUNT.lock_async().await).into())
    })
}

/// Whether a wait for a lock that is held ends at its deadline.
#[wasm_bindgen(js_name = timesOut)]
pub fn times_out(milliseconds: u32) -> Promise {
    waitword_web::promise(async move {
        let _held = COUNT.lock_async().await;
        Ok(COUNT.lock_async().timeout(Duration::from_millis(milliseconds.into())).await.is_err().into())
    })
}
