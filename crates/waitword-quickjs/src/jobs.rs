//! The jobs of an agent: microtasks, settled waits, deadlines, and the sleep between them.

use std::time::Instant;

use crate::agent_state::terminated;
use crate::convert::JsValue;
use crate::ffi::{JsError, PromiseState, Realm};
use crate::runtime::JsAgent;

impl JsAgent {
    /// Runs jobs until none is left: microtasks, settled waits, and waits with a deadline, for which it sleeps. It does not wait for
    /// waits without a deadline; see [`JsAgent::pending`] and [`JsAgent::run_until_settled`].
    ///
    /// # Blocking
    /// While a wait with a deadline is pending.
    ///
    /// # Errors
    /// An uncatchable error: the agent was terminated, or a native function panicked.
    pub fn run(&self) -> Result<(), JsError> {
        while self.run_ready()? || self.sleep(self.next_deadline().is_some()) {}
        Ok(())
    }

    /// Runs jobs until a promise is settled, and sleeps while there is nothing to run. Returns the value with which the promise was
    /// fulfilled, or `promise` itself if it is not a promise.
    ///
    /// # Blocking
    /// Until another thread notifies a wait on which the promise depends: forever, if none does.
    /// [`AgentHandle::terminate`](waitword_agents::AgentHandle::terminate) ends the call.
    ///
    /// # Errors
    /// What the promise was rejected with, or an error as from [`JsAgent::run`].
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

    /// Resolves the promise of the first wait that another agent notified, or whose deadline has passed. Returns `false` if there is
    /// none. Run the microtasks before the next call, because each settled wait is a job of its own.
    ///
    /// # Errors
    /// - If the engine has no memory for the promise's reactions. They are lost.
    /// - If the engine has no memory to begin, or was interrupted. The next call tries the same promise again.
    pub fn settle_one(&self) -> Result<bool, JsError> {
        self.describing(|realm| self.state.settle_one(realm))
    }

    /// Updates the lengths of the agent's growable SharedArrayBuffers, and of the views on them, if other agents have grown the memory.
    ///
    /// A host calls this before each job of its own (a message, a timer). The agent's methods call it themselves, and each native
    /// function does when it returns.
    ///
    /// # Errors
    /// If the memory limit is reached.
    pub fn begin_job(&self) -> Result<(), JsError> {
        self.describing(Realm::catch_up)
    }

    /// Returns freed memory to the system if 100,000 waits or more have ended since the last time. For a host whose agent is idle,
    /// because this can take 0.1 s.
    pub fn trim_after_a_crowd(&self) {
        self.state.trim_after_a_crowd();
    }

    /// Runs what can run now. Returns whether there was anything.
    fn run_ready(&self) -> Result<bool, JsError> {
        // Before looking for work, so that a later ring is not lost.
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

    /// Sleeps until the doorbell rings or the next deadline has come, if `worthwhile`. Returns whether it slept.
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
