//! The state of an agent besides its scripts: timers, workers, links to the others, and the JavaScript half of the host.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use waitword_quickjs::{Attributes, Doorbell, Exception, Realm, Value};

use crate::agent_links::AgentLinks;
use crate::agent_name::{MAIN, ThreadId};
use crate::channel::Message;
use crate::clone::{self, CloneFunctions, SerializedMessage};
use crate::cluster::Cluster;
use crate::ended::FailureKind;
use crate::mailbox::{PortId, Ticket};
use crate::source_text::SourceText;
use crate::timers::Timers;
use crate::worker_options::{Limits, Shape, WorkerOptions};

/// The state of an agent. It belongs to the agent's thread, and is found through its runtime.
pub(crate) struct Host {
    parts: Parts,
    /// The name and text of the agent's script, if it cannot be read again: from a pipe, from standard input, or from its parent.
    pub(crate) unrepeatable: OnceCell<(String, SourceText)>,
    /// The lock requests that keep it alive.
    pub(crate) asked: RefCell<BTreeSet<Ticket>>,
    tickets: Cell<Ticket>,
    /// The bytes printed before the parent decided whether to read them.
    pub(crate) printed_early: Cell<usize>,
    pub(crate) timers: RefCell<Timers>,
    pub(crate) workers: RefCell<BTreeMap<ThreadId, Worker>>,
    /// The port whose message the running job has taken.
    pub(crate) receiving: Cell<Option<PortId>>,
    /// Set when the script called `process.exit`.
    pub(crate) exit: Cell<Option<i32>>,
    /// Set when the script called `process.nextTick`, until the callbacks run.
    pub(crate) wants_ticks: Cell<bool>,
    /// Set when the script called `close`: the current job is the agent's last.
    pub(crate) is_closing: Cell<bool>,
    /// The message to be sent next.
    pub(crate) outbox: RefCell<Option<SerializedMessage>>,
    /// The object that the parts of the JavaScript half share, set while the agent boots.
    pub(crate) script: OnceCell<Value>,
    /// The functions of the JavaScript half for messages, set by it.
    pub(crate) functions: OnceCell<CloneFunctions>,
}

/// The parts of a [`Host`] that exist from the beginning.
pub(crate) struct Parts {
    pub(crate) id: ThreadId,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) bell: Arc<Doorbell>,
    /// `process.argv`: the program, the script, its arguments.
    pub(crate) argv: Vec<String>,
    /// How its script is read.
    pub(crate) shape: Shape,
    /// Its own limits, and those of its workers.
    pub(crate) limits: Limits,
    /// The links to the others.
    pub(crate) links: Arc<AgentLinks>,
    /// Starts a worker of this agent.
    pub(crate) spawn: Spawn,
}

/// A worker, as its parent sees it.
pub(crate) struct Worker {
    pub(crate) links: Arc<AgentLinks>,
    pub(crate) keeps_alive: bool,
}

/// Starts a worker. Returns its number and that of the port to it. Passed in by `worker.rs`, because otherwise the two files would import each
/// other.
///
/// # Errors
/// A message for the user.
pub(crate) type Spawn = fn(&Host, WorkerOptions) -> Result<(ThreadId, PortId), String>;

