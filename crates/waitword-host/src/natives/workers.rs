//! The workers that an agent makes.

use std::path::PathBuf;

use crate::agent_host;
use crate::agent_name::ThreadId;
use crate::observed::Tap;
use crate::worker_options::{Data, Entry, Shape};
use waitword_quickjs::{Call, Exception, Realm, Value};

use super::messages::elements;

/// `spawn(isSource, fileOrUrlOrSource, argv, env, ids, memory, keepsOut, keepsErr, type, name)`: the numbers of the new worker,
/// which begins with what was packed last, and of the port to it. `env` has names and values in turn; `memory`, if it is more than 0, is how many bytes the worker may
/// hold; what it prints goes to its parent alone where that keeps it; type and name are of one of the web's shape.
pub(crate) fn spawn(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let data = host.send(realm, &call.argument(4))?;
    let text = realm.to_string(&call.argument(1))?;
    let entry = match realm.to_bool(&call.argument(0)) {
        true => Entry::Source(text),
        // Paths of files are absolute.
        false if text.starts_with("data:") => Entry::Data(text),
        false => Entry::File(PathBuf::from(text)),
    };
    let texts = |list: &Value| {
        let elements = elements(realm, list)?;
        elements.iter().map(|each| realm.to_string(each)).collect::<Result<Vec<_>, _>>()
    };
    let (arguments, variables) = (texts(&call.argument(2))?, texts(&call.argument(3))?);
    let keeps = [6, 7].map(|index| realm.to_bool(&call.argument(index)));
    let web = call.argument(8);
    let shape = match web.is_string() {
        true if realm.to_string(&web)? == "module" => Shape::WebModule,
        true => Shape::WebScript,
        false => Shape::Node,
    };
    let bytes = call.argument(5).as_number().unwrap_or(0.0) as usize;
    let memory = (bytes > 0).then_some(bytes);
    let name = if web.is_string() { Some(realm.to_string(&call.argument(9))?) } else { None };
    let data = Data::OfParent { data, variables, name };
    match (host.spawn)(&host, entry, shape, memory, keeps, arguments, data) {
        Ok((id, port)) => realm.array(&[realm.number(id), realm.number(port)]),
        Err(why) => {
            let message = format!("Worker initialization failure: {why}");
            Err(agent_host::error_with_code(realm, "ERR_WORKER_INIT_FAILED", &message))
        }
    }
}

/// `refWorker(id, keepsAlive)`
pub(crate) fn ref_worker(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = thread_id(realm, &call.argument(0))?;
    if let Some(worker) = host.workers.borrow_mut().get_mut(&id) {
        worker.keeps_alive = realm.to_bool(&call.argument(1));
    }
    Ok(realm.undefined())
}

/// `terminate(id)`. Its end comes as a message.
pub(crate) fn terminate(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.cluster.terminate(thread_id(realm, &call.argument(0))?);
    Ok(realm.undefined())
}

/// `tapWorker(id, stream, isWanted)`: whether this agent reads what its worker prints.
pub(crate) fn tap_worker(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = thread_id(realm, &call.argument(0))?;
    let tap = if realm.to_bool(&call.argument(2)) { Tap::Wanted } else { Tap::Unwanted };
    if let Some(worker) = host.workers.borrow().get(&id) {
        worker.observed.set_tap(realm.to_i32(&call.argument(1))?, tap);
    }
    Ok(realm.undefined())
}

/// `usageOfWorker(id)`: the milliseconds that its event loop was idle, and those that it was not.
pub(crate) fn usage_of_worker(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = thread_id(realm, &call.argument(0))?;
    let (idle, active) =
        host.workers.borrow().get(&id).map(|worker| worker.observed.idle_and_active()).unwrap_or_default();
    let milliseconds = |time: std::time::Duration| realm.number(time.as_secs_f64() * 1000.0);
    realm.array(&[milliseconds(idle), milliseconds(active)])
}

fn thread_id(realm: &Realm, value: &Value) -> Result<ThreadId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}
