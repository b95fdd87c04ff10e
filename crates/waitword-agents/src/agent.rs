//! An agent: a thread that runs scripts, whether it may block, and how it ends.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waitword_core::{Inbox, Interrupt, may_block};

use crate::agent_id::AgentId;
use crate::waits::Waits;

/// One ECMAScript agent (ECMA-262, "Agents"). It belongs to the thread that made it; others have its
/// [`handle`](Self::handle).
///
/// Dropping it takes all its pending waits out of their queues: they never eat a notify that another waiter could
/// have had.
pub struct Agent {
    shared: Arc<Shared>,
    can_block: Cell<bool>,
    max_waits: Cell<usize>,
    _this_thread: PhantomData<*const ()>,
}

struct Shared {
    id: AgentId,
    interrupt: Interrupt,
    inbox: Inbox,
    /// `None` once the agent is gone or was [abandoned](AgentHandle::abandon). Nobody but its thread takes this lock otherwise, and
    /// nothing foreign runs under it.
    waits: Mutex<Option<Waits>>,
}

impl Agent {
    /// An agent of the calling thread.
    ///
    /// `can_block` is the standard's \[\[CanBlock\]\]. `doorbell` is called whenever the agent's event loop has
    /// something to look at: a wait of its was settled by somebody else, or it was terminated. It runs on the other
    /// thread, with no lock held, and should do no more than wake the loop. If it panics, the panic comes out of the
    /// notify that rang it.
    pub fn new(can_block: bool, doorbell: impl Fn() + Send + Sync + 'static) -> Self {
        let inbox = Inbox::new(doorbell);
        let interrupt = Interrupt::for_current_thread();
        let waits = Mutex::new(Some(Waits::default()));
        Self {
            shared: Arc::new(Shared { id: AgentId::next(), interrupt, inbox, waits }),
            can_block: Cell::new(can_block),
            max_waits: Cell::new(usize::MAX),
            _this_thread: PhantomData,
        }
    }

    /// Names it, in this process.
    pub fn id(&self) -> AgentId {
        self.shared.id
    }

    /// What other threads may do with it.
    pub fn handle(&self) -> AgentHandle {
        AgentHandle { shared: Arc::clone(&self.shared) }
    }

    /// AgentCanSuspend: whether [`wait`](Self::wait) may block. Also false while the thread is under
    /// `waitword_core::forbid_blocking`.
    pub fn can_block(&self) -> bool {
        self.can_block.get() && may_block()
    }

    /// Changes \[\[CanBlock\]\] for the waits that follow.
    pub fn set_can_block(&self, can_block: bool) {
        self.can_block.set(can_block);
    }

    /// How many async waits may be pending at a time, settled ones that were not drained yet among them. There is no limit to
    /// begin with.
    pub fn max_waits(&self) -> usize {
        self.max_waits.get()
    }

    /// Limits the async waits that may be pending at a time. Those that are stay, however many.
    pub fn set_max_waits(&self, max_waits: usize) {
        self.max_waits.set(max_waits);
    }

    /// Whether it was terminated.
    pub fn is_terminated(&self) -> bool {
        self.shared.interrupt.is_raised()
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.shared.inbox
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.shared.interrupt
    }

    /// The async waits; `None` once the agent was abandoned.
    pub(crate) fn waits(&self) -> MutexGuard<'_, Option<Waits>> {
        self.shared.waits()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.shared.drop_waits();
    }
}

impl Shared {
    fn waits(&self) -> MutexGuard<'_, Option<Waits>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drop_waits(&self) {
        *self.waits() = None;
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.id())
            .field("can_block", &self.can_block())
            .field("is_terminated", &self.is_terminated())
            .finish_non_exhaustive()
    }
}

/// An agent as other threads see it. Clones are the same agent; it may be gone already.
#[derive(Clone)]
pub struct AgentHandle {
    shared: Arc<Shared>,
}

impl AgentHandle {
    /// Ends the agent. If it is blocked in a wait, that wait leaves its queue and returns
    /// [`Terminated`](crate::WaitError); so does every later one that would block. Its doorbell rings.
    ///
    /// Returns at once. The agent's async waits are gone when its [`Agent`] is dropped: a host whose callers must not
    /// see a dead agent's waiters waits for that, or [abandons](Self::abandon) the agent.
    ///
    /// # Panics
    /// If the agent's doorbell does.
    pub fn terminate(&self) {
        self.shared.interrupt.raise();
        self.ring();
    }

    /// [Terminates](Self::terminate) the agent and takes its async waits out of their queues now, on the calling thread, while its own
    /// may still run: for a host that goes on without an agent whose thread does not come back. From now on a wait that would have to
    /// wait is refused there, also in a promise.
    ///
    /// # Panics
    /// If the agent's doorbell does.
    pub fn abandon(&self) {
        self.shared.interrupt.raise();
        self.shared.drop_waits();
        self.ring();
    }

    /// Whether it was terminated.
    pub fn is_terminated(&self) -> bool {
        self.shared.interrupt.is_raised()
    }

    /// Whether the agent's thread stands in a queue, inside a blocking wait. `false` on the way into the queue, and again
    /// before the notify returns that counted the wait.
    ///
    /// So a host that knows that none of its agents runs knows from `true` that this one will wait for ever, if its wait
    /// has no timeout.
    pub fn is_queued(&self) -> bool {
        self.shared.interrupt.is_queued()
    }

    /// Rings the agent's doorbell: its loop should look around.
    ///
    /// # Panics
    /// If the agent's doorbell does.
    pub fn ring(&self) {
        self.shared.inbox.ring();
    }

    /// Names the agent, in this process.
    pub fn id(&self) -> AgentId {
        self.shared.id
    }

    /// What a snapshot calls the agent where it waits in a promise (`waitword_core::observe::Actor::Agent`).
    pub fn inbox(&self) -> usize {
        self.shared.inbox.identity()
    }
}

impl fmt::Debug for AgentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHandle")
            .field("id", &self.id())
            .field("is_terminated", &self.is_terminated())
            .finish_non_exhaustive()
    }
}
