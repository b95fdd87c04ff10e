//! An agent: the page, or one of its workers.

use std::time::Duration;

use waitword_core::host::{self, Host};

use crate::{engine, timekeeper};

static HOST: Host = Host { now: engine::now, random: engine::random, ring_timekeeper: timekeeper::ring };

/// What [`start`] has found out about this agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agent {
    /// Whether the engine lets this agent block. In today's engines a page and a service worker must not; a worker, and Node's main thread, may.
    pub can_block: bool,
}

/// Starts this agent. Call it once in each (the page, and each worker) before it waits for anything; calling it again does nothing more.
///
/// Asks the engine whether the agent may block, whatever the agent is. If not, [`waitword::may_block`] is `false` in it from now on: what would have to block panics
/// and names the `_async` method. The first agent that is started keeps the deadlines of futures, until a worker does
/// ([`run_timer`](crate::run_timer)).
///
/// The threads of [`spawn`](crate::spawn) are started already. For others, `#[wasm_bindgen(start)]` is the place:
///
/// ```ignore
/// #[wasm_bindgen(start)]
/// fn start() {
///     waitword_web::start();
/// }
/// ```
pub fn start() -> Agent {
    start_as(engine::can_block())
}

/// As [`start`], for an agent that must not block although the engine would let it: Node's main thread, on which a server's event loop runs.
/// The library does in it what it does on a page, down to its own short locks.
pub fn start_without_blocking() -> Agent {
    start_as(false)
}

fn start_as(can_block: bool) -> Agent {
    host::start(&HOST, can_block);
    timekeeper::volunteer();
    Agent { can_block }
}

/// How often agents that must not block found a lock inside the library taken, and spun until it was free.
///
/// Those locks are held for some ten nanoseconds, but for longer when the worker that holds one loses its CPU.
///
/// Returns how often, for how long in all, and for how long at most.
pub fn spins() -> (u32, Duration, Duration) {
    host::spins()
}
