//! The functions in a test's realm besides ECMAScript: `print`, `$262` and `setTimeout`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use waitword_quickjs::{
    Attributes, Call, Exception, FromJs, IntoJs, JsAgent, JsError, JsValue, NativeFn, Realm, Value,
};

use super::agents::{Agents, Broadcast, Id, Seat};

/// The state behind the functions of one agent.
pub(super) struct Host {
    agent: Weak<JsAgent>,
    agents: Arc<Agents>,
    /// `None` for the main agent.
    seat: Option<Seat>,
    printed: RefCell<Vec<String>>,
    timers: RefCell<Timers>,
    /// The callback for the next broadcast.
    receiver: RefCell<Option<Value>>,
    /// Whether the agent has called `leaving`.
    pub(super) has_left: Cell<bool>,
}

/// Callbacks, ordered by their deadline, then by the order in which they were set.
#[derive(Default)]
struct Timers {
    set: u32,
    queue: BTreeMap<(Instant, u32), Value>,
}

type Method = (&'static str, u8, NativeFn);

/// Makes a native function of one of ours, which receives the agent's state, the realm, and the arguments at these positions, converted
/// to its parameter types.
macro_rules! native {
    ($function:expr $(, $position:literal)*) => {
        |realm: &Realm, _call: &Call<'_>| {
            let (function, host) = ($function, Host::of(realm)?);
            function(&host, realm $(, FromJs::from_js(realm, &_call.argument($position))?)*).into_js(realm)
        }
    };
}

/// The functions of the global object. The harness prints the result of an asynchronous test; `print` does not write to standard output,
/// because the runner reads the outcome there. Without `setTimeout` the harness would spin.
const GLOBALS: [Method; 2] = [
    ("print", 1, native!(|host: &Host, _: &Realm, line: String| host.printed.borrow_mut().push(line), 0)),
    ("setTimeout", 2, native!(set_timeout, 0, 1)),
];

/// The functions of `$262`.
const METHODS: [Method; 4] = [
    ("createRealm", 0, native!(create_realm)),
    ("detachArrayBuffer", 1, native!(detach_array_buffer, 0)),
    // In the realm that this `$262` belongs to.
    (
        "evalScript",
        1,
        native!(|_: &Host, realm: &Realm, source: String| realm.eval("evalScript", &source), 0),
    ),
    ("gc", 0, native!(|host: &Host, realm: &Realm| host.agent(realm).map(|agent| agent.runtime().gc()))),
];

/// The functions of `$262.agent` in the main agent.
const PARENT: [Method; 5] = [
    ("start", 1, native!(start, 0)),
    ("broadcast", 2, native!(broadcast, 0, 1)),
    ("getReport", 0, native!(get_report)),
    SLEEP,
    MONOTONIC_NOW,
];

/// The functions of `$262.agent` in the other agents.
const CHILD: [Method; 5] = [
    ("receiveBroadcast", 1, native!(receive_broadcast, 0)),
    ("report", 1, native!(|host: &Host, _: &Realm, text: String| host.agents.report(text), 0)),
    ("leaving", 0, native!(|host: &Host, _: &Realm| host.has_left.set(true))),
    SLEEP,
    MONOTONIC_NOW,
];

const SLEEP: Method =
    ("sleep", 1, native!(|_: &Host, _: &Realm, time: f64| thread::sleep(milliseconds(time)), 0));
const MONOTONIC_NOW: Method = ("monotonicNow", 0, native!(|host: &Host, _: &Realm| host.agents.now()));

