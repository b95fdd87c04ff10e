//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ffi::{Call, Exception, NativeFn, PromiseState, Realm, Value};
use crate::shared_array_buffer;

use super::agent_host::{self, Host, Port};
use super::channel::{Envelope, PortId};
use super::rooms::{join_room, leave_room, post_to_room};
use super::sources::{self, Compiled};
use super::worker::{self, Entry, Letter, Shape};
use super::{EXIT_OUTPUT_CLOSED, ThreadId, parts};

const NATIVES: &[(&str, NativeFn)] = &[
    ("write", write),
    ("isTerminal", is_terminal),
    ("wantTicks", want_ticks),
    ("parallelism", parallelism),
    ("runPart", run_part),
    ("joinRoom", join_room),
    ("postToRoom", post_to_room),
    ("leaveRoom", leave_room),
    ("exit", exit),
    ("closeAgent", close_agent),
    ("runGlobally", run_globally),
    ("openTextRealm", open_text_realm),
    ("cwd", cwd),
    ("startTimer", start_timer),
    ("stopTimer", stop_timer),
    ("refTimer", ref_timer),
    ("spawn", spawn),
    ("postToWorker", post_to_worker),
    ("postToParent", post_to_parent),
    ("listen", listen),
    ("receiveFromParent", receive_from_parent),
    ("openChannel", open_channel),
    ("postToPort", post_to_port),
    ("listenToPort", listen_to_port),
    ("receiveFromPort", receive_from_port),
    ("closePort", close_port),
    ("refWorker", ref_worker),
    ("terminate", terminate),
    ("copy", copy),
    ("resolve", resolve),
    ("readFile", read_file),
    ("compileFile", compile_file),
    ("promiseState", promise_state),
];

/// `host.native`
///
/// # Errors
/// Lack of memory.
pub(super) fn object(realm: &Realm) -> Result<Value, Exception> {
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
        Ok(()) => Ok(realm.undefined()),
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

/// `runGlobally(isSource, fileOrSource)`: as a classic script of a page.
fn run_globally(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let text = realm.to_string(&call.argument(1))?;
    if realm.to_bool(&call.argument(0)) {
        return realm.eval(sources::EVAL, &text);
    }
    let source = sources::read(Path::new(&text)).map_err(|message| realm.error(&message))?;
    realm.eval(&text, &source)
}

fn open_text_realm(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    parts::open_text_realm(realm)
}

/// `runPart(name, host)`: what a part offers that runs when it is first asked for.
fn run_part(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    parts::run_one(realm, &realm.to_string(&call.argument(0))?, &call.argument(1))
}

/// `isTerminal(stream)`
fn is_terminal(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let is_terminal = match realm.to_i32(&call.argument(0))? {
        1 => std::io::stdout().is_terminal(),
        _ => std::io::stderr().is_terminal(),
    };
    Ok(realm.bool(is_terminal))
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

fn cwd(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    match std::env::current_dir() {
        Ok(path) => realm.string(&path.to_string_lossy()),
        Err(error) => Err(realm.error(&format!("no current directory: {error}"))),
    }
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

/// `spawn(isSource, fileOrSource, argv, [birth, env, name], web, memory)`: the number of the new worker. `web` is the type of
/// one of the web's shape; `memory`, unless it is 0, how many bytes the engine may hold for it.
fn spawn(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let text = realm.to_string(&call.argument(1))?;
    let entry = match realm.to_bool(&call.argument(0)) {
        true => Entry::Source(text),
        false => Entry::File(PathBuf::from(text)),
    };
    let list = call.argument(2);
    let length = realm.to_i32(&realm.get(&list, "length")?)?;
    let arguments = (0..length.unsigned_abs()).map(|index| realm.to_string(&realm.get(&list, index)?));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let data = call.argument(3);
    let data = host.pack(realm, &data, &realm.get(&data, 0)?)?;
    let web = call.argument(4);
    let shape = match web.is_string() {
        true if realm.to_string(&web)? == "module" => Shape::WebModule,
        true => Shape::WebScript,
        false => Shape::Node,
    };
    let memory = usize::try_from(realm.to_index(&call.argument(5))?).ok().filter(|bytes| *bytes > 0);
    match worker::spawn(&host, entry, shape, memory, arguments, data) {
        Ok(id) => Ok(realm.number(id)),
        Err(error) => Err(realm.error(&format!("cannot start a thread for the worker: {error}"))),
    }
}

/// `postToWorker(id, table)`
fn post_to_worker(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = pack(realm, &host, &call.argument(1))?;
    if let Some(worker) = host.workers.borrow().get(&thread_id(realm, &call.argument(0))?) {
        worker.mailbox.post(envelope);
    }
    Ok(realm.undefined())
}

/// `postToParent(table)`
fn post_to_parent(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = pack(realm, &host, &call.argument(0))?;
    if let Some(parent) = &host.parent {
        parent.post((host.id, Letter::Message(envelope)));
    }
    Ok(realm.undefined())
}

/// `listen(isOpen, keepsAlive)`: whether `parentPort` takes messages.
fn listen(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (is_open, keeps_alive) = (realm.to_bool(&call.argument(0)), realm.to_bool(&call.argument(1)));
    agent_host::of(realm)?.port.set(Port { is_open, keeps_alive });
    Ok(realm.undefined())
}

/// `receiveFromParent()`: the table of the first message, or undefined.
fn receive_from_parent(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = host.from_parent.take();
    received(realm, &host, envelope)
}

/// `openChannel()`: the numbers of its two ports.
fn open_channel(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let (one, other) = agent_host::of(realm)?.ports.borrow_mut().open();
    realm.array(&[realm.number(one), realm.number(other)])
}

/// `postToPort(id, table)`
fn post_to_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = port_id(realm, &call.argument(0))?;
    let envelope = pack(realm, &host, &call.argument(1))?;
    let refused = host.ports.borrow().post(id, envelope);
    drop(refused);
    Ok(realm.undefined())
}

/// `listenToPort(id, receives, keepsAlive)`
fn listen_to_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let id = port_id(realm, &call.argument(0))?;
    let (receives, keeps_alive) = (realm.to_bool(&call.argument(1)), realm.to_bool(&call.argument(2)));
    agent_host::of(realm)?.ports.borrow_mut().listen(id, receives, keeps_alive);
    Ok(realm.undefined())
}

/// `receiveFromPort(id)`: the table of the first message, or undefined.
fn receive_from_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = host.ports.borrow().take_message(port_id(realm, &call.argument(0))?);
    received(realm, &host, envelope)
}

