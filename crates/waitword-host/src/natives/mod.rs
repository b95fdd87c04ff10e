//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`.

use waitword_quickjs::{Exception, NativeFn, Realm, Value};

mod agent;
mod files;
mod locks;
mod messages;
mod texts;
mod workers;

const NATIVES: &[(&str, NativeFn)] = &[
    ("write", agent::write),
    ("isTerminal", agent::is_terminal),
    ("wantTicks", agent::want_ticks),
    ("parallelism", agent::parallelism),
    ("runPart", agent::run_part),
    ("joinGroup", messages::join_group),
    ("postToGroup", messages::post_to_group),
    ("leaveGroup", messages::leave_group),
    ("exit", agent::exit),
    ("closeAgent", agent::close_agent),
    ("runGlobally", files::run_globally),
    ("openTextRealm", agent::open_text_realm),
    ("cwd", files::cwd),
    ("startTimer", agent::start_timer),
    ("stopTimer", agent::stop_timer),
    ("refTimer", agent::ref_timer),
    ("spawn", workers::spawn),
    ("setCloneFunctions", messages::set_clone_functions),
    ("pack", messages::pack),
    ("seal", messages::seal),
    ("takeData", messages::take_data),
    ("openChannel", messages::open_channel),
    ("postToPort", messages::post_to_port),
    ("listenToPort", messages::listen_to_port),
    ("receiveFromPort", messages::receive_from_port),
    ("closePort", messages::close_port),
    ("refWorker", workers::ref_worker),
    ("tapWorker", workers::tap_worker),
    ("usageOfWorker", workers::usage_of_worker),
    ("requestLock", locks::request_lock),
    ("releaseLock", locks::release_lock),
    ("queryLocks", locks::query_locks),
    ("expectUncloneable", messages::expect_uncloneable),
    ("terminate", workers::terminate),
    ("copy", messages::copy),
    ("resolve", files::resolve),
    ("readFile", files::read_file),
    ("compileFile", files::compile_file),
    ("parseUrl", texts::parse_url),
    ("setUrl", texts::set_url),
    ("fileUrl", texts::file_url),
    ("encodeUtf8", texts::encode_utf8),
    ("decodeUtf8", texts::decode_utf8),
    ("isUtf8", texts::is_utf8),
    ("promiseState", agent::promise_state),
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