impl Host {
    /// Stores this as the state of an agent, and adds the functions to the agent's main realm.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub(super) fn install(
        agent: &Rc<JsAgent>,
        agents: Arc<Agents>,
        seat: Option<Seat>,
    ) -> Result<Rc<Self>, JsError> {
        let host = Rc::new(Self {
            agent: Rc::downgrade(agent),
            agents,
            seat,
            printed: RefCell::default(),
            timers: RefCell::default(),
            receiver: RefCell::default(),
            has_left: Cell::default(),
        });
        agent.runtime().set_state(Rc::clone(&host));
        let equipped = host.equip(agent.realm());
        equipped.map_err(|exception| agent.realm().describe(&exception))?;
        Ok(host)
    }

    /// The first printed line for which `is_meant` is true.
    pub(super) fn printed(&self, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        self.printed.borrow().iter().find(|line| is_meant(line)).cloned()
    }

    /// Whether the agent waits for a broadcast.
    pub(super) fn is_expecting(&self) -> bool {
        self.receiver.borrow().is_some()
    }

    /// Whether another agent is left that could notify this one.
    pub(super) fn has_company(&self) -> bool {
        self.seat.is_some() || self.agents.any()
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.timers.borrow().queue.first_key_value().map(|((due, _), _)| *due)
    }

    /// Runs the callback of a due timer, or of a received broadcast. Returns whether there was one.
    ///
    /// # Errors
    /// What the callback throws.
    pub(super) fn run_job(&self, realm: &Realm) -> Result<bool, Exception> {
        if self.next_timer().is_some_and(|due| due <= Instant::now()) {
            // Removed before the callback runs, because the callback may set timers.
            let first = self.timers.borrow_mut().queue.pop_first();
            let Some((_, callback)) = first else { return Ok(false) };
            return realm.call(&callback, &realm.undefined(), &[]).map(|_| true);
        }
        let Some(seat) = self.seat.filter(|_| self.is_expecting()) else { return Ok(false) };
        let Some(Broadcast { block, id }) = self.agents.receive(seat) else { return Ok(false) };
        let Some(receiver) = self.receiver.take() else { return Ok(false) };
        let id = match id {
            Id::Missing => realm.undefined(),
            Id::Number(number) => realm.number(number),
            Id::BigInt(number) => realm.eval("id.js", &format!("{number}n"))?,
        };
        let arguments = [block.into_js(realm)?, id];
        realm.call(&receiver, &realm.undefined(), &arguments).map(|_| true)
    }

    /// Adds `$262` to a realm, and returns it.
    fn equip(&self, realm: &Realm) -> Result<Value, Exception> {
        let global = realm.global();
        let define = |object: &Value, methods: &[Method]| {
            methods.iter().try_for_each(|(name, length, native)| {
                realm.define(object, *name, &realm.function(name, *length, *native)?, Attributes::BUILT_IN)
            })
        };
        define(&global, &GLOBALS)?;
        let agent = realm.object()?;
        define(&agent, if self.seat.is_some() { &CHILD } else { &PARENT })?;
        let html_dda = realm.function("IsHTMLDDA", 0, |realm, _| Ok(realm.null()))?;
        realm.mark_html_dda(&html_dda);
        let test262 = realm.object()?;
        define(&test262, &METHODS)?;
        for (name, value) in [("agent", &agent), ("global", &global), ("IsHTMLDDA", &html_dda)] {
            realm.define(&test262, name, value, Attributes::BUILT_IN)?;
        }
        realm.define(&global, "$262", &test262, Attributes::BUILT_IN)?;
        Ok(test262)
    }

    fn of(realm: &Realm) -> Result<Rc<Self>, Exception> {
        realm.state().ok_or_else(|| realm.uncatchable_error("the agent is shutting down"))
    }

    fn agent(&self, realm: &Realm) -> Result<Rc<JsAgent>, Exception> {
        self.agent.upgrade().ok_or_else(|| realm.uncatchable_error("the agent is shutting down"))
    }
}

/// `setTimeout(callback, delay)`
fn set_timeout(host: &Host, realm: &Realm, callback: Value, delay: f64) -> Result<u32, Exception> {
    if !realm.is_function(&callback) {
        return Err(realm.type_error("setTimeout: the first argument is not a function"));
    }
    let mut timers = host.timers.borrow_mut();
    timers.set += 1;
    let id = timers.set;
    timers.queue.insert((Instant::now() + milliseconds(delay), id), callback);
    Ok(id)
}

/// `$262.createRealm()`
fn create_realm(host: &Host, realm: &Realm) -> Result<Value, Exception> {
    let other = host.agent(realm)?.new_realm();
    host.equip(&other.map_err(|error| realm.error(&error.message))?)
}

/// `$262.detachArrayBuffer(buffer)`
fn detach_array_buffer(_: &Host, realm: &Realm, buffer: Value) -> Result<Value, Exception> {
    realm.detach_array_buffer(&buffer)?;
    Ok(realm.null())
}

/// `$262.agent.start(source)`
fn start(host: &Host, realm: &Realm, source: String) -> Result<(), Exception> {
    let started = host.agents.start(source);
    started.map_err(|error| realm.error(&format!("cannot start a thread: {error}")))
}

/// `$262.agent.broadcast(buffer, number)`
fn broadcast(host: &Host, realm: &Realm, buffer: Value, number: Value) -> Result<(), Exception> {
    let Some(block) = realm.shared_block(&buffer) else {
        return Err(realm.type_error("broadcast: the first argument is not a SharedArrayBuffer"));
    };
    let id = match JsValue::from_value(realm, number)? {
        JsValue::Undefined => Id::Missing,
        JsValue::Number(number) => Id::Number(number),
        JsValue::BigInt(number) => Id::BigInt(number),
        _ => return Err(realm.type_error("broadcast: the second argument is not a number")),
    };
    host.agents.broadcast(&Broadcast { block, id });
    Ok(())
}

/// `$262.agent.receiveBroadcast(callback)`
fn receive_broadcast(host: &Host, realm: &Realm, callback: Value) -> Result<(), Exception> {
    if !realm.is_function(&callback) {
        return Err(realm.type_error("receiveBroadcast: the argument is not a function"));
    }
    let earlier = host.receiver.replace(Some(callback));
    drop(earlier);
    Ok(())
}

/// `$262.agent.getReport()`
fn get_report(host: &Host, realm: &Realm) -> Result<Value, Exception> {
    host.agents.get_report().map_or_else(|| Ok(realm.null()), |report| realm.string(&report))
}

/// Converts milliseconds. NaN and negative numbers become 0; more than a day becomes a day.
fn milliseconds(number: f64) -> Duration {
    const DAY: f64 = 86_400_000.0;
    let number = if number > 0.0 { number.min(DAY) } else { 0.0 };
    Duration::from_secs_f64(number / 1000.0)
}
