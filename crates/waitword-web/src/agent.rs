//! An agent: the page, or one of its workers.

use std::time::Duration;

use waitword_core::host::{self, Host};

use crate::{engine, timekeeper};

static HOST: Host = Host { now: engine::now, random: engine::random, ring_timekeeper: timekeeper::ring };

/// The properties of this agent that [`start`] detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agent {
    /// Whether the engine allows this agent to block. In today's engines a page and a service worker must not block; a worker and Node's main thread may.
    pub can_block: bool,
}

/// Registers this agent and detects whether it may block. Call it in each agent (the page, and each worker) before its first wait. Further
/// calls have no effect.
///
/// The engine is asked whether the agent may block, whatever kind of agent it is. If it must not, [`waitword::may_block`] returns `false` in it from
/// now on, and a method that would have to block panics with a message that names the `_async` method. The first agent that is started fires the
/// deadlines of futures, until a worker calls [`run_timer`](crate::run_timer).
///
/// The workers of [`spawn`](crate::spawn) call this function themselves. In other agents, call it from `#[wasm_bindgen(start)]`:
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

/// Registers this agent as one that must not block, even if the engine allows it to. Use it on Node's main thread, where a server's event loop
/// runs. The library then behaves as on a page: it also spins for its own short locks instead of blocking. Otherwise as [`start`].
pub fn start_without_blocking() -> Agent {
    start_as(false)
}

fn start_as(can_block: bool) -> Agent {
    host::start(&HOST, can_block);
    timekeeper::volunteer();
    Agent { can_block }
}

/// Returns how often agents that must not block have spun for one of the library's own locks: the number of spins, their total time, and the
/// longest of them.
///
/// These locks are held for tens of nanoseconds, and for longer if the worker that holds one loses its CPU.
pub fn spins() -> (u32, Duration, Duration) {
    host::spins()
}
