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

/// Options for creating a [`JsAgent`].
#[derive(Clone, Debug)]
pub struct JsAgentOptions {
    /// Whether `Atomics.wait` may block the agent's thread. If `false`, for an agent whose thread has other work, `Atomics.wait` throws
    /// a TypeError.
    pub can_block: bool,
    /// The engine's limits.
    pub runtime: RuntimeOptions,
}

impl Default for JsAgentOptions {
    /// Options for an agent that can block, with the default limits.
    fn default() -> Self {
        Self { can_block: true, runtime: RuntimeOptions::default() }
    }
}

/// An ECMAScript agent: runs scripts on the thread that created it.
///
/// A new agent has one realm, the *main realm*. A host with jobs of its own (timers, messages) drives the agent with
/// [`JsAgent::run_microtasks`], [`JsAgent::settle_one`], [`JsAgent::expire_due`] and [`JsAgent::next_deadline`]. Other hosts call
/// [`JsAgent::run`] or [`JsAgent::run_until_settled`].
///
/// Dropping the agent removes its pending waits from their queues, so that a dead agent never consumes a notify.
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
    /// Creates an agent with a [`Doorbell`] of its own.
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new(options: &JsAgentOptions) -> Result<Self, JsError> {
        let doorbell = Arc::new(Doorbell::default());
        Self::with_doorbell(options, doorbell)
    }

    /// Creates an agent whose thread sleeps at a given doorbell, which the host can ring for other events, such as messages.
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
        // The first use creates all three strings.
        let outcome = realm.beyond_memory_limit(|| state.outcome(&realm, Outcome::Notified));
        outcome.map_err(|exception| realm.describe(&exception))?;
        Ok(Self { realm, state, doorbell, runtime })
    }

    /// Returns the main realm.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Creates another realm of this agent.
    ///
    /// # Errors
    /// If the system has no memory for it. The memory limit counts only what scripts put into the realm.
    pub fn new_realm(&self) -> Result<Realm, JsError> {
        new_realm(&self.runtime)
    }

    /// Returns the engine's runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the ECMA-262 agent: its id, its `can_block`, its waits.
    ///
    /// Do not drain its settled waits: [`JsAgent::settle_one`] does, because it has the promises.
    pub fn agent(&self) -> &Agent {
        &self.state.agent
    }

    /// Returns a handle with which other threads terminate the agent or ring its doorbell.
    pub fn handle(&self) -> AgentHandle {
        self.state.agent.handle()
    }

    /// Sets the observer that is called when a script may block the agent's thread. Replaces an earlier one.
    pub fn set_wait_observer(&self, observer: impl WaitObserver + 'static) {
        let old = self.state.observer.replace(Some(Rc::new(observer)));
        drop(old);
    }

    /// Sets the observer that is called for the operations of the agent's scripts on words of shared memory. Replaces an earlier one.
    #[cfg(feature = "observe")]
    pub fn set_word_observer(&self, observer: Rc<dyn crate::WordObserver>) {
        crate::word_observer::observe_agents();
        let old = self.state.word_observer.replace(Some(observer));
        drop(old);
    }

    /// Returns the doorbell at which the agent's thread sleeps.
    pub fn doorbell(&self) -> &Arc<Doorbell> {
        &self.doorbell
    }

    /// Sets a global variable in the main realm.
    ///
    /// # Errors
    /// If the memory limit is reached, or a script changed the global object so that it refuses the variable.
    pub fn set_global(&self, name: &str, value: impl IntoJs) -> Result<(), JsError> {
        self.describing(|realm| realm.set(&realm.global(), name, &value.into_js(realm)?))
    }

    /// Sets a global function in the main realm that is implemented in Rust. `length` becomes the function's property of that name.
    ///
    /// If `native` panics, the script ends with an error that it cannot catch.
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

    /// Runs source text as a script in the main realm, but not the microtasks that it enqueues. Returns the script's completion value:
    /// that of its last expression statement.
    ///
    /// # Errors
    /// A SyntaxError, or what the script throws.
    pub fn eval(&self, name: &str, source: &str) -> Result<JsValue, JsError> {
        self.begin_job()?;
        self.describing(|realm| JsValue::from_value(realm, realm.eval(name, source)?))
    }

    /// Runs source text as an ES module in the main realm, but not the microtasks that it enqueues. Returns the module's promise, for
    /// [`JsAgent::run_until_settled`]. `name` is also the module's `import.meta.url`. A [`ModuleLoader`](crate::ModuleLoader) resolves
    /// its imports.
    ///
    /// # Errors
    /// A SyntaxError, or an import that cannot be resolved.
    pub fn eval_module(&self, name: &str, source: &str) -> Result<JsValue, JsError> {
        self.begin_job()?;
        self.describing(|realm| JsValue::from_value(realm, realm.eval_module(name, name, source)?))
    }

    /// Returns the earliest deadline of a pending `waitAsync`.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.state.agent.next_deadline()
    }

    /// Times out the waits whose deadline is at or before `now`, for [`JsAgent::settle_one`] to deliver. Returns how many.
    pub fn expire_due(&self, now: Instant) -> usize {
        self.state.agent.expire_due(now)
    }

    /// Returns the agent's waits whose promises are not resolved yet.
    pub fn pending(&self) -> Vec<PendingWait> {
        self.state.agent.pending()
    }

    /// Returns the length of [`JsAgent::pending`], in constant time.
    pub fn pending_count(&self) -> usize {
        self.state.agent.pending_count()
    }

    /// Returns the line of the script in which a pending wait began, as `file:line:column`. It is known only if the wait has no timeout
    /// and the agent has a [`WaitObserver`].
    pub fn call_site(&self, id: WaitId) -> Option<String> {
        self.state.call_site(id)
    }

    /// Returns whether the agent was terminated. Its scripts end as soon as they run again.
    pub fn is_terminated(&self) -> bool {
        self.state.agent.is_terminated()
    }

    /// Runs `work` and describes what it throws.
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
    /// Creates another realm of the same agent, as [`JsAgent::new_realm`] does, for a native function. What the realm starts with does
    /// not count towards the memory limit.
    ///
    /// # Errors
    /// A RangeError if the system has no memory for it.
    pub fn sibling(&self) -> Result<Realm, Exception> {
        let sibling = self.bare_sibling().ok_or_else(|| self.range_error(OUT_OF_MEMORY))?;
        sibling.beyond_memory_limit(|| install(&sibling))?;
        Ok(sibling)
    }

    /// Returns whether the agent of this realm was terminated, or is being dropped. For native functions that run for long.
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

/// Replaces the engine's functions on shared memory, and those with which it departs from the standard: of buffers, views, lists of
/// arguments, and strings that are too long.
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
