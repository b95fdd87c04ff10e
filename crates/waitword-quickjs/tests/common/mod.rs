//! What the tests of this crate share. Each test binary uses a part of it.
#![allow(dead_code)]

use waitword_quickjs::{JsAgent, JsAgentOptions, JsError, JsValue};

/// An agent that can block.
pub fn agent() -> JsAgent {
    JsAgent::new(&JsAgentOptions::default()).unwrap()
}

/// An agent that cannot block, as a page's main thread cannot.
pub fn agent_that_cannot_block() -> JsAgent {
    JsAgent::new(&JsAgentOptions { can_block: false, ..JsAgentOptions::default() }).unwrap()
}

/// Runs a script whose completion value is a string.
#[track_caller]
pub fn text(js: &JsAgent, source: &str) -> String {
    match js.eval("test.js", source) {
        Ok(JsValue::String(text)) => text,
        other => panic!("{source}\ngave {other:?}"),
    }
}

/// Runs a script that has to throw.
#[track_caller]
pub fn thrown(js: &JsAgent, source: &str) -> JsError {
    match js.eval("test.js", source) {
        Err(error) => error,
        other => panic!("{source}\ndid not throw, but gave {other:?}"),
    }
}

/// Runs a script that has to throw, and gives the error's name.
#[track_caller]
pub fn thrown_name(js: &JsAgent, source: &str) -> String {
    let message = thrown(js, source).message;
    message.split(':').next().unwrap_or_default().to_owned()
}
