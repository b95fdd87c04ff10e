//! The state of an agent behind the functions of its runtime: its waits and their promises.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use waitword_agents::{Agent, Expected, Outcome, Settled, SharedBlock, Timeout, WaitError, WaitId};

use crate::ffi::{Exception, Realm, Resolver, Value, trim};
#[cfg(feature = "observe")]
use crate::word_observer::{WordObserver, is_any_agent_observed};

/// Is called when a script is about to block its agent's thread in `Atomics.wait`, and when the thread runs again. It is not called for a
/// wait that is "not-equal" or "timed-out" at once.
///
/// For hosts that have to know whether any of their agents can still continue.
pub trait WaitObserver {
    /// The thread is about to block. It may also continue at once, if the word was changed in the meantime.
    fn before_wait(&self, block: &SharedBlock, byte_index: usize, timeout: Timeout);

    /// The thread runs again, for whatever reason.
    fn after_wait(&self);
}

/// The Rust state of an agent, stored in its runtime.
pub(crate) struct AgentState {
    pub(crate) agent: Agent,
    /// The intrinsics of each realm.
    pub(crate) intrinsics: RefCell<Vec<(Realm, Rc<Intrinsics>)>>,
    pub(crate) observer: RefCell<Option<Rc<dyn WaitObserver>>>,
    #[cfg(feature = "observe")]
    pub(crate) word_observer: RefCell<Option<Rc<dyn WordObserver>>>,
    /// The promises of waits that are queued, or settled and not yet resolved, by the slots of the waits. Kept even if scripts dropped
    /// them, because their reactions must still run.
    promises: RefCell<Vec<Option<Awaited>>>,
    /// The promises that the engine failed to resolve, for example because it was interrupted. They are tried again.
    refused: RefCell<VecDeque<(Awaited, Outcome)>>,
    /// The number of waits that have ended since freed memory was last returned to the system.
    ended: Cell<usize>,
    /// The positions in the scripts of up to [`MOST_MARKS`] waits, which a host may want to list.
    marks: RefCell<BTreeMap<WaitId, Option<Exception>>>,
    /// An object with the properties of those that `waitAsync` returns, hidden from scripts, which keeps their shape alive.
    pub(crate) shape: OnceCell<Value>,
    /// The three strings, created in advance, so that settling a wait needs no memory for them.
    outcomes: OnceCell<[Value; 3]>,
}

/// Functions of a realm on which ours are built, taken before any script can change the realm.
pub(crate) struct Intrinsics {
    /// The engine's `SharedArrayBuffer`.
    pub(crate) constructor: Value,
    /// The getter of `%TypedArray%.prototype.length`.
    pub(crate) view_length: Value,
}

/// The promise of a queued wait.
struct Awaited {
    realm: Realm,
    /// The function that resolves the promise. It is never rejected.
    resolve: Value,
}

/// After this number of waits, returning memory to the system is worth the time.
const CROWD: usize = 100_000;

/// The most waits whose script lines are known. Finding the line costs more than the rest of a wait.
const MOST_MARKS: usize = 100;

impl AgentState {
    pub(crate) fn new(agent: Agent) -> Self {
        Self {
            agent,
            intrinsics: RefCell::default(),
            observer: RefCell::default(),
            #[cfg(feature = "observe")]
            word_observer: RefCell::default(),
            promises: RefCell::default(),
            refused: RefCell::default(),
            ended: Cell::default(),
            marks: RefCell::default(),
            shape: OnceCell::new(),
            outcomes: OnceCell::new(),
        }
    }

    /// The state that belongs to a realm's runtime.
    #[inline(always)]
    pub(crate) fn of(realm: &Realm) -> Result<Rc<Self>, Exception> {
        realm.state().ok_or_else(|| realm.uncatchable_error("the agent is shutting down"))
    }

    /// Blocks the thread, and calls the observer before and after.
    pub(crate) fn wait(
        &self,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        timeout: Timeout,
    ) -> Result<Outcome, WaitError> {
        let observer = self.observer.borrow().clone();
        if let Some(observer) = &observer {
            observer.before_wait(block, byte_index, timeout);
        }
        let outcome = self.agent.wait(block, byte_index, expected, timeout);
        if let Some(observer) = &observer {
            observer.after_wait();
        }
        outcome
    }

    /// The observer of operations on words, if there is one.
    #[cfg(feature = "observe")]
    pub(crate) fn word_observer(&self) -> Option<Rc<dyn WordObserver>> {
        is_any_agent_observed().then(|| self.word_observer.borrow().clone()).flatten()
    }

