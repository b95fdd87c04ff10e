//! What an agent learns as it starts: `host.options` in the files under `js/`.

use waitword_quickjs::{Attributes, Exception, IntoJs, Realm, Value};

use crate::agent_host::Host;
use crate::worker_options::Data;

/// `host.options`. What its parent packed for it stays with the agent, until `takeData` reads it.
///
/// # Errors
/// Lack of memory.
pub(crate) fn object(host: &Host, realm: &Realm, data: Data) -> Result<Value, Exception> {
    let options = realm.object()?;
    let put = |name: &str, value: Result<Value, Exception>| realm.set(&options, name, &value?);
    put("argv", host.argv.clone().into_js(realm))?;
    put("pid", std::process::id().into_js(realm))?;
    put("platform", platform().into_js(realm))?;
    put("arch", architecture().into_js(realm))?;
    put("version", env!("CARGO_PKG_VERSION").into_js(realm))?;
    put("isMainThread", host.is_main().into_js(realm))?;
    put("threadId", host.id.into_js(realm))?;
    match data {
        Data::OfParent { data, variables, name } => {
            *host.links.data() = Some(data);
            put("env", env(realm, variables.chunks_exact(2).map(|pair| (&*pair[0], &*pair[1]))))?;
            put("web", name.into_js(realm))?;
        }
        Data::OfEmbedder(shared) => {
            put("shared", shared.into_js(realm))?;
            put("env", environment(realm))?;
        }
    }
    Ok(options)
}

/// The process's environment. Variables that are no text are left out.
fn environment(realm: &Realm) -> Result<Value, Exception> {
    let text = |each: std::ffi::OsString| each.into_string().ok();
    let pairs: Vec<_> =
        std::env::vars_os().filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect();
    env(realm, pairs.iter().map(|(key, value)| (&**key, &**value)))
}

/// An object with these names and values.
fn env<'a>(realm: &Realm, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Value, Exception> {
    let env = realm.object()?;
    for (name, value) in pairs {
        realm.define(&env, name, &realm.string(value)?, Attributes::ASSIGNED)?;
    }
    Ok(env)
}

/// The name that Node has for this system.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// The name that Node has for this processor.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "x86" => "ia32",
        "aarch64" => "arm64",
        other => other,
    }
}
