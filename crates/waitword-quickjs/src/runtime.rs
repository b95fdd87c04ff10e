//! An agent that runs scripts: a runtime of the engine, its realms, and the waits of its scripts. Its jobs are in `jobs.rs`.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use waitword_agents::{Agent, AgentHandle, Outcome, PendingWait, WaitId};

use crate::agent_state::{AgentState, WaitObserver};
use crate::convert::{IntoJs, JsValue};
use crate::doorbell::Doorbell;
use crate::ffi::{Call, Exception, JsError, Realm, Runtime, RuntimeOptions, Value};
use crate::{
    apply, array_buffer, atomic_access, atomics, data_view, shared_array_buffer, string_length, typed_array,
};

/// What an agent is made with.
#[derive(Clone, Debug)]
pub struct JsAgentOptions {
    /// Whether `Atomics.wait` may block the agent's thread. `false` is for an agent whose thread has other things to do:
    /// there it is a TypeError.
    pub can_block: bool,
    /// The engine's limits.
    pub runtime: RuntimeOptions,
}

impl Default for JsAgentOptions {
    /// An agent that can block, with the default limits.
    fn default() -> Self {
        Self { can_block: true, runtime: RuntimeOptions::default() }
    }
}

/// One ECMAScript agent: it runs scripts on the thread that made it.
///
/// It has one realm to begin with, the *main realm*. A host that has jobs of its own (timers, messages) drives the agent
/// with [`JsAgent::run_microtasks`], [`JsAgent::settle_one`], [`JsAgent::expire_due`] and [`JsAgent::next_deadline`];
/// others call [`JsAgent::run`] or [`JsAgent::run_until_settled`].
///
/// Dropping it takes its pending waits out of their queues: a dead agent never eats a notify.
///
/// An agent stays on its thread:
/// ```compile_fail
/// fn assert_send<T: Send>() {}
/// assert_send::<waitword_quickjs::JsAgent>();
/// ```
pub struct JsAgent {
    pub(crate) realm: Realm,
    pub(crate) state: Rc<AgentState>,
    pub(crate) doorbell: Arc<Doorbell>,
    pub(crate) runtime: Runtime,
}

impl JsAgent {
    /// Makes an agent whose thread sleeps at a [`Doorbell`] of its own.
    ///
    /// # Errors
    /// When the system has no memory for it.
    pub fn new(options: &JsAgentOptions) -> Result<Self, JsError> {
        let doorbell = Arc::new(Doorbell::default());
        Self::with_doorbell(options, doorbell)
    }

    /// Makes an agent whose thread sleeps at a given bell: one that also rings when a message has come, say.
    ///
    /// # Errors
    /// As [`JsAgent::new`].
    pub fn with_doorbell(options: &JsAgentOptions, doorbell: Arc<Doorbell>) -> Result<Self, JsError> {
        let bell = Arc::clone(&doorbell);
        let agent = Agent::new(options.can_block, move || bell.ring());
        let runtime = Runtime::new(&options.runtime);
        let handle = agent.handle();
        runtime.set_interrupt(move || handle.is_terminated());
        let state = Rc::new(AgentState::new(agent));
        runtime.set_state(Rc::clone(&state));
        let realm = new_realm(&runtime)?;
        // The first use makes all of them.
        let outcome = realm.beyond_memory_limit(|| state.outcome(&realm, Outcome::Notified));
        outcome.map_err(|exception| realm.describe(&exception))?;
        Ok(Self { realm, state, doorbell, runtime })
    }

    /// The main realm.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Makes another realm of this agent.
    ///
    /// # Errors
    /// When the system has no memory for it; the memory limit is for what scripts put into it.
    pub fn new_realm(&self) -> Result<Realm, JsError> {
        new_realm(&self.runtime)
    }

    /// The engine's runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The ECMA-262 agent: its id, its `can_block`, its waits.
    ///
    /// What it has settled is for [`JsAgent::settle_one`], which knows the promises: do not drain it here.
    pub fn agent(&self) -> &Agent {
        &self.state.agent
    }

    /// A handle for other threads: to terminate the agent, or to ring its bell.
    pub fn handle(&self) -> AgentHandle {
        self.state.agent.handle()
    }

    /// Lets `observer` know whenever a script may block the agent's thread. Replaces an earlier one.
    pub fn set_wait_observer(&self, observer: impl WaitObserver + 'static) {
        let old = self.state.observer.replace(Some(Rc::new(observer)));
        drop(old);
    }

    /// Lets `observer` know what the agent's scripts do to the words of shared memory. Replaces an earlier one.
    #[cfg(feature = "observe")]
    pub fn set_word_observer(&self, observer: Rc<dyn crate::WordObserver>) {
        crate::word_observer::observe_agents();
        let old = self.state.word_observer.replace(Some(observer));
        drop(old);
    }

    /// Where the agent's thread sleeps.
    pub fn doorbell(&self) -> &Arc<Doorbell> {
        &self.doorbell
    }

