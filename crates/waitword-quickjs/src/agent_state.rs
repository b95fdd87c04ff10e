//! What the functions of a runtime need to know about their agent: its waits, and the promises that stand for them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use waitword_agents::{Agent, Expected, Outcome, Settled, SharedBlock, Timeout, WaitError, WaitId};

use crate::ffi::{Exception, Realm, Resolver, Value, trim};
#[cfg(feature = "observe")]
use crate::word_observer::{WordObserver, is_any_agent_observed};

/// Learns when a script is about to block its agent's thread in `Atomics.wait`, and when it is back. Not of a wait that is
/// "not-equal" or "timed-out" at once.
///
/// A host that has to know whether any of its agents can still go on asks this.
pub trait WaitObserver {
    /// The thread may block now. It may also come back at once, when the word has been given another value meanwhile.
    fn before_wait(&self, block: &SharedBlock, byte_index: usize, timeout: Timeout);

    /// The thread is back, for whatever reason.
    fn after_wait(&self);
}

/// The Rust state of one agent, kept in its runtime.
pub(crate) struct AgentState {
    pub(crate) agent: Agent,
    /// Of each realm.
    pub(crate) intrinsics: RefCell<Vec<(Realm, Rc<Intrinsics>)>>,
    pub(crate) observer: RefCell<Option<Rc<dyn WaitObserver>>>,
    #[cfg(feature = "observe")]
    pub(crate) word_observer: RefCell<Option<Rc<dyn WordObserver>>>,
    /// The promises of waits that are queued, or settled and not yet resolved, by the slots of the waits. Scripts may have
    /// dropped them; their reactions still have to run.
    promises: RefCell<Vec<Option<Awaited>>>,
    /// Those that the engine refused to resolve, as when it was interrupted: they are tried again.
    refused: RefCell<VecDeque<(Awaited, Outcome)>>,
    /// How many waits have ended since freed memory was last given back.
    ended: Cell<usize>,
    /// Where the waits are that a host may want to list, and no more of them than anybody would read.
    marks: RefCell<BTreeMap<WaitId, Option<Exception>>>,
    /// One object with the properties of those that `waitAsync` returns, which no script sees.
    pub(crate) shape: OnceCell<Value>,
    /// The three strings, made beforehand so that settling a wait needs no memory for them.
    outcomes: OnceCell<[Value; 3]>,
}

/// Functions of a fresh realm that ours are built on, taken before a script can change it.
pub(crate) struct Intrinsics {
    /// The engine's `SharedArrayBuffer`.
    pub(crate) constructor: Value,
    /// The getter of `%TypedArray%.prototype.length`.
    pub(crate) view_length: Value,
}

/// What stands for a queued wait in the scripts.
struct Awaited {
    realm: Realm,
    /// The function that resolves its promise. The one that would reject it is never needed.
    resolve: Value,
}

/// After so many waits it is worth the time to give memory back.
const CROWD: usize = 100_000;

/// So many waits have a place in a host's report. To find the line of the script costs more than all the rest of a wait.
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

    /// Blocks the thread, and lets the observer know.
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

    /// Who is to learn what scripts do to words, if anybody is.
    #[cfg(feature = "observe")]
    pub(crate) fn word_observer(&self) -> Option<Rc<dyn WordObserver>> {
        is_any_agent_observed().then(|| self.word_observer.borrow().clone()).flatten()
    }

    /// Keeps the resolver of a wait that has just been queued.
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
            // Last: a script's Error.prepareStackTrace may run in here, and notify this very wait.
            let place = realm.mark();
            if let Some(mark) = self.marks.borrow_mut().get_mut(&id) {
                *mark = Some(place);
            }
        }
        // When this wait is known: what goes with a forgotten promise may notify it.
        let forgotten = self.agent.forget_hopeless();
        // All are taken before any is dropped: a wait that is made meanwhile has a slot of theirs.
        drop(forgotten.into_iter().map(|id| self.take(id)).collect::<Vec<_>>());
    }

    /// The line of the script that a queued wait is in. Known of some that have no timeout if the agent has an observer.
    pub(crate) fn call_site(&self, id: WaitId) -> Option<String> {
        // Out of the borrows before anything is asked of the engine.
        let realm = self.promises.borrow().get(id.slot())?.as_ref()?.realm.clone();
        let mark = self.marks.borrow().get(&id)?.clone()?;
        realm.line_of(&mark)
    }

    /// Gives freed memory back to the system if a crowd of waits has ended since it last did.
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

    /// Resolves the promise of the first wait that another agent notified, or whose deadline has passed. `false` when
    /// there is none.
    ///
    /// # Errors
    /// When the engine was interrupted, or has no memory to begin: the next call tries that promise again. When it has no memory for the
    /// promise's reactions: they are lost.
    pub(crate) fn settle_one(&self, realm: &Realm) -> Result<bool, Exception> {
        if !self.agent.has_settled() && self.refused.borrow().is_empty() {
            return Ok(false);
        }
        realm.catch_up()?;
        let refused = self.refused.borrow_mut().pop_front();
        if let Some((awaited, outcome)) = refused {
            return self.resolve(awaited, outcome).map(|()| true);
        }
        // One at a time: the iterator must not be held while scripts run.
        let Some(settled) = self.agent.drain_settled().next() else { return Ok(false) };
        self.settle(settled).map(|()| true)
    }

    /// Resolves the promise of a settled wait. Its reactions are queued before this returns; no script runs.
    ///
    /// # Errors
    /// As [`settle_one`](Self::settle_one).
    pub(crate) fn settle(&self, settled: Settled) -> Result<(), Exception> {
        // A wait that is unknown here was made by Rust code on the same agent; its promise is not ours.
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

    /// Forgets what was kept for a wait. To be dropped with no borrow held: it may be the last to hold a promise.
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

/// What ends the scripts of an agent that was terminated.
pub(crate) fn terminated(realm: &Realm) -> Exception {
    realm.uncatchable_error("the agent was terminated")
}
