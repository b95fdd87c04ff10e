//! What the functions of a runtime need to know about their agent: its waits, and the promises that stand for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use waitword_agents::{Agent, Settled, WaitId};

use crate::ffi::{Exception, Realm, Resolver};
use crate::shared_array_buffer::Intrinsics;

/// The Rust state of one agent, kept in its runtime.
pub(crate) struct AgentState {
    pub(crate) agent: Agent,
    /// The promises of waits that are queued, or settled and not yet resolved. Scripts may have dropped them; their
    /// reactions still have to run.
    resolvers: RefCell<BTreeMap<WaitId, Resolver>>,
    /// What was taken from each realm before scripts could change it.
    pub(crate) intrinsics: RefCell<Vec<(Realm, Rc<Intrinsics>)>>,
}

impl AgentState {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent, resolvers: RefCell::default(), intrinsics: RefCell::default() }
    }

    /// The state that belongs to a realm's runtime.
    pub(crate) fn of(realm: &Realm) -> Result<Rc<Self>, Exception> {
        realm.state().ok_or_else(|| realm.uncatchable_error("the agent is shutting down"))
    }

    /// Keeps the resolver of a wait that has just been queued.
    pub(crate) fn expect(&self, id: WaitId, resolver: Resolver) {
        self.resolvers.borrow_mut().insert(id, resolver);
    }

    /// Resolves the promise of a settled wait. Its reactions are queued before this returns; no script runs.
    ///
    /// # Errors
    /// When the engine has no memory for the reactions.
    pub(crate) fn settle(&self, settled: Settled) -> Result<(), Exception> {
        let resolver = self.resolvers.borrow_mut().remove(&settled.id);
        // A wait that is unknown here was made by Rust code on the same agent; its promise is not ours.
        let Some(resolver) = resolver else { return Ok(()) };
        let outcome = resolver.realm().string(settled.outcome.as_js())?;
        resolver.resolve(&outcome)
    }

    /// Drops the promises of all waits: they stay pending for ever.
    pub(crate) fn abandon(&self) {
        drop(self.resolvers.take());
        drop(self.intrinsics.take());
    }
}