    /// Gives the main realm a global variable.
    ///
    /// # Errors
    /// When the memory limit is reached, or a script has made the global object refuse it.
    pub fn set_global(&self, name: &str, value: impl IntoJs) -> Result<(), JsError> {
        self.describing(|realm| realm.set(&realm.global(), name, &value.into_js(realm)?))
    }

    /// Gives the main realm a global function that is implemented in Rust. `length` is its property of that name.
    ///
    /// A panic in it ends the script with an error that the script cannot catch.
    ///
    /// # Errors
    /// As [`JsAgent::set_global`].
    pub fn set_function(
        &self,
        name: &str,
        length: u8,
        native: impl Fn(&Realm, &Call<'_>) -> Result<Value, Exception> + 'static,
    ) -> Result<(), JsError> {
        self.describing(|realm| realm.set(&realm.global(), name, &realm.closure(name, length, native)?))
    }

    /// Runs source text as a script in the main realm, without the microtasks that it leaves. The result is the
    /// script's completion value: that of its last expression statement.
    ///
    /// # Errors
    /// A SyntaxError, or what the script throws.
    pub fn eval(&self, name: &str, source: &str) -> Result<JsValue, JsError> {
        self.begin_job()?;
        self.describing(|realm| JsValue::from_value(realm, realm.eval(name, source)?))
    }

    /// Runs source text as an ES module in the main realm, without the microtasks that it leaves. The result is the
    /// promise for its end, for [`JsAgent::run_until_settled`]. `name` is also its `import.meta.url`; a
    /// [`ModuleLoader`](crate::ModuleLoader) says what it can import.
    ///
    /// # Errors
    /// A SyntaxError, or an import that cannot be resolved.
    pub fn eval_module(&self, name: &str, source: &str) -> Result<JsValue, JsError> {
        self.begin_job()?;
        self.describing(|realm| JsValue::from_value(realm, realm.eval_module(name, name, source)?))
    }

    /// The earliest deadline of a `waitAsync` that is still pending.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.state.agent.next_deadline()
    }

    /// Times out the waits whose deadline is not after `now`; [`JsAgent::settle_one`] then delivers them. How many.
    pub fn expire_due(&self, now: Instant) -> usize {
        self.state.agent.expire_due(now)
    }

    /// The agent's waits whose promises are not resolved yet.
    pub fn pending(&self) -> Vec<PendingWait> {
        self.state.agent.pending()
    }

    /// How many [`JsAgent::pending`] would have. Costs the same however many there are.
    pub fn pending_count(&self) -> usize {
        self.state.agent.pending_count()
    }

    /// The line of the script that a pending wait is in: `file:line:column`. Known if the wait has no timeout and the
    /// agent has a [`WaitObserver`].
    pub fn call_site(&self, id: WaitId) -> Option<String> {
        self.state.call_site(id)
    }

    /// Whether the agent was terminated. Its scripts end as soon as they run again.
    pub fn is_terminated(&self) -> bool {
        self.state.agent.is_terminated()
    }

    /// Runs `work` and turns what it throws into data.
    pub(crate) fn describing<T>(
        &self,
        work: impl FnOnce(&Realm) -> Result<T, Exception>,
    ) -> Result<T, JsError> {
        work(&self.realm).map_err(|exception| self.realm.describe(&exception))
    }
}

impl fmt::Debug for JsAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsAgent").field("agent", &self.state.agent).finish_non_exhaustive()
    }
}

impl Realm {
    /// Another realm of the same agent: what [`JsAgent::new_realm`] is for a native function. What the realm starts with does
    /// not count on the memory limit.
    ///
    /// # Errors
    /// A RangeError when the system has no memory for it.
    pub fn sibling(&self) -> Result<Realm, Exception> {
        let sibling = self.bare_sibling().ok_or_else(|| self.range_error(OUT_OF_MEMORY))?;
        sibling.beyond_memory_limit(|| install(&sibling))?;
        Ok(sibling)
    }

    /// Whether the agent of this realm was terminated, or is about to be dropped. For a native function that works for long.
    pub fn is_terminated(&self) -> bool {
        self.state::<AgentState>().is_none_or(|state| state.agent.is_terminated())
    }
}

const OUT_OF_MEMORY: &str = "out of memory";

fn new_realm(runtime: &Runtime) -> Result<Realm, JsError> {
    let out_of_memory = || JsError { message: OUT_OF_MEMORY.to_owned(), ..JsError::default() };
    let realm = runtime.realm().ok_or_else(out_of_memory)?;
    realm.beyond_memory_limit(|| install(&realm)).map_err(|exception| realm.describe(&exception))?;
    Ok(realm)
}

/// Replaces the engine's own functions on shared memory, and what it gets wrong of buffers, views, lists of arguments,
/// and strings that are too long.
fn install(realm: &Realm) -> Result<(), Exception> {
    shared_array_buffer::install(realm)?;
    array_buffer::install(realm)?;
    data_view::install(realm)?;
    typed_array::install(realm)?;
    atomics::install(realm)?;
    atomic_access::install(realm)?;
    apply::install(realm)?;
    string_length::install(realm)
}
