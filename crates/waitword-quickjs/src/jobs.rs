//! The jobs of an agent: microtasks, settled waits, deadlines, and the sleep between them.

use std::time::Instant;

use crate::agent_state::terminated;
use crate::convert::JsValue;
use crate::ffi::{JsError, PromiseState, Realm};
use crate::runtime::JsAgent;

impl JsAgent {
    /// Runs jobs until none is left: microtasks, settled waits, and the waits that have a deadline. A wait without a
    /// deadline does not hold it up; see [`JsAgent::pending`], and [`JsAgent::run_until_settled`].
    ///
    /// # Errors
    /// An uncatchable error: the agent was terminated, or a native function panicked.
    pub fn run(&self) -> Result<(), JsError> {
        while self.run_ready()? || self.sleep(self.next_deadline().is_some()) {}
        Ok(())
    }

    /// Runs jobs until a promise is settled, and sleeps when there is nothing to run: until another thread notifies a
    /// wait. The result is what the promise was fulfilled with; for any other value, that value.
    ///
    /// # Blocking
    /// For ever, when no other thread ever does; [`AgentHandle::terminate`](waitword_agents::AgentHandle::terminate) ends it.
    ///
    /// # Errors
    /// What the promise was rejected with, or as [`JsAgent::run`].
    pub fn run_until_settled(&self, promise: &JsValue) -> Result<JsValue, JsError> {
        let JsValue::Other(promise) = promise else { return Ok(promise.clone()) };
        self.realm.mark_handled(promise);
        loop {
            let idle = !self.run_ready()?;
            match self.realm.promise_state(promise) {
                PromiseState::NotAPromise => return Ok(JsValue::Other(promise.clone())),
                PromiseState::Fulfilled(value) => {
                    return self.describing(|realm| JsValue::from_value(realm, value));
                }
                PromiseState::Rejected(reason) => return Err(self.realm.describe(&reason)),
                PromiseState::Pending if idle => drop(self.sleep(true)),
                PromiseState::Pending => {}
            }
        }
    }

    /// Runs all microtasks.
    ///
    /// # Errors
    /// As [`JsAgent::run`].
    pub fn run_microtasks(&self) -> Result<(), JsError> {
        self.describing(|_| self.runtime.run_microtasks())
    }

    /// Resolves the promise of the first wait that another agent notified, or whose deadline has passed. `false` when
    /// there is none. Run the microtasks before the next one: each is a job of its own.
    ///
    /// # Errors
    /// When the engine has no memory for the promise's reactions: they are lost. When it has no memory to begin, or was interrupted: the next
    /// call tries that promise again.
    pub fn settle_one(&self) -> Result<bool, JsError> {
        self.describing(|realm| self.state.settle_one(realm))
    }

    /// Lets the agent's growable SharedArrayBuffers, and the views on them, see what other agents have grown. A host calls
    /// this before each job of its own (a message, a timer); the agent's methods do it themselves, and so does each native
    /// function when it returns.
    ///
    /// # Errors
    /// When the memory limit is reached.
    pub fn begin_job(&self) -> Result<(), JsError> {
        self.describing(Realm::catch_up)
    }

    /// Gives freed memory back to the system if a crowd of waits has ended since it last did. For a host whose agent has
    /// nothing to do at the moment: it can take a tenth of a second.
    pub fn trim_after_a_crowd(&self) {
        self.state.trim_after_a_crowd();
    }

    /// Runs what can run now. Whether there was anything.
    fn run_ready(&self) -> Result<bool, JsError> {
        // Before looking for what it rang for.
        self.doorbell.clear();
        self.stop_if_terminated()?;
        let mut ran = self.runtime.has_microtask();
        self.run_microtasks()?;
        if self.next_deadline().is_some() {
            self.expire_due(Instant::now());
        }
        while self.settle_one()? {
            ran = true;
            self.run_microtasks()?;
            self.stop_if_terminated()?;
        }
        Ok(ran)
    }

    /// Sleeps until the bell rings or the next deadline comes, if `worthwhile`. Whether it did.
    fn sleep(&self, worthwhile: bool) -> bool {
        if worthwhile && !self.is_terminated() {
            self.doorbell.sleep(self.next_deadline());
        }
        worthwhile
    }

    fn stop_if_terminated(&self) -> Result<(), JsError> {
        if self.is_terminated() { self.describing(|realm| Err(terminated(realm))) } else { Ok(()) }
    }
}
