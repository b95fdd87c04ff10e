//! The loop of an agent: a job, its microtasks, the next job; else sleep.

use std::time::Instant;

use waitword_quickjs::JsAgent;

use super::host::Host;

/// Runs jobs until `is_done`, which is asked between them, or until none can come any more.
///
/// # Errors
/// What a job threw.
pub(super) fn run(agent: &JsAgent, host: &Host, is_done: impl Fn() -> bool) -> Result<(), String> {
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
