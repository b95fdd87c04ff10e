//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`.
//!
//! Here are those about the agent itself, its output, its timers and its end; in `messages.rs`, `threads.rs`, `workers.rs` and
//! `files.rs` the others, those of BroadcastChannels in `../rooms.rs`, and those of Blob URLs in `../blobs.rs`.

mod files;
mod messages;
mod threads;
mod workers;

use std::io::{ErrorKind, IsTerminal, Write};
use std::time::{Duration, Instant};

use waitword_quickjs::{Call, Exception, NativeFn, PromiseState, Realm, Value};

use super::channel::PortId;
use super::observed::Tap;
use super::worker::Letter;
use super::{EXIT_OUTPUT_CLOSED, agent_host, blobs, parts, rooms};

const NATIVES: &[(&str, NativeFn)] = &[
    ("write", write),
    ("isTerminal", is_terminal),
    ("wantTicks", want_ticks),
    ("parallelism", parallelism),
    ("runPart", run_part),
    ("joinRoom", rooms::join_room),
    ("postToRoom", rooms::post_to_room),
    ("leaveRoom", rooms::leave_room),
    ("keepBlob", blobs::keep_blob),
    ("findBlob", blobs::find_blob),
    ("revokeBlob", blobs::revoke_blob),
    ("exit", exit),
    ("closeAgent", close_agent),
    ("runGlobally", files::run_globally),
    ("openTextRealm", open_text_realm),
    ("cwd", files::cwd),
    ("startTimer", start_timer),
    ("stopTimer", stop_timer),
    ("refTimer", ref_timer),
    ("spawn", workers::spawn),
    ("setKit", messages::set_kit),
    ("pack", messages::pack),
    ("seal", messages::seal),
    ("discard", messages::discard),
    ("takeData", messages::take_data),
    ("postToWorker", workers::post_to_worker),
    ("postToParent", messages::post_to_parent),
    ("listen", messages::listen),
    ("closeParentPort", messages::close_parent_port),
    ("receiveFromParent", messages::receive_from_parent),
    ("openChannel", messages::open_channel),
    ("postToPort", messages::post_to_port),
    ("listenToPort", messages::listen_to_port),
    ("receiveFromPort", messages::receive_from_port),
    ("closePort", messages::close_port),
    ("refWorker", workers::ref_worker),
    ("tapWorker", workers::tap_worker),
    ("usageOfWorker", workers::usage_of_worker),
    ("postToThread", threads::post_to_thread),
    ("forgetAnswer", threads::forget_answer),
    ("requestLock", threads::request_lock),
    ("releaseLock", threads::release_lock),
    ("queryLocks", threads::query_locks),
    ("expectUncloneable", messages::expect_uncloneable),
    ("terminate", workers::terminate),
    ("copy", messages::copy),
    ("resolve", files::resolve),
    ("readFile", files::read_file),
    ("compileFile", files::compile_file),
    ("promiseState", promise_state),
];

/// `host.native`
///
/// # Errors
/// Lack of memory.
pub(crate) fn object(realm: &Realm) -> Result<Value, Exception> {
    let object = realm.object()?;
    for (name, native) in NATIVES {
        realm.set(&object, *name, &realm.function(name, 0, *native)?)?;
    }
    Ok(object)
}