    /// Stores the resolver of a wait that was just queued.
    pub(crate) fn expect(&self, id: WaitId, resolver: Resolver, timeout: Timeout) {
        let realm = resolver.realm().clone();
        let awaited = Awaited { realm: realm.clone(), resolve: resolver.into_resolve() };
        let mut promises = self.promises.borrow_mut();
        if promises.len() <= id.slot() {
            promises.resize_with(id.slot() + 1, || None);
        }
        let before = promises[id.slot()].replace(awaited);
        drop(promises);
        // With no borrow held, as in `take`.
        drop(before);
        let is_reported = timeout == Timeout::Never && self.observer.borrow().is_some();
        if is_reported && self.marks.borrow().len() < MOST_MARKS {
            self.marks.borrow_mut().insert(id, None);
            // Last, because a script's Error.prepareStackTrace may run here and notify this wait.
            let place = realm.mark();
            if let Some(mark) = self.marks.borrow_mut().get_mut(&id) {
                *mark = Some(place);
            }
        }
        // After this wait is stored, because dropping a forgotten promise may run code that notifies it.
        let forgotten = self.agent.forget_hopeless();
        // All are removed before any is dropped, because a wait created by such code may reuse their slots.
        drop(forgotten.into_iter().map(|id| self.take(id)).collect::<Vec<_>>());
    }

    /// The line of the script in which a queued wait began. Known for up to [`MOST_MARKS`] waits without a timeout, if the agent has an
    /// observer.
    pub(crate) fn call_site(&self, id: WaitId) -> Option<String> {
        // The borrows end before the engine is called.
        let realm = self.promises.borrow().get(id.slot())?.as_ref()?.realm.clone();
        let mark = self.marks.borrow().get(&id)?.clone()?;
        realm.line_of(&mark)
    }

    /// Returns freed memory to the system if [`CROWD`] waits have ended since the last time.
    pub(crate) fn trim_after_a_crowd(&self) {
        if self.ended.get() >= CROWD {
            self.ended.set(0);
            trim();
        }
    }

    /// Whether any wait is queued, or settled and its promise not resolved.
    #[cfg(feature = "rquickjs")]
    pub(crate) fn has_pending(&self) -> bool {
        self.agent.pending_count() > 0 || !self.refused.borrow().is_empty()
    }

    /// Resolves the promise of the first wait that another agent notified, or whose deadline has passed. Returns `false` if there is none.
    ///
    /// # Errors
    /// - If the engine was interrupted, or has no memory to begin. The next call tries the same promise again.
    /// - If the engine has no memory for the promise's reactions. They are lost.
    pub(crate) fn settle_one(&self, realm: &Realm) -> Result<bool, Exception> {
        if !self.agent.has_settled() && self.refused.borrow().is_empty() {
            return Ok(false);
        }
        realm.catch_up()?;
        let refused = self.refused.borrow_mut().pop_front();
        if let Some((awaited, outcome)) = refused {
            return self.resolve(awaited, outcome).map(|()| true);
        }
        // One at a time, because the iterator must not be held while scripts run.
        let Some(settled) = self.agent.drain_settled().next() else { return Ok(false) };
        self.settle(settled).map(|()| true)
    }

    /// Resolves the promise of a settled wait. Its reactions are queued before this returns; no script runs.
    ///
    /// # Errors
    /// As [`settle_one`](Self::settle_one).
    pub(crate) fn settle(&self, settled: Settled) -> Result<(), Exception> {
        // An unknown wait was begun by Rust code on the same agent, and has no promise of ours.
        let Some(awaited) = self.take(settled.id) else { return Ok(()) };
        self.resolve(awaited, settled.outcome)
    }

    fn resolve(&self, awaited: Awaited, outcome: Outcome) -> Result<(), Exception> {
        let Awaited { realm, resolve } = &awaited;
        match self.outcome(realm, outcome).and_then(|value| realm.settle_promise(resolve, &value)) {
            Ok(None) => Ok(()),
            Ok(Some(lost)) => Err(lost),
            Err(refusal) => {
                self.refused.borrow_mut().push_back((awaited, outcome));
                Err(refusal)
            }
        }
    }

    /// Removes the promise of a wait. The caller must drop the result with no borrow held, because it may be the last owner of a promise.
    fn take(&self, id: WaitId) -> Option<Awaited> {
        self.ended.set(self.ended.get() + 1);
        drop(self.marks.borrow_mut().remove(&id));
        #[cfg(feature = "observe")]
        if let Some(observer) = self.word_observer() {
            observer.settled(id);
        }
        let mut promises = self.promises.borrow_mut();
        let awaited = promises.get_mut(id.slot())?.take();
        while let Some(None) = promises.last() {
            promises.pop();
        }
        if promises.capacity() > 4 * promises.len() + 16 {
            let len = promises.len();
            promises.shrink_to(2 * len);
        }
        awaited
    }

    /// `"ok"`, `"not-equal"` or `"timed-out"`.
    pub(crate) fn outcome(&self, realm: &Realm, outcome: Outcome) -> Result<Value, Exception> {
        let strings = match self.outcomes.get() {
            Some(strings) => strings,
            None => {
                let make = |outcome: Outcome| realm.string(outcome.as_js());
                let strings = [make(Outcome::Notified)?, make(Outcome::NotEqual)?, make(Outcome::TimedOut)?];
                self.outcomes.get_or_init(|| strings)
            }
        };
        let index = match outcome {
            Outcome::Notified => 0,
            Outcome::NotEqual => 1,
            Outcome::TimedOut => 2,
        };
        Ok(strings[index].clone())
    }
}

/// The uncatchable error that ends the scripts of a terminated agent.
pub(crate) fn terminated(realm: &Realm) -> Exception {
    realm.uncatchable_error("the agent was terminated")
}
