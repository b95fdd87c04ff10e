//! What the tests of this crate share. Each test binary uses a part of it.
#![allow(dead_code)]

use std::thread::JoinHandle;

use waitword_quickjs::{JsAgent, JsAgentOptions, JsError, JsValue, RuntimeOptions, SharedBlock};

/// An agent that can block.
pub(crate) fn agent() -> JsAgent {
    JsAgent::new(&JsAgentOptions::default()).unwrap()
}

/// An agent that cannot block, as a page's main thread cannot.
pub(crate) fn agent_that_cannot_block() -> JsAgent {
    JsAgent::new(&JsAgentOptions { can_block: false, ..JsAgentOptions::default() }).unwrap()
}

/// An agent whose scripts may hold so many bytes.
pub(crate) fn agent_within(limit: usize) -> JsAgent {
    let runtime = RuntimeOptions { memory_limit: Some(limit), ..RuntimeOptions::default() };
    JsAgent::new(&JsAgentOptions { runtime, ..JsAgentOptions::default() }).unwrap()
}

/// Runs a script whose completion value is a string.
#[track_caller]
pub(crate) fn text(js: &JsAgent, source: &str) -> String {
    match js.eval("test.js", source) {
        Ok(JsValue::String(text)) => text,
        other => panic!("{source}\ngave {other:?}"),
    }
}

/// Runs a script that has to throw.
#[track_caller]
pub(crate) fn thrown(js: &JsAgent, source: &str) -> JsError {
    match js.eval("test.js", source) {
        Err(error) => error,
        other => panic!("{source}\ndid not throw, but gave {other:?}"),
    }
}

/// Runs a script that has to throw, and gives the error's name.
#[track_caller]
pub(crate) fn thrown_name(js: &JsAgent, source: &str) -> String {
    let message = thrown(js, source).message;
    message.split(':').next().unwrap_or_default().to_owned()
}

/// An agent with `block` as `sab` and with the views `i32` and `i64` on it. Its length is a multiple of 8.
pub(crate) fn agent_on(block: &SharedBlock) -> JsAgent {
    let js = agent();
    js.set_global("sab", block.clone()).unwrap();
    js.eval("views.js", "var i32 = new Int32Array(sab), i64 = new BigInt64Array(sab);").unwrap();
    js
}

/// Returns once this many waiters are queued on the word; `thread` is the one that brings the last of them.
pub(crate) fn until_queued<T>(block: &SharedBlock, byte_index: usize, count: usize, thread: &JoinHandle<T>) {
    let word = block.i32(byte_index).unwrap();
    while block.table().waiters(&*word) != count {
        assert!(!thread.is_finished(), "the waiter is gone");
        std::thread::yield_now();
    }
}