/// `write(stream, text)`: one call is one locked write, so whole lines of several agents never mix.
fn write(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    if agent_host::of(realm)?.exit.get().is_some() {
        return Err(realm.uncatchable_error("process.exit"));
    }
    let stream = realm.to_i32(&call.argument(0))?;
    let text = realm.to_string(&call.argument(1))?;
    let written = if stream == 1 {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    } else {
        std::io::stderr().lock().write_all(text.as_bytes())
    };
    match written {
        Ok(()) => show_parent(realm, stream, text),
        // Nobody reads the results any more (`| head`): stop, quietly, instead of computing them.
        Err(error) if stream == 1 && error.kind() == ErrorKind::BrokenPipe => {
            agent_host::of(realm)?.cluster.end_program(EXIT_OUTPUT_CLOSED);
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
fn show_parent(realm: &Realm, stream: i32, text: String) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let Some(parent) = &host.parent else { return Ok(realm.undefined()) };
    let bytes = text.len() + PRINTED_OVERHEAD;
    let early = host.printed_early.get() + bytes;
    let is_wanted = match host.observed.tap(stream) {
        Tap::Unwanted => return Ok(realm.undefined()),
        Tap::Undecided if early > MOST_PRINTED_EARLY => return Ok(realm.undefined()),
        Tap::Undecided => {
            host.printed_early.set(early);
            false
        }
        Tap::Wanted => true,
    };
    match realm.memory_budget().map(|budget| budget.charge(bytes)) {
        None => parent.post((host.id, Letter::Printed(stream, text, None))),
        Some(Some(charge)) => parent.post((host.id, Letter::Printed(stream, text, Some(charge)))),
        Some(None) if is_wanted => return Err(host.kit(realm)?.no_room(realm)),
        // Nobody has asked for it yet.
        Some(None) => {}
    }
    Ok(realm.undefined())
}

/// `isTerminal(stream)`
fn is_terminal(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let is_terminal = match realm.to_i32(&call.argument(0))? {
        1 => std::io::stdout().is_terminal(),
        _ => std::io::stderr().is_terminal(),
    };
    Ok(realm.bool(is_terminal))
}

/// `exit(code)`: does not return, and no script runs after it.
fn exit(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.exit.set(Some(realm.to_i32(&call.argument(0))?));
    // The engine's Promise constructor catches even what cannot be caught: this stops the script then.
    host.cluster.terminate(host.id);
    Err(realm.uncatchable_error("process.exit"))
}

/// `closeAgent()`: the agent ends after this job.
fn close_agent(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.is_closing.set(true);
    Ok(realm.undefined())
}

/// `wantTicks()`: `runTicks` is to be called before the next microtask.
fn want_ticks(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.wants_ticks.set(true);
    Ok(realm.undefined())
}

/// `parallelism()`: how many threads can run at a time.
fn parallelism(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(realm.number(u32::try_from(threads).unwrap_or(u32::MAX)))
}

fn open_text_realm(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    parts::open_text_realm(realm)
}

/// `runPart(name, host)`: what a part offers that runs when it is first asked for.
fn run_part(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    parts::run_one(realm, &realm.to_string(&call.argument(0))?, &call.argument(1))
}

/// `promiseState(promise)`: `["pending"]`, `["fulfilled", value]` or `["rejected", reason]`; undefined for what is none.
fn promise_state(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (name, value) = match realm.promise_state(&call.argument(0)) {
        PromiseState::Fulfilled(value) => ("fulfilled", value),
        PromiseState::Rejected(reason) => ("rejected", reason.into_value()),
        PromiseState::Pending => ("pending", realm.undefined()),
        PromiseState::NotAPromise => return Ok(realm.undefined()),
    };
    realm.array(&[realm.string(name)?, value])
}

/// `startTimer(id, milliseconds, keepsAlive)`
fn start_timer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = realm.to_index(&call.argument(0))?;
    let delay = Duration::from_millis(realm.to_index(&call.argument(1))?);
    host.timers.borrow_mut().start(id, Instant::now() + delay, realm.to_bool(&call.argument(2)));
    Ok(realm.undefined())
}

fn stop_timer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.timers.borrow_mut().stop(realm.to_index(&call.argument(0))?);
    Ok(realm.undefined())
}

fn ref_timer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.timers.borrow_mut().keep(realm.to_index(&call.argument(0))?, realm.to_bool(&call.argument(1)));
    Ok(realm.undefined())
}

/// The elements of a list.
fn elements(realm: &Realm, list: &Value) -> Result<Vec<Value>, Exception> {
    let length = realm.to_i32(&realm.get(list, "length")?)?.unsigned_abs();
    (0..length).map(|index| realm.get(list, index)).collect()
}

pub(crate) fn port_id(realm: &Realm, value: &Value) -> Result<PortId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}
