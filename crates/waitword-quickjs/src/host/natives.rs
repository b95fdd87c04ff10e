//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ffi::{Call, Exception, NativeFn, PromiseState, Realm, Value};
use crate::shared_array_buffer;

use super::agent_host::{self, Host, Port};
use super::channel::{Envelope, PortId};
use super::clone::{self, Kit};
use super::sources::{self, Compiled};
use super::worker::{self, Data, Entry, Letter, Shape};
use super::{EXIT_OUTPUT_CLOSED, ThreadId};

const NATIVES: &[(&str, NativeFn)] = &[
    ("write", write),
    ("exit", exit),
    ("closeAgent", close_agent),
    ("runGlobally", run_globally),
    ("openTextRealm", open_text_realm),
    ("cwd", cwd),
    ("startTimer", start_timer),
    ("stopTimer", stop_timer),
    ("refTimer", ref_timer),
    ("spawn", spawn),
    ("setKit", set_kit),
    ("pack", pack),
    ("seal", seal),
    ("discard", discard),
    ("takeData", take_data),
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
    agent_host::open_text_realm(realm)
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

/// `spawn(isSource, fileOrSource, argv, env, type, name, ids)`: the number of the new worker, whose `workerData` was packed
/// last. `env` has names and values in turn; type and name are of one of the web's shape.
fn spawn(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let data = host.send(realm, &call.argument(6))?;
    let text = realm.to_string(&call.argument(1))?;
    let entry = match realm.to_bool(&call.argument(0)) {
        true => Entry::Source(text),
        false => Entry::File(PathBuf::from(text)),
    };
    let texts = |list: &Value| {
        let elements = elements(realm, list)?;
        elements.iter().map(|each| realm.to_string(each)).collect::<Result<Vec<_>, _>>()
    };
    let (arguments, variables) = (texts(&call.argument(2))?, texts(&call.argument(3))?);
    let web = call.argument(4);
    let shape = match web.is_string() {
        true if realm.to_string(&web)? == "module" => Shape::WebModule,
        true => Shape::WebScript,
        false => Shape::Node,
    };
    let name = if web.is_string() { Some(realm.to_string(&call.argument(5))?) } else { None };
    match worker::spawn(&host, entry, shape, arguments, Data::OfParent { data, variables, name }) {
        Ok(id) => Ok(realm.number(id)),
        Err(error) => Err(realm.error(&format!("cannot start a thread for the worker: {error}"))),
    }
}

/// `setKit(functions)`: what `clone.js` does for messages.
fn set_kit(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.set_kit(Kit::new(realm, &call.argument(0))?);
    Ok(realm.undefined())
}

/// `pack(value, buffers, ports)`: the message that is sent next, once it is sealed.
fn pack(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let (buffers, ports) = (elements(realm, &call.argument(1))?, elements(realm, &call.argument(2))?);
    let parcel = clone::write(realm, host.kit(realm)?, &call.argument(0), &buffers, &ports)?;
    let replaced = host.outbox.replace(Some(parcel));
    drop(replaced);
    Ok(realm.undefined())
}

/// `seal(buffers, ports)`: the buffers move into it.
fn seal(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let buffers = elements(realm, &call.argument(0))?;
    let ports = realm.to_i32(&call.argument(1))?.unsigned_abs() as usize;
    // Out of the borrow: a refusal runs the script's getters.
    let Some(mut parcel) = host.outbox.take() else { return Err(realm.error("there is nothing to seal")) };
    parcel.seal(realm, host.kit(realm)?, &buffers, ports)?;
    let replaced = host.outbox.replace(Some(parcel));
    drop(replaced);
    Ok(realm.undefined())
}

/// `discard(ids)`: nobody can be sent it any more.
fn discard(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let envelope = agent_host::of(realm)?.send(realm, &call.argument(0))?;
    drop(envelope);
    Ok(realm.undefined())
}

/// `takeData()`: `workerData`.
fn take_data(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let Some(envelope) = host.data.take() else { return Ok(realm.undefined()) };
    let (data, _) = realm.within_memory_limit(|| host.unpack(realm, envelope))?;
    Ok(data)
}

/// `postToWorker(id, ids)`
fn post_to_worker(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = host.send(realm, &call.argument(1))?;
    if let Some(worker) = host.workers.borrow().get(&thread_id(realm, &call.argument(0))?) {
        worker.mailbox.post(envelope);
    }
    Ok(realm.undefined())
}

/// `postToParent(ids)`
fn post_to_parent(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = host.send(realm, &call.argument(0))?;
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

/// `receiveFromParent()`: the first message, in an array, or undefined.
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

/// `postToPort(id, ids)`
fn post_to_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = port_id(realm, &call.argument(0))?;
    let envelope = host.send(realm, &call.argument(1))?;
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

/// `receiveFromPort(id)`: the first message, in an array, or undefined.
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

fn received(realm: &Realm, host: &Host, envelope: Option<Envelope>) -> Result<Value, Exception> {
    let Some(envelope) = envelope else { return Ok(realm.undefined()) };
    // No job begins here, but whoever posted this may have grown memory before.
    shared_array_buffer::catch_up_all(realm)?;
    realm.array(&[host.unpack(realm, envelope)?.0])
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

/// `copy(ids)`: what another agent would read.
fn copy(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let envelope = host.send(realm, &call.argument(0))?;
    Ok(host.unpack(realm, envelope)?.0)
}

/// `resolve(specifier, importer)`: the path of a file.
fn resolve(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (specifier, importer) = (realm.to_string(&call.argument(0))?, realm.to_string(&call.argument(1))?);
    let path = sources::resolve(&importer, &specifier).map_err(|message| realm.error(&message))?;
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
            Err(realm.error(&format!("{path} is an ES module: use import() instead of require()")))
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

fn elements(realm: &Realm, list: &Value) -> Result<Vec<Value>, Exception> {
    let length = realm.to_i32(&realm.get(list, "length")?)?.unsigned_abs();
    (0..length).map(|index| realm.get(list, index)).collect()
}

fn port_id(realm: &Realm, value: &Value) -> Result<PortId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}

fn thread_id(realm: &Realm, value: &Value) -> Result<ThreadId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}
