//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`.

use waitword_quickjs::{Call, Exception, FromJs, IntoJs, NativeFn, Realm, Value};

use crate::agent_host::{self, Caller};
use crate::agent_name::ThreadId;
use crate::timers::TimerId;
use crate::{file_url, parts};

mod agent;
mod messages;
mod texts;
mod workers;

/// Makes a native function of one of ours, which receives the caller, and the arguments at these positions, converted to its parameter
/// types.
macro_rules! native {
    ($function:expr $(, $position:literal)*) => {
        |realm: &Realm, _call: &Call<'_>| {
            let (function, host) = ($function, agent_host::of(realm)?);
            function(Caller { host: &host, realm } $(, FromJs::from_js(realm, &_call.argument($position))?)*).into_js(realm)
        }
    };
}

const NATIVES: &[(&str, NativeFn)] = &[
    ("write", native!(agent::write, 0, 1)),
    ("isTerminal", native!(agent::is_terminal, 0)),
    ("exit", native!(agent::exit, 0)),
    // The agent ends after this job.
    ("closeAgent", native!(|by: Caller<'_>| by.host.is_closing.set(true))),
    // `runTicks` is to be called before the next microtask.
    ("wantTicks", native!(|by: Caller<'_>| by.host.wants_ticks.set(true))),
    ("parallelism", native!(agent::parallelism)),
    ("promiseState", native!(agent::promise_state, 0)),
    ("openTextRealm", native!(|by: Caller<'_>| parts::open_text_realm(by.realm))),
    // What a part offers that runs when it is first asked for.
    (
        "runPart",
        native!(|by: Caller<'_>, name: String, host: Value| parts::run_one(by.realm, &name, &host), 0, 1),
    ),
    ("startTimer", native!(agent::start_timer, 0, 1, 2)),
    ("stopTimer", native!(|by: Caller<'_>, id: TimerId| by.host.timers.borrow_mut().stop(id), 0)),
    (
        "refTimer",
        native!(|by: Caller<'_>, id: TimerId, keeps: bool| by.host.timers.borrow_mut().keep(id, keeps), 0, 1),
    ),
    ("cwd", native!(texts::cwd)),
    ("resolve", native!(texts::resolve, 0, 1)),
    (
        "readFile",
        native!(|by: Caller<'_>, path: String| texts::read(by.realm, &path).map(|read| read.text), 0),
    ),
    ("compileFile", native!(texts::compile_file, 0)),
    ("runGlobally", native!(texts::run_globally, 0, 1)),
    ("spawn", native!(workers::spawn, 0)),
    ("refWorker", native!(workers::ref_worker, 0, 1)),
    ("tapWorker", native!(workers::tap_worker, 0, 1, 2)),
    ("usageOfWorker", native!(workers::usage_of_worker, 0)),
    // Its end comes as a message.
    ("terminate", native!(|by: Caller<'_>, id: ThreadId| by.host.cluster.terminate(id), 0)),
    ("requestLock", native!(messages::request_lock, 0, 1, 2, 3)),
    ("releaseLock", native!(messages::release_lock, 0, 1)),
    ("queryLocks", native!(messages::query_locks)),
    ("setCloneFunctions", native!(messages::set_clone_functions, 0)),
    ("expectUncloneable", native!(messages::expect_uncloneable)),
    ("pack", native!(messages::pack, 0, 1, 2)),
    ("seal", native!(messages::seal, 0, 1)),
    ("copy", native!(messages::copy, 0)),
    ("takeData", native!(messages::take_data)),
    ("openChannel", native!(messages::open_channel)),
    ("postToPort", native!(messages::post_to_port, 0, 1)),
    ("listenToPort", native!(messages::listen_to_port, 0, 1, 2)),
    ("receiveFromPort", native!(messages::receive_from_port, 0)),
    ("closePort", native!(messages::close_port, 0)),
    ("joinGroup", native!(messages::join_group, 0)),
    ("postToGroup", native!(messages::post_to_group, 0, 1, 2)),
    ("leaveGroup", native!(messages::leave_group, 0, 1)),
    ("parseUrl", native!(texts::parse_url, 0, 1)),
    ("setUrl", native!(texts::set_url, 0, 1, 2)),
    // fileUrl(path): the URL of a file, of its absolute path.
    ("fileUrl", native!(|_: Caller<'_>, path: String| file_url::of(&path), 0)),
    // encodeUtf8(text): an ArrayBuffer.
    ("encodeUtf8", native!(|by: Caller<'_>, text: String| by.realm.array_buffer(text.as_bytes()), 0)),
    ("decodeUtf8", native!(texts::decode_utf8, 0, 1)),
    ("isUtf8", native!(texts::is_utf8, 0)),
];

/// `host.native`
///
/// # Errors
/// If the engine runs out of memory.
pub(crate) fn object(realm: &Realm) -> Result<Value, Exception> {
    let object = realm.object()?;
    for (name, native) in NATIVES {
        realm.set(&object, *name, &realm.function(name, 0, *native)?)?;
    }
    Ok(object)
}
