//! An engine for an agent, and the stack of its thread.

use std::rc::Rc;
use std::sync::Arc;

use waitword_quickjs::{Doorbell, JsAgent, JsAgentOptions, RuntimeOptions};

/// Bytes of stack for an agent's thread, of which scripts may use the second; tests recurse deeply.
pub(super) const THREAD_STACK: usize = 8 << 20;
const SCRIPT_STACK: usize = 4 << 20;

pub(super) fn new_agent(can_block: bool, bell: Arc<Doorbell>) -> Result<Rc<JsAgent>, String> {
    let runtime = RuntimeOptions { stack_size: SCRIPT_STACK, ..RuntimeOptions::default() };
    let agent = JsAgent::with_doorbell(&JsAgentOptions { can_block, runtime }, bell);
    agent.map(Rc::new).map_err(|error| error.to_string())
}
