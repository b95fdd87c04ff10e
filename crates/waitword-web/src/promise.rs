//! Futures as promises.

use std::future::Future;

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use crate::executor::spawn_local;

/// A promise of what `future` returns, for JavaScript: `lock().then(...)`. The future runs on this agent's event loop
/// ([`spawn_local`]), whether anyone awaits the promise or not.
///
/// ```ignore
/// #[wasm_bindgen]
/// pub fn lock() -> js_sys::Promise {
///     waitword_web::promise(async {
///         LOCK.lock_async().await;
///         Ok(JsValue::UNDEFINED)
///     })
/// }
/// ```
///
/// # Cancellation
/// JavaScript cannot drop a promise. To give up, use a future with a deadline.
pub fn promise(future: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    let mut future = Some(future);
    Promise::new(&mut |resolve, reject| {
        let future = future.take().expect_throw("called once");
        spawn_local(async move {
            let (settle, value) = match future.await {
                Ok(value) => (resolve, value),
                Err(error) => (reject, error),
            };
            // The functions of a promise do not throw.
            let _ = settle.call1(&JsValue::UNDEFINED, &value);
        });
    })
}
