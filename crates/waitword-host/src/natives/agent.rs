//! The agent itself: its output, its timers, its parts, its end.

use std::io::{ErrorKind, IsTerminal, Write};
use std::time::{Duration, Instant};

use waitword_quickjs::{Call, Exception, PromiseState, Realm, Value};

use crate::agent_host::Host;
use crate::ended::EXIT_OUTPUT_CLOSED;
use crate::mailbox::{Arrival, WorkerEvent};
use crate::observed::Tap;
use crate::{agent_host, parts};

/// `write(stream, text)`: one call is one locked write, so whole lines of several agents never mix.
pub(crate) fn write(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    if host.exit.get().is_some() {
        return Err(realm.uncatchable_error("process.exit"));
    }
    let stream = realm.to_i32(&call.argument(0))?;
    let text = realm.to_string(&call.argument(1))?;
    if host.observed.tap(stream) == Tap::Kept {
        return show_parent(realm, &host, stream, text);
    }
    let written = if stream == 1 {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    } else {
        std::io::stderr().lock().write_all(text.as_bytes())
    };
    match written {
        Ok(()) => show_parent(realm, &host, stream, text),
        // Nobody reads the results any more (`| head`): stop, quietly, instead of computing them.
        Err(error) if stream == 1 && error.kind() == ErrorKind::BrokenPipe => {
            host.cluster.end_program(EXIT_OUTPUT_CLOSED);
            Err(realm.uncatchable_error("standard output is closed"))
        }
        Err(error) if stream == 1 => {
            Err(realm.error(&format!("cannot write to the standard output: {error}")))
        }
        // Complaints that nobody reads are lost.
        Err(_) => Ok(realm.undefined()),
    }
}

/// How many bytes of what a worker prints are kept while its parent has not said whether it wants them.
const MOST_PRINTED_EARLY: usize = 64 << 10;
/// What a piece of printed text costs besides its bytes.
const PRINTED_OVERHEAD: usize = 128;

/// What was printed, for a parent that reads `worker.stdout` or `worker.stderr`.
fn show_parent(realm: &Realm, host: &Host, stream: i32, text: String) -> Result<Value, Exception> {
    let Some(parent) = &host.links.parent else { return Ok(realm.undefined()) };
    let bytes = text.len() + PRINTED_OVERHEAD;
    let early = host.printed_early.get() + bytes;
    let is_wanted = match host.observed.tap(stream) {
        Tap::Unwanted => return Ok(realm.undefined()),
        Tap::Undecided if early > MOST_PRINTED_EARLY => return Ok(realm.undefined()),
        Tap::Undecided => {
            host.printed_early.set(early);
            false
        }
        Tap::Wanted | Tap::Kept => true,
    };
    let charge = match realm.memory_budget().map(|budget| budget.charge(bytes)) {
        Some(None) if is_wanted => return Err(host.clone_functions(realm)?.no_room(realm)),
        // Nobody has asked for it yet.
        Some(None) => return Ok(realm.undefined()),
        charge => charge.flatten(),
    };
    parent.post(Arrival::OfWorker(host.id, WorkerEvent::Printed(stream, text, charge)));
    Ok(realm.undefined())
}

/// `isTerminal(stream)`
pub(crate) fn is_terminal(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let is_terminal = match realm.to_i32(&call.argument(0))? {
        1 => std::io::stdout().is_terminal(),
        _ => std::io::stderr().is_terminal(),
    };
    Ok(realm.bool(is_terminal))
}

/// `exit(code)`: does not return, and no script runs after it.
pub(crate) fn exit(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.exit.set(Some(realm.to_i32(&call.argument(0))?));
    // The engine's Promise constructor catches even what cannot be caught: this stops the script then.
    host.cluster.stop(host.id);
    Err(realm.uncatchable_error("process.exit"))
}

/// `closeAgent()`: the agent ends after this job.
pub(crate) fn close_agent(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.is_closing.set(true);
    Ok(realm.undefined())
}

/// `wantTicks()`: `runTicks` is to be called before the next microtask.
pub(crate) fn want_ticks(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.wants_ticks.set(true);
    Ok(realm.undefined())
}

/// `parallelism()`: how many threads can run at a time.
pub(crate) fn parallelism(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(realm.number(u32::try_from(threads).unwrap_or(u32::MAX)))
}

pub(crate) fn open_text_realm(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    parts::open_text_realm(realm)
}

/// `runPart(name, host)`: what a part offers that runs when it is first asked for.
pub(crate) fn run_part(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    parts::run_one(realm, &realm.to_string(&call.argument(0))?, &call.argument(1))
}

/// `promiseState(promise)`: `["pending"]`, `["fulfilled", value]` or `["rejected", reason]`; undefined for what is none.
pub(crate) fn promise_state(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (name, value) = match realm.promise_state(&call.argument(0)) {
        PromiseState::Fulfilled(value) => ("fulfilled", value),
        PromiseState::Rejected(reason) => ("rejected", reason.into_value()),
        PromiseState::Pending => ("pending", realm.undefined()),
        PromiseState::NotAPromise => return Ok(realm.undefined()),
    };
    realm.array(&[realm.string(name)?, value])
}

/// `startTimer(id, milliseconds, keepsAlive)`
pub(crate) fn start_timer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = realm.to_index(&call.argument(0))?;
    let delay = Duration::from_millis(realm.to_index(&call.argument(1))?);
    host.timers.borrow_mut().start(id, Instant::now() + delay, realm.to_bool(&call.argument(2)));
    Ok(realm.undefined())
}

pub(crate) fn stop_timer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.timers.borrow_mut().stop(realm.to_index(&call.argument(0))?);
    Ok(realm.undefined())
}

pub(crate) fn ref_timer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.timers.borrow_mut().keep(realm.to_index(&call.argument(0))?, realm.to_bool(&call.argument(1)));
    Ok(realm.undefined())
}
