//! An agent: a thread that runs scripts, whether it may block, how it takes what became of its async waits (settled ones in the order of
//! settling, due ones by the clock), and how it ends.
//!
//! The waits themselves are in `waits.rs`, and the nodes in `slab.rs`.

use std::cell::Cell;
use std::fmt;
use std::iter;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waitword_core::time::Instant;
use waitword_core::{Inbox, Interrupt, may_block};

use crate::agent_id::AgentId;
use crate::waits::{PendingWait, Settled, WaitId, Waits};

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
    /// thread, with no lock held, and should do no more than wake the loop. If it panics, the panic ends in the notify that rang it; that of
    /// [`terminate`](AgentHandle::terminate), [`abandon`](AgentHandle::abandon) or [`ring`](AgentHandle::ring) comes out of that.
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

impl Agent {
    /// Takes the settled waits, one with each step of the iterator, in the order in which they were settled.
    ///
    /// The standard has a job of its own for each (HostEnqueueGenericJob): take one, resolve its promise, run all
    /// microtasks, take the next. What is settled meanwhile comes at the end.
    pub fn drain_settled(&self) -> impl Iterator<Item = Settled> + '_ {
        iter::from_fn(|| {
            // Left there only when a panic of foreign code cut a notify of this agent short.
            self.take_settled_here().or_else(|| {
                let mut waits = self.waits();
                // Under the lock: a wait is the inbox's, or the thread that abandons the agent drops it.
                waits.as_mut()?.take(self.inbox().pop()?)
            })
        })
    }

    /// Whether [`drain_settled`](Self::drain_settled) would yield something at this moment.
    pub fn has_settled(&self) -> bool {
        !self.inbox().is_empty()
    }

    /// When the earliest deadline of a pending wait is: the event loop sleeps until then at the longest.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waits().as_ref()?.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Settles the pending waits whose deadline is at or before `now`, which the clock must have reached, as
    /// [`TimedOut`](crate::Outcome), in the order of their deadlines, and after what was settled before. Returns how
    /// many these were: a wait that a notify counted meanwhile is not among them.
    pub fn expire_due(&self, now: Instant) -> usize {
        self.waits().as_mut().map_or(0, |waits| waits.expire_due(now))
    }

    /// The waits that nothing has settled, or whose outcome waits to be drained, in the order of the calls.
    pub fn pending(&self) -> Vec<PendingWait> {
        self.waits().as_ref().map(Waits::pending).unwrap_or_default()
    }

    /// How many [`pending`](Self::pending) would have. Costs the same however many there are.
    pub fn pending_count(&self) -> usize {
        self.waits().as_ref().map_or(0, Waits::len)
    }

    /// Drops the pending waits that nothing can end any more: those without a deadline on a block which only pending waits of
    /// this agent still know. Their promises are never to be settled; the host lets go of them.
    ///
    /// A host calls this after each [`wait_async`](Self::wait_async). It looks only when the waits have doubled in number
    /// since it last did, and at a thousand first: so it costs O(1) for each wait, and of those that were lost in this way the
    /// agent never keeps more than twice as many as of the others, and a thousand.
    pub fn forget_hopeless(&self) -> Vec<WaitId> {
        self.waits().as_mut().map(Waits::forget_hopeless).unwrap_or_default()
    }

    /// Takes the next of this agent's waits that its own notify settled.
    pub(crate) fn take_settled_here(&self) -> Option<Settled> {
        let mut waits = self.waits();
        waits.as_mut()?.take(self.inbox().pop_here()?)
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
