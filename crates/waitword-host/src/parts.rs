//! The parts of the host's JavaScript half: those that every agent runs when it starts, and those that run at their first use.

use std::sync::OnceLock;

use waitword_quickjs::{Bytecode, Exception, Realm, Value};

/// Runs the parts that every agent needs. They share the object `script`.
///
/// # Errors
/// If the engine runs out of memory.
pub(crate) fn run_all(realm: &Realm, script: &Value) -> Result<(), Exception> {
    SCRIPTS.iter().try_for_each(|part| part.run(realm, script).map(drop))
}

/// Runs one of the parts that few programs need. Returns what it exports.
///
/// # Errors
/// If the engine runs out of memory, or there is no such part.
pub(crate) fn run_one(realm: &Realm, name: &str, script: &Value) -> Result<Value, Exception> {
    let is_it =
        |part: &&Part| part.name.rsplit('/').next().and_then(|file| file.strip_suffix(".js")) == Some(name);
    let part =
        LATER.iter().find(is_it).ok_or_else(|| realm.error(&format!("the host has no part {name}")))?;
    realm.beyond_memory_limit(|| part.run(realm, script))
}

/// Creates the private realm that formats values and parses texts. Returns the object with its functions.
///
/// # Errors
/// If the engine runs out of memory.
pub(crate) fn open_text_realm(realm: &Realm) -> Result<Value, Exception> {
    realm.beyond_memory_limit(|| {
        let realm = realm.sibling()?;
        let text = realm.object()?;
        TEXT_SCRIPTS.iter().try_for_each(|part| part.run(&realm, &text).map(drop))?;
        Ok(text)
    })
}

/// A script.
struct Part {
    /// The name in stacks.
    name: &'static str,
    text: &'static str,
    /// Parsed once per process, because parsing takes longer than the rest of an agent's start.
    code: OnceLock<Bytecode>,
}

impl Part {
    /// Runs it with the shared object. Returns what it exports.
    fn run(&self, realm: &Realm, script: &Value) -> Result<Value, Exception> {
        let code = match self.code.get() {
            Some(code) => code,
            None => {
                let compiled = realm.precompile(self.name, self.text)?;
                self.code.get_or_init(|| compiled)
            }
        };
        realm.call(&realm.run_precompiled(code)?, &realm.undefined(), std::slice::from_ref(script))
    }
}

macro_rules! parts {
    ($($file:literal),* $(,)?) => {
        [$(Part {
            name: concat!("waitword:", $file),
            text: include_str!(concat!("js/", $file)),
            code: OnceLock::new(),
        }),*]
    };
}

// `core/` is what every program needs, `web/` what pages have, `node/` the modules of Node, and `private_realm/` what runs where no
// script can reach.

/// The parts that every agent runs, in the order in which they build on each other.
static SCRIPTS: [Part; 16] = parts![
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
static LATER: [Part; 14] = parts![
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
static TEXT_SCRIPTS: [Part; 3] =
    parts!["private_realm/compare.js", "private_realm/inspect.js", "private_realm/messages.js"];
