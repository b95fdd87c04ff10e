//! What an agent does that a test has started.

use std::sync::Arc;

use super::agents::Place;
use super::engine::new_agent;
use super::host::Host;
use super::jobs;

/// The life of an agent, on its own thread.
pub(super) fn live(place: &Place, source: &str, running: Box<dyn FnOnce()>) -> Result<(), String> {
    let agent = new_agent(true, Arc::clone(&place.bell))?;
    let host = Host::install(&agent, Arc::clone(&place.agents), Some(place.seat));
    let host = host.map_err(|error| error.to_string())?;
    running();
    agent.eval("agent.js", source).map_err(|error| error.to_string())?;
    // An agent that has left may end, but not while a notify has counted one of its waits.
    jobs::run(&agent, &host, || host.has_left() && !agent.has_pending())
}