/// `closePort(id)`. That it is closed comes as a letter.
fn close_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.ports.borrow_mut().close(port_id(realm, &call.argument(0))?);
    Ok(realm.undefined())
}

fn pack(realm: &Realm, host: &Host, table: &Value) -> Result<Envelope, Exception> {
    host.pack(realm, table, table)
}

fn received(realm: &Realm, host: &Host, envelope: Option<Envelope>) -> Result<Value, Exception> {
    let Some(envelope) = envelope else { return Ok(realm.undefined()) };
    // No job begins here, but whoever posted this may have grown memory before.
    shared_array_buffer::catch_up_all(realm)?;
    host.unpack(realm, envelope)
}

/// `refWorker(id, keepsAlive)`
fn ref_worker(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = thread_id(realm, &call.argument(0))?;
    if let Some(worker) = host.workers.borrow_mut().get_mut(&id) {
        worker.keeps_alive = realm.to_bool(&call.argument(1));
    }
    Ok(realm.undefined())
}

/// `terminate(id)`. Its end comes as a letter.
fn terminate(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.cluster.terminate(thread_id(realm, &call.argument(0))?);
    Ok(realm.undefined())
}

/// `copy(table)`: what another agent would read.
fn copy(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = pack(realm, &host, &call.argument(0))?;
    host.unpack(realm, envelope)
}

/// `resolve(specifier, importer)`: the path of a file.
fn resolve(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (specifier, importer) = (realm.to_string(&call.argument(0))?, realm.to_string(&call.argument(1))?);
    let path = sources::resolve(&importer, &specifier);
    let path = path.map_err(|message| agent_host::error_with_code(realm, "MODULE_NOT_FOUND", &message))?;
    realm.string(&path.to_string_lossy())
}

fn read_file(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let path = realm.to_string(&call.argument(0))?;
    realm.string(&sources::read(Path::new(&path)).map_err(|message| realm.error(&message))?)
}

/// `compileFile(path)`: the function that a CommonJS module is.
fn compile_file(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let path = realm.to_string(&call.argument(0))?;
    let text = sources::read(Path::new(&path)).map_err(|message| realm.error(&message))?;
    match sources::compile(&host, realm, &path, text)? {
        Compiled::Script(function) => Ok(function),
        Compiled::Module(_) => {
            let message = format!("{path} is an ES module: use import() instead of require()");
            Err(agent_host::error_with_code(realm, "ERR_REQUIRE_ESM", &message))
        }
    }
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

pub(super) fn port_id(realm: &Realm, value: &Value) -> Result<PortId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}

fn thread_id(realm: &Realm, value: &Value) -> Result<ThreadId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}
