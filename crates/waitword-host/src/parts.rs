//! The JavaScript half of the host, part by part: what every agent runs as it starts, and what runs when a script first asks for it.

use std::sync::OnceLock;

use waitword_quickjs::{Bytecode, Exception, Realm, Value};

/// Runs the parts that every agent needs. They build on the object `script` together.
///
/// # Errors
/// Lack of memory.
pub(crate) fn run_all(realm: &Realm, script: &Value) -> Result<(), Exception> {
    static CODE: Cache<{ SCRIPTS.len() }> = new_cache();
    run(realm, SCRIPTS, &CODE, script)
}

/// Runs one of the parts that few programs need; what it offers.
///
/// # Errors
/// Lack of memory, and a part that there is none of.
pub(crate) fn run_one(realm: &Realm, name: &str, script: &Value) -> Result<Value, Exception> {
    static CODE: Cache<{ LATER.len() }> = new_cache();
    let is_it = |path: &str| path.strip_suffix(".js").and_then(|path| path.rsplit('/').next()) == Some(name);
    let index = LATER.iter().position(|(path, _)| is_it(path));
    let index = index.ok_or_else(|| realm.error(&format!("the host has no part {name}")))?;
    realm.beyond_memory_limit(|| {
        let part = realm.run_precompiled(precompiled(realm, LATER[index], &CODE[index])?)?;
        realm.call(&part, &realm.undefined(), std::slice::from_ref(script))
    })
}

/// Makes the realm in which texts are made and taken apart; the object that holds its functions.
///
/// # Errors
/// Lack of memory.
pub(crate) fn open_text_realm(realm: &Realm) -> Result<Value, Exception> {
    static CODE: Cache<{ TEXT_SCRIPTS.len() }> = new_cache();
    realm.beyond_memory_limit(|| {
        let realm = realm.sibling()?;
        let text = realm.object()?;
        run(&realm, TEXT_SCRIPTS, &CODE, &text)?;
        Ok(text)
    })
}

/// Scripts, parsed once per process: that takes longer than all else that an agent needs to start.
type Cache<const N: usize> = [OnceLock<Bytecode>; N];

const fn new_cache<const N: usize>() -> Cache<N> {
    [const { OnceLock::new() }; N]
}

fn run(
    realm: &Realm,
    scripts: &[Script],
    code: &[OnceLock<Bytecode>],
    script: &Value,
) -> Result<(), Exception> {
    for (each, code) in scripts.iter().zip(code) {
        let part = realm.run_precompiled(precompiled(realm, *each, code)?)?;
        realm.call(&part, &realm.undefined(), std::slice::from_ref(script))?;
    }
    Ok(())
}

fn precompiled<'a>(
    realm: &Realm,
    (name, text): Script,
    code: &'a OnceLock<Bytecode>,
) -> Result<&'a Bytecode, Exception> {
    if let Some(code) = code.get() {
        return Ok(code);
    }
    let compiled = realm.precompile(name, text)?;
    Ok(code.get_or_init(|| compiled))
}

/// The name that stacks show, and the text.
type Script = (&'static str, &'static str);

macro_rules! scripts {
    ($($file:literal),* $(,)?) => {
        &[$((concat!("waitword:", $file), include_str!(concat!("js/", $file)))),*]
    };
}

// `core/` is what every program needs, `web/` what pages have, `node/` the modules of Node, and `private_realm/` what runs where no
// script can reach.

/// The parts that every agent runs, in the order in which they build on each other.
const SCRIPTS: &[Script] = scripts![
    "core/prelude.js",
    "core/stack.js",
    "core/console.js",
    "node/events.js",
    "web/event_target.js",
    "web/dom_exception.js",
    "core/clone.js",
    "core/transfer.js",
    "core/timers.js",
    "core/lifecycle.js",
    "node/path.js",
    "node/modules.js",
    "web/message_port.js",
    "node/worker_threads.js",
    "core/thrown.js",
    "core/boot.js",
];

/// The parts that run when they are first asked for (`host.part`).
const LATER: &[Script] = scripts![
    "web/abort.js",
    "node/assert.js",
    "web/broadcast_channel.js",
    "web/encoding.js",
    "web/event.js",
    "node/locks.js",
    "node/process.js",
    "node/promises.js",
    "node/readable.js",
    "web/scope.js",
    "node/small_modules.js",
    "web/url.js",
    "web/web_worker.js",
    "node/worker.js",
];

/// The scripts of the private realm.
const TEXT_SCRIPTS: &[Script] =
    scripts!["private_realm/compare.js", "private_realm/inspect.js", "private_realm/messages.js"];
