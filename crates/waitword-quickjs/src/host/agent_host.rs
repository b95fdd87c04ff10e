//! What one agent of a program has besides its scripts: boxes, timers, workers, and the JavaScript half of the host.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::convert::IntoJs;
use crate::doorbell::Doorbell;
use crate::ffi::{Attributes, Exception, Message, Realm, Value};

use super::channel::{End, Envelope};
use super::cluster::Cluster;
use super::failure::FailureKind;
use super::mailbox::Mailbox;
use super::ports::Ports;
use super::timers::Timers;
use super::worker::{Data, Letter, Shape};
use super::{Limits, MAIN, ThreadId, natives, parts};

/// The state of one agent. It belongs to the agent's thread and is found through its runtime.
pub(super) struct Host {
    pub(super) id: ThreadId,
    pub(super) cluster: Arc<Cluster>,
    pub(super) bell: Arc<Doorbell>,
    /// `process.argv`: the program, the script, its arguments.
    pub(super) argv: Vec<String>,
    /// How its script is read.
    pub(super) shape: Shape,
    /// Its own, and those of its workers.
    pub(super) limits: Limits,
    /// The text that a worker was made of, if it was not made of a file.
    pub(super) eval_source: String,
    /// What the parent posted. Empty for ever in the main agent.
    pub(super) from_parent: Arc<Mailbox<Envelope>>,
    /// What the workers of this agent posted.
    pub(super) from_workers: Arc<Mailbox<(ThreadId, Letter)>>,
    /// Where to post to the parent.
    pub(super) parent: Option<Arc<Mailbox<(ThreadId, Letter)>>>,
    pub(super) timers: RefCell<Timers>,
    pub(super) workers: RefCell<BTreeMap<ThreadId, Worker>>,
    pub(super) ports: RefCell<Ports>,
    /// `parentPort`.
    pub(super) port: Cell<Port>,
    /// Set when the script called `process.exit`.
    pub(super) exit: Cell<Option<i32>>,
    /// Set when the script called `process.nextTick`, and nothing of that has run yet.
    pub(super) wants_ticks: Cell<bool>,
    /// Set when the script called `close`: the job that did so is the agent's last.
    pub(super) is_closing: Cell<bool>,
    /// The object that the JavaScript half is made of.
    script: OnceCell<Value>,
}

/// A worker, seen by the agent that made it.
pub(super) struct Worker {
    pub(super) mailbox: Arc<Mailbox<Envelope>>,
    pub(super) keeps_alive: bool,
}

/// Whether `parentPort` takes messages.
#[derive(Clone, Copy, Default)]
pub(super) struct Port {
    pub(super) is_open: bool,
    pub(super) keeps_alive: bool,
}

/// What a [`Host`] is made of.
pub(super) struct Parts {
    pub(super) id: ThreadId,
    pub(super) cluster: Arc<Cluster>,
    pub(super) bell: Arc<Doorbell>,
    pub(super) argv: Vec<String>,
    pub(super) shape: Shape,
    pub(super) limits: Limits,
    pub(super) eval_source: String,
    pub(super) from_parent: Arc<Mailbox<Envelope>>,
    pub(super) parent: Option<Arc<Mailbox<(ThreadId, Letter)>>>,
}