impl Deref for Host {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Host {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            unrepeatable: OnceCell::new(),
            parts,
            asked: RefCell::default(),
            tickets: Cell::default(),
            printed_early: Cell::default(),
            timers: RefCell::default(),
            workers: RefCell::default(),
            receiving: Cell::default(),
            exit: Cell::default(),
            wants_ticks: Cell::default(),
            is_closing: Cell::default(),
            outbox: RefCell::default(),
            script: OnceCell::new(),
            functions: OnceCell::new(),
        }
    }

    /// Assigns a number to a request, which keeps the agent alive from now on.
    pub(crate) fn ask(&self) -> Ticket {
        let ticket = self.tickets.get();
        // Numbers wrap after 2^32, long after the earlier requests have ended.
        self.tickets.set(ticket.wrapping_add(1));
        self.asked.borrow_mut().insert(ticket);
        ticket
    }

    pub(crate) fn is_main(&self) -> bool {
        self.id == MAIN
    }

    /// Calls a function of the JavaScript half by its path: `receive.message`.
    ///
    /// # Errors
    /// What it throws.
    pub(crate) fn call(&self, realm: &Realm, path: &str, arguments: &[Value]) -> Result<Value, Exception> {
        let script = self.script.get().cloned().unwrap_or_else(|| realm.undefined());
        let function = path.split('.').try_fold(script, |object, key| realm.get(&object, key))?;
        realm.call(&function, &realm.undefined(), arguments)
    }

    /// The functions of `clone.js` for messages.
    ///
    /// # Errors
    /// If `clone.js` has not run yet.
    pub(crate) fn clone_functions(&self, realm: &Realm) -> Result<&CloneFunctions, Exception> {
        self.functions.get().ok_or_else(|| realm.error("the agent has not booted"))
    }

    /// Takes the packed message, with the ports of these numbers, which leave this agent.
    ///
    /// # Errors
    /// If no message is packed.
    pub(crate) fn send(&self, realm: &Realm, ids: Vec<PortId>) -> Result<Message, Exception> {
        let Some(serialized) = self.outbox.take() else {
            return Err(realm.error("there is nothing to send"));
        };
        let mut ports = self.links.ports();
        Ok(Message { serialized, ports: ids.into_iter().filter_map(|id| ports.send_away(id)).collect() })
    }

    /// Returns the value in a message, and an array of the ports that came with it, which need not be in the value.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub(crate) fn unpack(&self, realm: &Realm, message: Message) -> Result<(Value, Value), Exception> {
        let Message { mut serialized, ports } = message;
        // A received message is not charged any more, so that an agent whose messages fill its budget can read them.
        serialized.release();
        let adopt = |end| {
            let id = self.links.ports().adopt(end);
            self.call(realm, "ports.adopt", &[realm.number(id)])
        };
        let ports = ports.into_iter().map(adopt).collect::<Result<Vec<_>, _>>()?;
        let value = clone::read(self.clone_functions(realm)?, &mut serialized, &ports)?;
        Ok((value, realm.array(&ports)?))
    }

    /// Converts a thrown value into text: message, stack and details.
    ///
    /// # Errors
    /// If the inspection itself fails.
    pub(crate) fn describe(
        &self,
        realm: &Realm,
        thrown: &Value,
    ) -> Result<(String, String, String), Exception> {
        let parts = self.call(realm, "describe", std::slice::from_ref(thrown))?;
        let part = |index: u32| realm.to_string(&realm.get(&parts, index)?);
        Ok((part(0)?, part(1)?, part(2)?))
    }

    /// Serializes a thrown value for the parent, if that is possible.
    pub(crate) fn pack_error(
        &self,
        realm: &Realm,
        kind: FailureKind,
        thrown: &Value,
    ) -> Option<SerializedMessage> {
        // The parent creates the error itself.
        if kind == FailureKind::OutOfMemory {
            return None;
        }
        let is_rejection = realm.bool(kind == FailureKind::UnhandledRejection);
        self.call(realm, "packError", &[thrown.clone(), is_rejection]).ok()?;
        self.outbox.take()
    }

    /// To be called before the lines of waits are looked up, which runs no script from then on.
    pub(crate) fn begin_report(&self, realm: &Realm) {
        // Ignored: out of memory, there are no lines either.
        let _ = self.call(realm, "reporting", &[]);
    }

    /// The `type` in the text of a `package.json`.
    pub(crate) fn package_type(&self, realm: &Realm, text: &str) -> Option<String> {
        let found = self.call(realm, "packageType", &[realm.string(text).ok()?]).ok()?;
        found.is_string().then(|| realm.to_string(&found).ok()).flatten()
    }
}

/// The caller of a native function: the agent of the script, and the realm of the function.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) host: &'a Host,
    pub(crate) realm: &'a Realm,
}

/// Returns the state of a realm's agent.
///
/// # Errors
/// An uncatchable error if the agent is ending, or the others have continued without it.
pub(crate) fn of(realm: &Realm) -> Result<std::rc::Rc<Host>, Exception> {
    let host: Option<std::rc::Rc<Host>> = realm.state();
    let host = host.filter(|host| !host.links.is_gone());
    host.ok_or_else(|| realm.uncatchable_error("the agent is shutting down"))
}

/// Creates an error with a `code`, like those of Node.
pub(crate) fn error_with_code(realm: &Realm, code: &str, message: &str) -> Exception {
    let error = realm.error(message);
    let put =
        realm.string(code).and_then(|code| realm.define(error.value(), "code", &code, Attributes::ASSIGNED));
    put.err().unwrap_or(error)
}
