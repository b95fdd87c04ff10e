//! What the crate asks of the engine, and nothing else: its imports.

use std::sync::atomic::AtomicI32;
use std::time::Duration;

use js_sys::{Atomics, Function, Int32Array, Object, Promise, Reflect, SharedArrayBuffer, WebAssembly};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;

    #[wasm_bindgen(thread_local_v2, js_namespace = performance, js_name = timeOrigin)]
    static TIME_ORIGIN: f64;

    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn random_values(array: &js_sys::BigUint64Array) -> Result<(), JsValue>;

    #[wasm_bindgen(js_name = Promise)]
    type AnyPromise;

    #[wasm_bindgen(method, js_name = then)]
    fn then_call(this: &AnyPromise, callback: &Function) -> JsValue;

    #[wasm_bindgen(js_name = queueMicrotask)]
    pub(crate) fn queue_microtask(callback: &Function);

    /// A number, or in Node an object.
    #[wasm_bindgen(js_name = setTimeout)]
    pub(crate) fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    pub(crate) fn clear_timeout(timeout: &JsValue);

    /// A channel to all agents of the origin.
    pub(crate) type BroadcastChannel;

    #[wasm_bindgen(constructor)]
    pub(crate) fn new(name: &str) -> BroadcastChannel;

    #[wasm_bindgen(method, js_name = postMessage)]
    pub(crate) fn post_message(this: &BroadcastChannel, message: f64);

    #[wasm_bindgen(method)]
    pub(crate) fn close(this: &BroadcastChannel);

    #[wasm_bindgen(method, setter, js_name = onmessage)]
    pub(crate) fn set_onmessage(this: &BroadcastChannel, callback: &Function);
}

/// The time since an origin that all agents have in common: each has an origin of its own, and says which.
pub(crate) fn now() -> Duration {
    thread_local! {
        static ORIGIN: f64 = TIME_ORIGIN.with(|&origin| origin);
    }
    Duration::from_nanos(((ORIGIN.with(|&origin| origin) + performance_now()) * 1e6) as u64)
}

/// Random bits that a script cannot foretell, where the engine has such.
pub(crate) fn random() -> u64 {
    let array = js_sys::BigUint64Array::new_with_length(1);
    match random_values(&array) {
        Ok(()) => array.get_index(0),
        Err(_) => js_sys::Math::random().to_bits(),
    }
}

/// Whether the engine lets this agent block: if not, it throws before it compares. A page that is not isolated has no shared memory to wait on.
pub(crate) fn can_block() -> bool {
    if !Reflect::has(&js_sys::global(), &"SharedArrayBuffer".into()).unwrap_or(false) {
        return false;
    }
    let word = Int32Array::new(&SharedArrayBuffer::new(4));
    Atomics::wait_with_timeout(&word, 0, 1, 0.0).is_ok()
}

/// Whether the engine has `Atomics.waitAsync`, and the memory is shared.
pub(crate) fn has_wait_async() -> bool {
    let atomics = Reflect::get(&js_sys::global(), &"Atomics".into());
    cfg!(target_feature = "atomics")
        && atomics.and_then(|atomics| Reflect::has(&atomics, &"waitAsync".into())).unwrap_or(false)
}

/// The memory as words, and the index of `word` in it.
fn view(word: &AtomicI32) -> (Int32Array, u32) {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    (Int32Array::new(&memory.buffer()), word.as_ptr().addr() as u32 / 4)
}

/// Calls `callback` with the value of a promise.
pub(crate) fn then(promise: &Promise, callback: &Function) {
    promise.unchecked_ref::<AnyPromise>().then_call(callback);
}

/// How an `Atomics.wait` or `waitAsync` has ended, or has begun.
pub(crate) enum Waited {
    NotEqual,
    Notified,
    TimedOut,
    /// It settles with the string of one of the others.
    Pending(Promise),
}

impl Waited {
    pub(crate) fn from_string(result: &JsValue) -> Self {
        match result.as_string().as_deref() {
            Some("ok") => Self::Notified,
            Some("timed-out") => Self::TimedOut,
            _ => Self::NotEqual,
        }
    }
}

/// `Atomics.wait`. `None` is without a timeout.
///
/// # Panics
/// In an agent that must not block.
pub(crate) fn wait(word: &AtomicI32, expected: i32, timeout: Option<Duration>) -> Waited {
    let (view, index) = view(word);
    let result = Atomics::wait_with_timeout(&view, index, expected, milliseconds(timeout));
    Waited::from_string(&result.expect_throw("Atomics.wait").into())
}

/// `Atomics.waitAsync`.
pub(crate) fn wait_async(word: &AtomicI32, expected: i32, timeout: Option<Duration>) -> Waited {
    let (view, index) = view(word);
    let result = Atomics::wait_async_with_timeout(&view, index, expected, milliseconds(timeout));
    let result: Object = result.expect_throw("Atomics.waitAsync");
    let value = Reflect::get(&result, &"value".into()).expect_throw("an object");
    match value.dyn_into::<Promise>() {
        Ok(promise) => Waited::Pending(promise),
        Err(value) => Waited::from_string(&value),
    }
}

/// `Atomics.notify` of one waiter.
pub(crate) fn notify_one(word: &AtomicI32) {
    let (view, index) = view(word);
    Atomics::notify_with_count(&view, index, 1).expect_throw("Atomics.notify");
}

fn milliseconds(timeout: Option<Duration>) -> f64 {
    timeout.map_or(f64::INFINITY, |timeout| timeout.as_secs_f64() * 1e3)
}
