//! The workers that an agent makes.

use std::path::PathBuf;
use std::time::Duration;

use waitword_quickjs::{Exception, FromJs, Realm, Value};

use crate::agent_host::{Caller, error_with_code};
use crate::agent_links::Tap;
use crate::agent_name::ThreadId;
use crate::worker_options::{Data, Entry, Shape, WorkerOptions};

/// `spawn({ isSource, text, words, variables, ids, memory, keepsOut, keepsErr, type, name })`: starts a worker with the data that was packed
/// last, and returns the numbers of the worker and of the port to it.
///
/// - `text`: a file, a URL or source text
/// - `variables`: alternating names and values
/// - `memory`: if greater than 0, the limit of the worker's memory in bytes
/// - `keepsOut`, `keepsErr`: whether the output goes to the parent only
/// - `type`, `name`: those of a web worker
///
/// No script runs in here.
pub(super) fn spawn(Caller { host, realm }: Caller<'_>, options: Value) -> Result<Vec<u32>, Exception> {
    let data = host.send(realm, get(realm, &options, "ids")?)?;
    let text: String = get(realm, &options, "text")?;
    let entry = match get(realm, &options, "isSource")? {
        true => Entry::Source(text),
        // Paths of files are absolute.
        false if text.starts_with("data:") => Entry::Data(text),
        false => Entry::File(PathBuf::from(text)),
    };
    let shape = match get::<Option<String>>(realm, &options, "type")?.as_deref() {
        Some("module") => Shape::WebModule,
        Some(_) => Shape::WebScript,
        None => Shape::Node,
    };
    let memory = get::<f64>(realm, &options, "memory")? as usize;
    let (variables, name) = (get(realm, &options, "variables")?, get(realm, &options, "name")?);
    let worker = WorkerOptions {
        entry,
        shape,
        memory: (memory > 0).then_some(memory),
        keeps: [get(realm, &options, "keepsOut")?, get(realm, &options, "keepsErr")?],
        arguments: get(realm, &options, "words")?,
        data: Data::OfParent { data, variables, name },
    };
    let made = (host.spawn)(host, worker).map_err(|why| {
        let message = format!("Worker initialization failure: {why}");
        error_with_code(realm, "ERR_WORKER_INIT_FAILED", &message)
    });
    made.map(|(id, port)| vec![id, port])
}

fn get<T: FromJs>(realm: &Realm, object: &Value, key: &str) -> Result<T, Exception> {
    T::from_js(realm, &realm.get(object, key)?)
}

/// `refWorker(id, keepsAlive)`
pub(super) fn ref_worker(by: Caller<'_>, id: ThreadId, keeps_alive: bool) {
    if let Some(worker) = by.host.workers.borrow_mut().get_mut(&id) {
        worker.keeps_alive = keeps_alive;
    }
}

/// `tapWorker(id, stream, isWanted)`: sets whether this agent reads its worker's output.
pub(super) fn tap_worker(by: Caller<'_>, id: ThreadId, stream: i32, is_wanted: bool) {
    if let Some(worker) = by.host.workers.borrow().get(&id) {
        worker.links.observed.set_tap(stream, if is_wanted { Tap::Wanted } else { Tap::Unwanted });
    }
}

/// `usageOfWorker(id)`: returns the milliseconds for which its event loop was idle, and those for which it was active.
pub(super) fn usage_of_worker(by: Caller<'_>, id: ThreadId) -> Vec<f64> {
    let workers = by.host.workers.borrow();
    let (idle, active) =
        workers.get(&id).map(|worker| worker.links.observed.idle_and_active()).unwrap_or_default();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    vec![milliseconds(idle), milliseconds(active)]
}
