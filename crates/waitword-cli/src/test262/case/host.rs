//! What a test finds in its realm besides ECMAScript: `print`, `$262` and `setTimeout`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use waitword_quickjs::{
    Attributes, Call, Exception, IntoJs, JsAgent, JsError, JsValue, NativeFn, Realm, Value,
};

use super::agents::{Agents, Broadcast, Id, Seat};

/// What the functions of one agent know.
pub(super) struct Host {
    agent: Weak<JsAgent>,
    agents: Arc<Agents>,
    /// `None` for the main agent.
    seat: Option<Seat>,
    printed: RefCell<Vec<String>>,
    timers: RefCell<Timers>,
    /// What the next broadcast is for.
    receiver: RefCell<Option<Value>>,
    has_left: Cell<bool>,
}

/// Callbacks by when they are due, then by when they were set.
#[derive(Default)]
struct Timers {
    set: u32,
    queue: BTreeMap<(Instant, u32), Value>,
}

type Method = (&'static str, u8, NativeFn);

const METHODS: [Method; 4] = [
    ("createRealm", 0, create_realm),
    ("detachArrayBuffer", 1, detach_array_buffer),
    ("evalScript", 1, eval_script),
    ("gc", 0, gc),
];

/// Of `$262.agent` in the main agent.
const PARENT: [Method; 5] = [
    ("start", 1, start),
    ("broadcast", 2, broadcast),
    ("getReport", 0, get_report),
    ("sleep", 1, sleep),
    ("monotonicNow", 0, monotonic_now),
];

/// Of `$262.agent` in the agents that it starts.
const CHILD: [Method; 5] = [
    ("receiveBroadcast", 1, receive_broadcast),
    ("report", 1, report),
    ("leaving", 0, leaving),
    ("sleep", 1, sleep),
    ("monotonicNow", 0, monotonic_now),
];

impl Host {
    /// Makes it the state of an agent, and equips the agent's main realm.
    ///
    /// # Errors
    /// Lack of memory.
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

    /// The first printed line of this kind.
    pub(super) fn printed(&self, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        self.printed.borrow().iter().find(|line| is_meant(line)).cloned()
    }

    /// Whether the agent has said that it is done.
    pub(super) fn has_left(&self) -> bool {
        self.has_left.get()
    }

    /// Whether the agent waits for a broadcast.
    pub(super) fn is_expecting(&self) -> bool {
        self.receiver.borrow().is_some()
    }

    /// Whether another agent is left, which could notify this one.
    pub(super) fn has_company(&self) -> bool {
        self.seat.is_some() || self.agents.any()
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.timers.borrow().queue.first_key_value().map(|((due, _), _)| *due)
    }

    /// Runs the callback of a timer that is due, or of a broadcast that has come. Whether there was one.
    ///
    /// # Errors
    /// What it throws.
    pub(super) fn run_job(&self, realm: &Realm) -> Result<bool, Exception> {
        if self.next_timer().is_some_and(|due| due <= Instant::now()) {
            // Out of the borrow before the callback runs, which may set others.
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

    /// Gives a realm its `$262`, which is also the result.
    fn equip(&self, realm: &Realm) -> Result<Value, Exception> {
        let global = realm.global();
        let define = |object: &Value, methods: &[Method]| {
            methods.iter().try_for_each(|(name, length, native)| {
                realm.define(object, *name, &realm.function(name, *length, *native)?, Attributes::BUILT_IN)
            })
        };
        define(&global, &[("print", 1, print), ("setTimeout", 2, set_timeout)])?;
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

/// `print(line)`, the harness's way to say how an asynchronous test went. Not on the standard output: there the runner
/// reads the outcome.
fn print(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let line = realm.to_string(&call.argument(0))?;
    Host::of(realm)?.printed.borrow_mut().push(line);
    Ok(realm.undefined())
}

/// `setTimeout(callback, delay)`. The harness makes do without, but then spins.
fn set_timeout(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let callback = call.argument(0);
    if !realm.is_function(&callback) {
        return Err(realm.type_error("setTimeout: the first argument is no function"));
    }
    let due = Instant::now() + milliseconds(realm.to_number(&call.argument(1))?);
    let host = Host::of(realm)?;
    let mut timers = host.timers.borrow_mut();
    timers.set += 1;
    let id = timers.set;
    timers.queue.insert((due, id), callback.clone());
    Ok(realm.number(id))
}

/// `$262.createRealm()`
fn create_realm(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let host = Host::of(realm)?;
    let other = host.agent(realm)?.new_realm();
    host.equip(&other.map_err(|error| realm.error(&error.message))?)
}

/// `$262.detachArrayBuffer(buffer)`
fn detach_array_buffer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    realm.detach_array_buffer(&call.argument(0))?;
    Ok(realm.null())
}

/// `$262.evalScript(source)`, in the realm that this `$262` belongs to.
fn eval_script(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    realm.eval("evalScript", &realm.to_string(&call.argument(0))?)
}

/// `$262.gc()`
fn gc(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    Host::of(realm)?.agent(realm)?.runtime().gc();
    Ok(realm.undefined())
}

/// `$262.agent.start(source)`
fn start(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let source = realm.to_string(&call.argument(0))?;
    let started = Host::of(realm)?.agents.start(source);
    started.map_err(|error| realm.error(&format!("cannot start a thread: {error}")))?;
    Ok(realm.undefined())
}

/// `$262.agent.broadcast(buffer, number)`
fn broadcast(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let Some(block) = realm.shared_block(&call.argument(0)) else {
        return Err(realm.type_error("broadcast: the first argument is no SharedArrayBuffer"));
    };
    let id = match JsValue::from_value(realm, call.argument(1).clone())? {
        JsValue::Undefined => Id::Missing,
        JsValue::Number(number) => Id::Number(number),
        JsValue::BigInt(number) => Id::BigInt(number),
        _ => return Err(realm.type_error("broadcast: the second argument is no number")),
    };
    Host::of(realm)?.agents.broadcast(&Broadcast { block, id });
    Ok(realm.undefined())
}

/// `$262.agent.receiveBroadcast(callback)`
fn receive_broadcast(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let callback = call.argument(0);
    if !realm.is_function(&callback) {
        return Err(realm.type_error("receiveBroadcast: the argument is no function"));
    }
    let earlier = Host::of(realm)?.receiver.replace(Some(callback.clone()));
    drop(earlier);
    Ok(realm.undefined())
}

/// `$262.agent.report(message)`
fn report(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let text = realm.to_string(&call.argument(0))?;
    Host::of(realm)?.agents.report(text);
    Ok(realm.undefined())
}

/// `$262.agent.getReport()`
fn get_report(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    match Host::of(realm)?.agents.get_report() {
        Some(report) => realm.string(&report),
        None => Ok(realm.null()),
    }
}

/// `$262.agent.leaving()`
fn leaving(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    Host::of(realm)?.has_left.set(true);
    Ok(realm.undefined())
}

/// `$262.agent.sleep(milliseconds)`
fn sleep(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    thread::sleep(milliseconds(realm.to_number(&call.argument(0))?));
    Ok(realm.undefined())
}

/// `$262.agent.monotonicNow()`
fn monotonic_now(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    Ok(realm.number(Host::of(realm)?.agents.now()))
}

/// NaN and what is below 0 are 0; more than a day is a day.
fn milliseconds(number: f64) -> Duration {
    const DAY: f64 = 86_400_000.0;
    let number = if number > 0.0 { number.min(DAY) } else { 0.0 };
    Duration::from_secs_f64(number / 1000.0)
}
