//! What an agent is made of, and what one does that a test has started. Its loop is a job, its microtasks, the next job; else sleep.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use waitword_quickjs::{Doorbell, JsAgent, JsAgentOptions, RuntimeOptions};

use super::agents::Place;
use super::host::Host;

/// Bytes of an agent's stack that scripts may use; tests recurse deeply.
const SCRIPT_STACK: usize = 4 << 20;

pub(super) fn new_agent(can_block: bool, bell: Arc<Doorbell>) -> Result<Rc<JsAgent>, String> {
    let runtime = RuntimeOptions { stack_size: SCRIPT_STACK, ..RuntimeOptions::default() };
    let agent = JsAgent::with_doorbell(&JsAgentOptions { can_block, runtime }, bell);
    agent.map(Rc::new).map_err(|error| error.to_string())
}

/// The life of an agent, on its own thread.
pub(super) fn live(place: &Place, source: &str, running: Box<dyn FnOnce()>) -> Result<(), String> {
    let agent = new_agent(true, Arc::clone(&place.bell))?;
    let host = Host::install(&agent, Arc::clone(&place.agents), Some(place.seat));
    let host = host.map_err(|error| error.to_string())?;
    running();
    agent.eval("agent.js", source).map_err(|error| error.to_string())?;
    // An agent that has left may end, but not while a notify has counted one of its waits.
    run_jobs(&agent, &host, || host.has_left() && !agent.has_pending())
}

/// Runs jobs until `is_done`, which is asked between them, or until none can come any more.
///
/// # Errors
/// What a job threw.
pub(super) fn run_jobs(agent: &JsAgent, host: &Host, is_done: impl Fn() -> bool) -> Result<(), String> {
    loop {
        // Cleared before the check for work, so that a ring during the check is not lost.
        agent.doorbell().clear();
        agent.run_microtasks().map_err(|error| error.to_string())?;
        if is_done() {
            return Ok(());
        }
        if run_one_job(agent, host)? {
            continue;
        }
        let deadline = [agent.next_deadline(), host.next_timer()].into_iter().flatten().min();
        let may_be_called = host.is_expecting() || (agent.has_pending() && host.has_company());
        if deadline.is_none() && !may_be_called {
            return Ok(());
        }
        agent.doorbell().sleep(deadline);
    }
}

/// Whether there was one.
fn run_one_job(agent: &JsAgent, host: &Host) -> Result<bool, String> {
    agent.expire_due(Instant::now());
    let settled = agent.settle_one().map_err(|error| error.to_string())?;
    if settled {
        return Ok(true);
    }
    agent.begin_job().map_err(|error| error.to_string())?;
    let ran = host.run_job(agent.realm());
    ran.map_err(|exception| agent.realm().describe(&exception).to_string())
}
