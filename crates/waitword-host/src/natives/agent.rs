//! Natives of the agent itself: output, timers, parts, exit.

use std::io::{ErrorKind, IsTerminal, Write};
use std::time::{Duration, Instant};

use waitword_quickjs::{Exception, PromiseState, Realm, Value};

use crate::agent_host::{Caller, Host};
use crate::agent_links::Tap;
use crate::ended::EXIT_OUTPUT_CLOSED;
use crate::mailbox::{Arrival, WorkerEvent};
use crate::timers::TimerId;

/// `write(stream, text)`: one call is one locked write, so whole lines of several agents never mix.
pub(super) fn write(Caller { host, realm }: Caller<'_>, stream: i32, text: String) -> Result<(), Exception> {
    if host.exit.get().is_some() {
        return Err(realm.uncatchable_error("process.exit"));
    }
    if host.links.observed.tap(stream) == Tap::Kept {
        return show_parent(realm, host, stream, text);
    }
    let written = if stream == 1 {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    } else {
        std::io::stderr().lock().write_all(text.as_bytes())
    };
    match written {
        Ok(()) => show_parent(realm, host, stream, text),
        // The reader has closed the output (as `| head` does): stop quietly instead of computing more.
        Err(error) if stream == 1 && error.kind() == ErrorKind::BrokenPipe => {
            host.cluster.end_program(EXIT_OUTPUT_CLOSED);
            Err(realm.uncatchable_error("standard output is closed"))
        }
        Err(error) if stream == 1 => Err(realm.error(&format!("cannot write to standard output: {error}"))),
        // Errors of standard error are ignored.
        Err(_) => Ok(()),
    }
}

/// The bytes of a worker's output that are kept while the parent has not yet decided whether to read it.
const MOST_PRINTED_EARLY: usize = 64 << 10;
/// The cost in bytes of a piece of printed text, besides its own.
const PRINTED_OVERHEAD: usize = 128;

/// Sends printed text to a parent that reads `worker.stdout` or `worker.stderr`.
fn show_parent(realm: &Realm, host: &Host, stream: i32, text: String) -> Result<(), Exception> {
    let Some(parent) = &host.links.parent else { return Ok(()) };
    let bytes = text.len() + PRINTED_OVERHEAD;
    let early = host.printed_early.get() + bytes;
    let is_wanted = match host.links.observed.tap(stream) {
        Tap::Unwanted => return Ok(()),
        Tap::Undecided if early > MOST_PRINTED_EARLY => return Ok(()),
        Tap::Undecided => {
            host.printed_early.set(early);
            false
        }
        Tap::Wanted | Tap::Kept => true,
    };
    let charge = match realm.memory_budget().map(|budget| budget.charge(bytes)) {
        Some(None) if is_wanted => return Err(host.clone_functions(realm)?.no_room()),
        // The parent has not asked for it yet.
        Some(None) => return Ok(()),
        charge => charge.flatten(),
    };
    parent.post(Arrival::OfWorker(host.id, WorkerEvent::Printed(stream, text, charge)));
    Ok(())
}

/// `isTerminal(stream)`
pub(super) fn is_terminal(_: Caller<'_>, stream: i32) -> bool {
    if stream == 1 { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() }
}

/// `exit(code)`: ends the agent. Does not return, and no script runs after it.
pub(super) fn exit(Caller { host, realm }: Caller<'_>, code: i32) -> Result<(), Exception> {
    host.exit.set(Some(code));
    // The engine's Promise constructor catches even uncatchable errors. This stops the script then.
    host.cluster.stop(host.id);
    Err(realm.uncatchable_error("process.exit"))
}

/// `parallelism()`: returns how many threads can run at a time.
pub(super) fn parallelism(_: Caller<'_>) -> u32 {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(threads).unwrap_or(u32::MAX)
}

/// `promiseState(promise)`: returns `["pending"]`, `["fulfilled", value]` or `["rejected", reason]`, or undefined for other values.
pub(super) fn promise_state(by: Caller<'_>, promise: Value) -> Result<Option<Vec<Value>>, Exception> {
    let (name, value) = match by.realm.promise_state(&promise) {
        PromiseState::Fulfilled(value) => ("fulfilled", value),
        PromiseState::Rejected(reason) => ("rejected", reason.into_value()),
        PromiseState::Pending => ("pending", by.realm.undefined()),
        PromiseState::NotAPromise => return Ok(None),
    };
    Ok(Some(vec![by.realm.string(name)?, value]))
}

/// `startTimer(id, milliseconds, keepsAlive)`
pub(super) fn start_timer(by: Caller<'_>, id: TimerId, milliseconds: u64, keeps_alive: bool) {
    let due = Instant::now() + Duration::from_millis(milliseconds);
    by.host.timers.borrow_mut().start(id, due, keeps_alive);
}