impl Host {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { id, cluster, bell, argv, shape, limits, eval_source, from_parent, parent } = parts;
        let from_workers = Arc::new(Mailbox::new(Arc::clone(&bell)));
        let ports = RefCell::new(Ports::new(&bell));
        Self {
            id,
            cluster,
            bell,
            argv,
            shape,
            limits,
            eval_source,
            from_parent,
            from_workers,
            parent,
            timers: RefCell::default(),
            workers: RefCell::default(),
            ports,
            port: Cell::default(),
            exit: Cell::default(),
            wants_ticks: Cell::default(),
            is_closing: Cell::default(),
            script: OnceCell::new(),
        }
    }

    pub(super) fn is_main(&self) -> bool {
        self.id == MAIN
    }

    /// Runs the JavaScript half in a realm: the globals of the scripts.
    ///
    /// # Errors
    /// Lack of memory.
    pub(super) fn boot(&self, realm: &Realm, data: Data) -> Result<(), Exception> {
        let script = realm.object()?;
        realm.set(&script, "native", &natives::object(realm)?)?;
        realm.set(&script, "options", &self.options(realm, data)?)?;
        parts::run_all(realm, &script)?;
        // Booted once, so the cell is empty.
        let _ = self.script.set(script);
        Ok(())
    }

    fn options(&self, realm: &Realm, data: Data) -> Result<Value, Exception> {
        let options = realm.object()?;
        let argv = self.argv.iter().map(|each| realm.string(each)).collect::<Result<Vec<_>, _>>()?;
        realm.set(&options, "argv", &realm.array(&argv)?)?;
        realm.set(&options, "pid", &realm.number(std::process::id()))?;
        realm.set(&options, "platform", &realm.string(platform())?)?;
        realm.set(&options, "arch", &realm.string(architecture())?)?;
        realm.set(&options, "version", &realm.string(env!("CARGO_PKG_VERSION"))?)?;
        realm.set(&options, "isMainThread", &realm.bool(self.is_main()))?;
        realm.set(&options, "threadId", &realm.number(self.id))?;
        match data {
            Data::OfParent(envelope) => {
                let pair = realm.read_message(&envelope.message)?;
                let table = realm.get(&pair, 0)?;
                self.adopt(realm, &table, envelope.ports)?;
                realm.set(&options, "data", &table)?;
                realm.set(&options, "env", &realm.get(&pair, 1)?)?;
                realm.set(&options, "web", &realm.get(&pair, 2)?)?;
            }
            Data::OfEmbedder(shared) => {
                if let Some(block) = shared {
                    realm.set(&options, "shared", &block.into_js(realm)?)?;
                }
                realm.set(&options, "env", &environment(realm)?)?;
            }
        }
        Ok(options)
    }

    /// Calls a function of the JavaScript half by its path: `receive.message`.
    ///
    /// # Errors
    /// What it throws.
    pub(super) fn call(&self, realm: &Realm, path: &str, arguments: &[Value]) -> Result<Value, Exception> {
        let script = self.script.get().cloned().unwrap_or_else(|| realm.undefined());
        let function = path.split('.').try_fold(script, |object, key| realm.get(&object, key))?;
        realm.call(&function, &realm.undefined(), arguments)
    }

    /// A table of `clone.js` with the ports that it names, which leave this agent. `value` is the table, or holds it.
    ///
    /// # Errors
    /// Lack of memory, and a port that the agent does not have any more: all others stay then.
    pub(super) fn pack(&self, realm: &Realm, value: &Value, table: &Value) -> Result<Envelope, Exception> {
        let message = realm.write_message(value)?;
        let ids = realm.get(table, PORTS)?;
        let length = realm.to_i32(&realm.get(&ids, "length")?)?.unsigned_abs();
        let ids = (0..length).map(|index| Ok(realm.to_i32(&realm.get(&ids, index)?)?.unsigned_abs()));
        let ids = ids.collect::<Result<Vec<_>, Exception>>()?;
        let mut ports = self.ports.borrow_mut();
        Ok(Envelope { message, ports: ids.into_iter().filter_map(|id| ports.send_away(id)).collect() })
    }

    /// The table in an envelope, with the numbers under which this agent knows the ports that came with it.
    ///
    /// # Errors
    /// Lack of memory.
    pub(super) fn unpack(&self, realm: &Realm, envelope: Envelope) -> Result<Value, Exception> {
        let table = realm.read_message(&envelope.message)?;
        self.adopt(realm, &table, envelope.ports)?;
        Ok(table)
    }

    fn adopt(&self, realm: &Realm, table: &Value, ports: Vec<End>) -> Result<(), Exception> {
        if ports.is_empty() {
            return Ok(());
        }
        let ids = ports.into_iter().map(|end| realm.number(self.ports.borrow_mut().adopt(end)));
        realm.define(table, PORTS, &realm.array(&ids.collect::<Vec<_>>())?, Attributes::ASSIGNED)
    }

    /// What was thrown, as text: message, stack, and what else there is to say.
    ///
    /// # Errors
    /// When the inspection itself fails.
    pub(super) fn describe(
        &self,
        realm: &Realm,
        thrown: &Value,
    ) -> Result<(String, String, String), Exception> {
        let parts = self.call(realm, "describe", std::slice::from_ref(thrown))?;
        let part = |index: u32| realm.to_string(&realm.get(&parts, index)?);
        Ok((part(0)?, part(1)?, part(2)?))
    }

    /// What was thrown, in a form that the parent can read.
    ///
    /// # Errors
    /// Lack of memory.
    pub(super) fn encode_error(
        &self,
        realm: &Realm,
        kind: FailureKind,
        thrown: &Value,
    ) -> Result<Message, Exception> {
        let is_rejection = realm.bool(kind == FailureKind::UnhandledRejection);
        realm.write_message(&self.call(realm, "encodeError", &[thrown.clone(), is_rejection])?)
    }

    /// The `type` in the text of a `package.json`.
    pub(super) fn package_type(&self, realm: &Realm, text: &str) -> Option<String> {
        let found = self.call(realm, "packageType", &[realm.string(text).ok()?]).ok()?;
        found.is_string().then(|| realm.to_string(&found).ok()).flatten()
    }

    /// Tells the script that its agent ends, and asks for the exit code that it wants.
    ///
    /// # Errors
    /// What a listener throws.
    pub(super) fn ending(&self, realm: &Realm) -> Result<i32, Exception> {
        realm.to_i32(&self.call(realm, "ending", &[])?)
    }
}

/// Where a table of `clone.js` has the numbers of its ports.
const PORTS: u32 = 2;

/// The state of the agent that a realm belongs to.
///
/// # Errors
/// An uncatchable error while the agent is being taken down.
pub(super) fn of(realm: &Realm) -> Result<std::rc::Rc<Host>, Exception> {
    realm.state().ok_or_else(|| realm.uncatchable_error("the agent is shutting down"))
}

/// An error with a `code`, as those of Node have.
pub(super) fn error_with_code(realm: &Realm, code: &str, message: &str) -> Exception {
    let error = realm.error(message);
    let put =
        realm.string(code).and_then(|code| realm.define(error.value(), "code", &code, Attributes::ASSIGNED));
    put.err().unwrap_or(error)
}

/// The environment, as pairs. Variables that are no text are left out.
fn environment(realm: &Realm) -> Result<Value, Exception> {
    let text = |each: std::ffi::OsString| each.into_string().ok();
    let pairs = std::env::vars_os().filter_map(|(key, value)| Some([text(key)?, text(value)?]));
    let pairs = pairs.map(|[key, value]| realm.array(&[realm.string(&key)?, realm.string(&value)?]));
    realm.array(&pairs.collect::<Result<Vec<_>, _>>()?)
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
