//! The smallest program with a lock between a page and a worker.

use js_sys::Promise;
use waitword::Mutex;
use wasm_bindgen::prelude::*;

static COUNT: Mutex<u32> = Mutex::new(0);

#[wasm_bindgen(start)]
fn start() {
    waitword_web::start();
}

/// Counts in a worker and on the page. A promise of the count.
#[wasm_bindgen]
pub fn count(rounds: u32) -> Promise {
    let worker = waitword_web::spawn(move || {
        for _ in 0..rounds {
            *COUNT.lock() += 1;
        }
    });
    waitword_web::promise(async move {
        for _ in 0..rounds {
            *COUNT.lock_async().await += 1;
        }
        worker.join_async().await.map_err(|error| JsValue::from(error.to_string()))?;
        Ok((*COUNT.lock_async().await).into())
    })
}
